#include "egress/flows/granted_union.hpp"

#include "egress/flows/enumeration.hpp"

namespace paddock::egress {

boost::asio::awaitable<result<void>> verify_granted_union(cluster& on, verification how, allowance baseline, policy_object granted,
                                                          judged_pod pod, std::string subject, deadline until) {
  if (how == verification::named_object_only)
    co_return result<void>{};
  auto allowed = union_of(std::move(baseline), allowance_of(granted));
  co_return co_await verify_union(on.api, policy_engine::cilium, std::move(allowed), std::move(pod), std::move(subject), until);
}

} // namespace paddock::egress
