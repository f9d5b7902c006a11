#include "egress/flows/translation.hpp"

namespace paddock::egress {

boost::asio::awaitable<result<policy_object>> translate_resolved(egress_config how, policy_target target, resolver resolve,
                                                                 deadline until) {
  if (kind_of(how.policy) != policy_kind::resolver)
    co_return translate(how, target);
  if (auto ok = check_enforceable(how); !ok)
    co_return tl::unexpected{ok.error()};
  auto hosts = co_await resolve(until);
  if (!hosts)
    co_return tl::unexpected{hosts.error()};
  co_return translate(how, target, *hosts);
}

} // namespace paddock::egress
