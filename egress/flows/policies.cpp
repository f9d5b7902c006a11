#include "egress/flows/policies.hpp"

#include "egress/enumeration.hpp"
#include "k8s/flows/ask.hpp"

namespace paddock::egress {

boost::asio::awaitable<k8s::result<std::optional<unread_collection>>>
read_policies(cluster& on, std::string name_space, policy_engine engine, policy_reader& to, deadline until) {
  for (const auto& of : policy_collections(name_space, engine)) {
    const auto sink = k8s::page_sink{[&] { to.begin(of.kind); }, [&](const nlohmann::json& x) { to.take(of.kind, x); }};
    auto got = co_await k8s::read_list(on.api, on.time, of.path, sink, until);
    if (got)
      continue;
    if (auto unread = unread_of(of, got.error()))
      co_return unread;
    co_return tl::unexpected{got.error()};
  }
  co_return std::optional<unread_collection>{};
}

} // namespace paddock::egress
