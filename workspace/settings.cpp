#include "workspace/settings.hpp"

#include <limits>

namespace paddock::workspace {

namespace {

result<void> refuse(std::string text) {
  return tl::unexpected{failure{illegal_argument{std::move(text)}}};
}

bool in_range(std::chrono::milliseconds x) {
  return x.count() > 0 && x.count() <= std::numeric_limits<std::int32_t>::max();
}

} // namespace

result<void> check(const settings& how) {
  if (!in_range(how.ready_timeout))
    return refuse("the ready timeout is out of range: it must be 1 to 2147483647 ms");
  if (!in_range(how.ready_poll))
    return refuse("the ready poll interval is out of range: it must be 1 to 2147483647 ms");
  if (how.name_space.empty())
    return refuse("no namespace is configured");
  if (how.agent_port == 0)
    return refuse("the agent port must be 1 to 65535");
  return {};
}

} // namespace paddock::workspace
