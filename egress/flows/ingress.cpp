#include "egress/flows/ingress.hpp"

#include "egress/flows/policies.hpp"

namespace paddock::egress {

boost::asio::awaitable<result<void>> verify_ingress(cluster& on, ingress_config how, policy_engine engine, ingress_question asked,
                                                    deadline until) {
  if (!how.verify)
    co_return result<void>{};
  const auto name_space = asked.name_space;
  auto judge = ingress_judge{std::move(asked)};
  auto unread = co_await read_policies(on.api, name_space, engine, judge, until);
  if (!unread)
    co_return tl::unexpected{egress_error{unread.error()}};
  co_return judge.verdict(std::move(*unread));
}

} // namespace paddock::egress
