#include "egress/flows/permitted_hosts.hpp"

#include "k8s/flows/ask.hpp"

namespace paddock::egress {

boost::asio::awaitable<result<permitted_hosts>> read_permitted_hosts(cluster& on, object_reference which, deadline until) {
  auto got = co_await k8s::ask(on.api, on.time, k8s::get(path_of(which)), until);
  if (!got)
    co_return tl::unexpected{unread(which, got.error())};
  co_return read_permitted_hosts(which, got->value_or(nullptr));
}

} // namespace paddock::egress
