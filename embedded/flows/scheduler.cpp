#include "embedded/flows/scheduler.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

using namespace std::chrono_literals;

scheduler::scheduler(control_client& client, informer_set& watched, std::string only_node, boost::asio::any_io_executor lane,
                     std::function<void(std::string)> log) :
  reconciler(std::move(lane), {&watched.of(collections::pods), &watched.of(collections::nodes), &watched.of(collections::claims)},
             std::move(log)),
  client_(client),
  pods_(watched.of(collections::pods)),
  nodes_(watched.of(collections::nodes)),
  claims_(watched.of(collections::claims)),
  only_node_(std::move(only_node)) {
  pods_.on_change([this](const object_change& x) { pod_changed(x); });
  nodes_.on_change([this](const object_change&) { look_at_waiting(); });
  claims_.on_change([this](const object_change& x) {
    if (!x.after)
      look_at_waiting();
  });
}

void scheduler::pod_changed(const object_change& change) {
  const auto& pod = change.after ? *change.after : *change.before;
  if (!change.after || ended(pod)) {
    said_unfit_.erase(key_of(pod));
    auto held = placed_.contains(uid_of(pod));
    uncount(uid_of(pod));
    if (held)
      look_at_waiting();
    return;
  }
  if (auto node = text_in(pod, "/spec/nodeName"); !node.empty())
    count(pod, node);
  else if (wants_node(pod))
    look_at(key_of(pod));
}

void scheduler::look_at_waiting() {
  for (const auto& x : pods_.objects().all())
    if (wants_node(*x))
      look_at(key_of(*x));
}

void scheduler::count(const nlohmann::json& pod, const std::string& node) {
  auto [there, made] = placed_.try_emplace(uid_of(pod), node, requests_of(pod));
  if (made)
    used_[node] += there->second.second;
}

void scheduler::uncount(const std::string& uid) {
  auto there = placed_.find(uid);
  if (there == placed_.end())
    return;
  used_[there->second.first] -= there->second.second;
  placed_.erase(there);
}

std::variant<std::string, unschedulable> scheduler::choose(const nlohmann::json& pod) const {
  std::vector<nlohmann::json> claims;
  for (const auto& name : claims_of(pod))
    if (auto claim = claims_.objects().find(namespace_of(pod), name))
      claims.push_back(*claim);
  if (auto why = waits_for_claim(pod, claims))
    return *why;
  std::vector<nlohmann::json> nodes;
  for (const auto& x : nodes_.objects().all())
    nodes.push_back(*x);
  if (nodes.empty() && !only_node_.empty())
    return only_node_;
  return choose_node(pod, nodes, used_);
}

/// Whether the pod has not been told so already: it is looked at whenever anything changes.
bool scheduler::is_news(const std::string& key, const std::string& why) {
  return std::exchange(said_unfit_[key], why) != why;
}

boost::asio::awaitable<reconciler::outcome> scheduler::pass(std::string key) {
  auto [name_space, name] = split_key(key);
  auto pod = pods_.objects().find(name_space, name);
  if (!pod || !wants_node(*pod) || placed_.contains(uid_of(*pod)))
    co_return outcome{};
  auto choice = choose(*pod);
  if (const auto* why = std::get_if<unschedulable>(&choice)) {
    if (is_news(key, why->message))
      tell(*pod, {true, "FailedScheduling", why->message});
    if (auto report = report_unschedulable(*pod, *why, client_.time().wall())) {
      auto said = co_await client_.send(*report);
      if (said)
        pods_.took(std::move(*said));
      else if (said.error().status != 404 && said.error().status != 409)
        co_return outcome{false};
    }
    co_return outcome{};
  }
  auto node = std::get<std::string>(choice);
  // Counted from now on: the next pod must not take the same room before this one is seen bound.
  count(*pod, node);
  auto got = co_await client_.send(bind_pod(*pod, node));
  if (got) {
    said_unfit_.erase(key);
    tell(*pod, {false, "Scheduled", "Successfully assigned " + key + " to " + node});
    co_return outcome{};
  }
  uncount(uid_of(*pod));
  // Gone, or taken by somebody else: the change is on its way here.
  if (got.error().status == 404 || got.error().status == 409)
    co_return outcome{};
  complain(key, got.error().message);
  co_return outcome{false};
}

} // namespace paddock::embedded
