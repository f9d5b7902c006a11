#include "guest/rebind_judge.hpp"

#include <arpa/inet.h>
#include <string>

namespace paddock::guest {

bool proves_nothing_ran(const failure& x) {
  return std::holds_alternative<dial_failed>(x) || std::holds_alternative<unauthorized>(x);
}

rebind_verdict judge_rebind(const failure& x, const rebind_facts& facts) {
  // A command that may have run is never repeated, whatever the reason of the failure was.
  if (std::holds_alternative<cancellation_unknown>(x) || std::holds_alternative<result_incomplete>(x))
    return rebind_verdict::rethrow;
  if (!proves_nothing_ran(x))
    return rebind_verdict::rethrow;
  const auto* dial = std::get_if<dial_failed>(&x);
  if (dial != nullptr && facts.host_is_name && dial->unresolved)
    return rebind_verdict::unresolvable;
  if (facts.withdrawn)
    return rebind_verdict::rethrow;
  return rebind_verdict::reread;
}

bool is_host_name(std::string_view host) {
  const auto text = std::string{host.substr(0, host.find('%'))};
  unsigned char ignored[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, text.c_str(), ignored) != 1 && ::inet_pton(AF_INET6, text.c_str(), ignored) != 1;
}

} // namespace paddock::guest
