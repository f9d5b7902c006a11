#include "embedded/flows/template_controller.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

template_controller::template_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                                         std::function<void(std::string)> log) :
  reconciler(std::move(lane), {&watched.of(collections::sandbox_templates), &watched.of(collections::network_policies)}, std::move(log)),
  client_(client),
  templates_(watched.of(collections::sandbox_templates)),
  policies_(watched.of(collections::network_policies)) {
  templates_.on_change([this](const object_change& x) { look_at(key_of(x.after ? *x.after : *x.before)); });
  policies_.on_change([this](const object_change& x) {
    for (const auto& policy : {x.before, x.after})
      if (policy && text_in(controller_of(*policy), "/kind") == "SandboxTemplate")
        look_at(namespace_of(*policy) + "/" + text_in(controller_of(*policy), "/name"));
  });
}

boost::asio::awaitable<reconciler::outcome> template_controller::pass(std::string key) {
  auto [name_space, name] = split_key(key);
  auto seen = templates_.objects().find(name_space, name);
  if (!seen)
    co_return outcome{};
  auto policy = policies_.objects().find(name_space, policy_name_of(*seen));
  auto there = policy ? std::optional{*policy} : std::nullopt;
  auto writes = plan_template(*seen, there);
  auto done = true;
  for (const auto& write : writes) {
    auto got = co_await client_.send(write);
    if (got && write.method != "DELETE")
      (text_in(*got, "/kind") == "NetworkPolicy" ? policies_ : templates_).took(std::move(*got));
    else if (!got && got.error().status != 404 && got.error().status != 409)
      done = false;
  }
  co_return outcome{done};
}

} // namespace paddock::embedded
