#include "workspace/holder_epoch.hpp"

#include <nlohmann/json.hpp>

namespace paddock::workspace {

namespace {

tl::unexpected<failure> refuse() {
  return tl::unexpected{failure{illegal_argument{"an epoch must be a non-negative safe integer (0 to 9007199254740991)"}}};
}

} // namespace

result<std::uint64_t> parse_epoch(std::string_view text) {
  auto got = k8s::parse_epoch(text);
  if (!got)
    return refuse();
  return *got;
}

result<std::uint64_t> parse_epoch_value(const nlohmann::json& value) {
  if (!value.is_number_integer())
    return refuse();
  const auto text = value.dump();
  return parse_epoch(std::string_view{text});
}

std::optional<std::uint64_t> raised(const k8s::epoch_term& own, std::optional<std::uint64_t> held) {
  if (!held)
    return std::nullopt;
  auto next = k8s::next_epoch(own, *held);
  return next ? *next : *held;
}

} // namespace paddock::workspace
