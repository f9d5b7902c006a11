#include "embedded/flows/claim_protection.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

claim_protector::claim_protector(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                                 std::function<void(std::string)> log) :
  reconciler(std::move(lane), {&watched.of(collections::pods), &watched.of(collections::claims)}, std::move(log)),
  client_(client),
  pods_(watched.of(collections::pods)),
  claims_(watched.of(collections::claims)) {
  claims_.on_change([this](const object_change& x) {
    if (x.after)
      look_at(key_of(*x.after));
  });
  pods_.on_change([this](const object_change& x) { pod_changed(x); });
}

void claim_protector::pod_changed(const object_change& change) {
  const auto& pod = change.after ? change.after : change.before;
  if (change.after && !ended(*pod))
    return;
  for (const auto& name : claims_of(*pod))
    look_at(namespace_of(*pod) + "/" + name);
}

boost::asio::awaitable<reconciler::outcome> claim_protector::pass(std::string key) {
  auto [name_space, name] = split_key(key);
  auto claim = claims_.objects().find(name_space, name);
  if (!claim)
    co_return outcome{};
  std::vector<nlohmann::json> pods;
  if (terminating(*claim)) {
    for (const auto& x : pods_.objects().all())
      if (namespace_of(*x) == name_space)
        pods.push_back(*x);
    // What is known may be old, or lost: the last word is the server's.
    if (release_claim(*claim, pods)) {
      auto listed = co_await client_.send(k8s::get("/api/v1/namespaces/" + name_space + "/pods"));
      if (!listed || text_in(*listed, "/kind") != "PodList")
        co_return outcome{false};
      for (const auto& x : array_in(*listed, "/items"))
        pods.push_back(x);
    }
  }
  auto patch = terminating(*claim) ? release_claim(*claim, pods) : protect_claim(*claim);
  if (!patch)
    co_return outcome{};
  auto got = co_await client_.send(*patch);
  if (got)
    claims_.took(*got);
  // Gone, or no longer as it was read: the change is on its way here.
  co_return outcome{got || got.error().status == 404 || got.error().status == 409 || got.error().status == 422};
}

} // namespace paddock::embedded
