#include "embedded/flows/account_controller.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

namespace {

constexpr auto account_name = "default";

nlohmann::json account_in(const std::string& name_space) {
  return {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", account_name}, {"namespace", name_space}}}};
}

} // namespace

account_controller::account_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                                       std::function<void(std::string)> log) :
  reconciler(std::move(lane), {&watched.of(collections::namespaces), &watched.of(collections::service_accounts)}, std::move(log)),
  client_(client),
  namespaces_(watched.of(collections::namespaces)),
  accounts_(watched.of(collections::service_accounts)) {
  namespaces_.on_change([this](const object_change& x) {
    if (x.after)
      look_at(name_of(*x.after));
  });
  accounts_.on_change([this](const object_change& x) {
    if (!x.after && name_of(*x.before) == account_name)
      look_at(namespace_of(*x.before));
  });
}

boost::asio::awaitable<reconciler::outcome> account_controller::pass(std::string key) {
  auto seen = namespaces_.objects().find("", key);
  if (!seen || terminating(*seen) || accounts_.objects().find(key, account_name))
    co_return outcome{};
  auto got = co_await client_.send(k8s::post("/api/v1/namespaces/" + key + "/serviceaccounts", account_in(key)));
  co_return outcome{got || got.error().status == 409 || got.error().status == 404 || got.error().status == 403};
}

} // namespace paddock::embedded
