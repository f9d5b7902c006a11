#include "embedded/flows/sandbox_controller.hpp"

#include "embedded/pod_facts.hpp"

#include <set>

namespace paddock::embedded {

sandbox_controller::sandbox_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                                       std::function<void(std::string)> log) :
  reconciler(std::move(lane),
             {&watched.of(collections::sandboxes), &watched.of(collections::pods), &watched.of(collections::services),
              &watched.of(collections::claims)},
             std::move(log)),
  client_(client),
  sandboxes_(watched.of(collections::sandboxes)),
  pods_(watched.of(collections::pods)),
  services_(watched.of(collections::services)),
  claims_(watched.of(collections::claims)) {
  sandboxes_.on_change([this](const object_change& x) { look_at(key_of(x.after ? *x.after : *x.before)); });
  for (auto* children : {&pods_, &services_, &claims_})
    children->on_change([this](const object_change& x) { child_changed(x); });
}

void sandbox_controller::child_changed(const object_change& change) {
  for (const auto& child : {change.before, change.after}) {
    if (!child)
      continue;
    // Its controller, and the Sandbox that waits for its name.
    const auto& owner = controller_of(*child);
    if (text_in(owner, "/kind") == "Sandbox")
      look_at(namespace_of(*child) + "/" + text_in(owner, "/name"));
    else if (sandboxes_.objects().find(namespace_of(*child), name_of(*child)))
      look_at(key_of(*child));
  }
}

std::optional<sandbox_view> sandbox_controller::look(const std::string& key) const {
  auto [name_space, name] = split_key(key);
  auto sandbox = sandboxes_.objects().find(name_space, name);
  if (!sandbox)
    return std::nullopt;
  auto seen = sandbox_view{*sandbox, {}, {}, {}};
  // The pods it controls, and those of its names that it does not.
  std::set<std::string> names;
  for (const auto& pod : pods_.objects().owned_by(uid_of(*sandbox)))
    if (controls(*sandbox, *pod) && names.insert(name_of(*pod)).second)
      seen.pods.push_back(*pod);
  for (const auto& wanted : {pod_name_of(*sandbox), name_of(*sandbox)})
    if (auto pod = pods_.objects().find(name_space, wanted); pod && names.insert(wanted).second)
      seen.pods.push_back(*pod);
  if (auto service = services_.objects().find(name_space, name_of(*sandbox)))
    seen.service = *service;
  if (const auto& entries = value_in(*sandbox, "/spec/volumeClaimTemplates"); entries.is_array())
    for (const auto& entry : entries)
      if (auto claim = claims_.objects().find(name_space, text_in(entry, "/metadata/name") + "-" + name_of(*sandbox)))
        seen.claims[name_of(*claim)] = *claim;
  return seen;
}

void sandbox_controller::took(const sandbox_write& write, const nlohmann::json& answer) {
  if (text_in(answer, "/kind") == "Status" || !answer.is_object())
    return;
  switch (write.what) {
    case sandbox_write::of::claim: return claims_.took(answer);
    case sandbox_write::of::pod: return pods_.took(answer);
    case sandbox_write::of::service: return services_.took(answer);
    case sandbox_write::of::annotation:
    case sandbox_write::of::sandbox: return sandboxes_.took(answer);
  }
}

boost::asio::awaitable<reconciler::outcome> sandbox_controller::pass(std::string key) {
  auto seen = look(key);
  if (!seen)
    co_return outcome{};
  auto plan = plan_sandbox(*seen, client_.time().wall());
  auto errors = plan.errors;
  auto pod_failed = false;
  for (const auto& write : plan.writes) {
    if (write.what == sandbox_write::of::annotation && pod_failed)
      continue;
    auto got = co_await client_.send(write.call);
    // What is to go and is gone already is as wished.
    if (!got && !(write.call.method == "DELETE" && got.error().status == 404)) {
      errors.push_back(got.error().message);
      pod_failed = pod_failed || write.what == sandbox_write::of::pod;
      continue;
    }
    if (!got)
      continue;
    apply_answer(*seen, write, *got);
    // A pod that is there from now on lets the kubelet begin; the report comes after.
    took(write, *got);
  }
  auto report_failed = false;
  if (plan.report)
    if (auto report = report_sandbox(*seen, errors, client_.time().wall())) {
      auto got = co_await client_.send(*report);
      if (got) {
        sandboxes_.took(*got);
        if (const auto& ready = condition_of(*got, "Ready"); text_in(ready, "/reason") == "MultiplePods")
          tell(*got, {true, "MultiplePods", text_in(ready, "/message"), "", "Reconciling"});
      } else if (got.error().status != 404)
        report_failed = true;
    }
  co_return outcome{errors.empty() && !report_failed, plan.revisit};
}

} // namespace paddock::embedded
