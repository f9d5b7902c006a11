#include "embedded/scheduler.hpp"

#include "embedded/pod_facts.hpp"
#include "embedded/quantity.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using nlohmann::json;

node_amounts amounts_in(const json& map) {
  return {quantity_in(map, "cpu"), quantity_in(map, "memory"), quantity_in(map, "pods")};
}

bool tolerates(const json& pod, const json& taint) {
  // What this one stands for is read from the node's condition; whoever takes it off may be late, or absent.
  if (text_in(taint, "/key") == "node.kubernetes.io/not-ready")
    return true;
  const auto& all = array_in(pod, "/spec/tolerations");
  return std::any_of(all.begin(), all.end(), [&](const json& x) {
    auto key = text_in(x, "/key");
    auto effect = text_in(x, "/effect");
    auto exists = text_in(x, "/operator") == "Exists";
    return (key == text_in(taint, "/key") || (key.empty() && exists)) && (effect.empty() || effect == text_in(taint, "/effect"))
           && (exists || text_in(x, "/value") == text_in(taint, "/value"));
  });
}

/// Why the node does not take the pod, in the scheduler's words; empty: it does.
std::string refusal(const json& pod, const json& node, const node_amounts& used) {
  if (value_in(node, "/spec/unschedulable") == json(true))
    return "node(s) were unschedulable";
  for (const auto& x : array_in(node, "/spec/taints"))
    if (text_in(x, "/effect") != "PreferNoSchedule" && !tolerates(pod, x))
      return "node(s) had untolerated taint(s)";
  if (text_in(condition_of(node, "Ready"), "/status") != "True")
    return "node(s) were not ready";
  if (const auto& wanted = value_in(pod, "/spec/nodeSelector"); wanted.is_object())
    for (const auto& [key, value] : wanted.items())
      if (json(label_of(node, key)) != value)
        return "node(s) didn't match Pod's node affinity/selector";
  auto room = amounts_in(value_in(node, "/status/allocatable"));
  auto asks = requests_of(pod);
  if (used.pods + asks.pods > room.pods)
    return "Too many pods";
  if (asks.cpu > 0 && used.cpu + asks.cpu > room.cpu)
    return "Insufficient cpu";
  if (asks.memory > 0 && used.memory + asks.memory > room.memory)
    return "Insufficient memory";
  return {};
}

} // namespace

node_amounts& node_amounts::operator+=(const node_amounts& other) {
  cpu += other.cpu;
  memory += other.memory;
  pods += other.pods;
  return *this;
}

node_amounts& node_amounts::operator-=(const node_amounts& other) {
  cpu -= other.cpu;
  memory -= other.memory;
  pods -= other.pods;
  return *this;
}

node_amounts requests_of(const nlohmann::json& pod) {
  node_amounts stay;
  node_amounts most;
  for (const auto& x : array_in(pod, "/spec/containers"))
    stay += amounts_in(value_in(x, "/resources/requests"));
  for (const auto& x : array_in(pod, "/spec/initContainers")) {
    auto asks = amounts_in(value_in(x, "/resources/requests"));
    if (text_in(x, "/restartPolicy") == "Always")
      stay += asks;
    most.cpu = std::max(most.cpu, asks.cpu);
    most.memory = std::max(most.memory, asks.memory);
  }
  return {std::max(stay.cpu, most.cpu), std::max(stay.memory, most.memory), 1};
}

bool wants_node(const nlohmann::json& pod) {
  auto scheduler = text_in(pod, "/spec/schedulerName");
  return text_in(pod, "/spec/nodeName").empty() && !terminating(pod) && !ended(pod) && array_in(pod, "/spec/schedulingGates").empty()
         && (scheduler.empty() || scheduler == "default-scheduler");
}

std::variant<std::string, unschedulable> choose_node(const nlohmann::json& pod, const std::vector<nlohmann::json>& nodes,
                                                     const std::map<std::string, node_amounts>& used) {
  if (nodes.empty())
    return unschedulable{"no nodes available to schedule pods"};
  std::optional<std::pair<double, std::string>> best;
  std::map<std::string, int> reasons;
  for (const auto& node : nodes) {
    auto there = used.find(name_of(node));
    auto load = there == used.end() ? node_amounts{} : there->second;
    auto why = refusal(pod, node, load);
    if (!why.empty())
      ++reasons[why];
    else if (auto here = std::pair{load.pods, name_of(node)}; !best || here < *best)
      best = here;
  }
  if (best)
    return best->second;
  auto text = "0/" + std::to_string(nodes.size()) + " nodes are available: ";
  for (auto first = true; const auto& [why, count] : reasons) {
    text += (first ? "" : ", ") + std::to_string(count) + " " + why;
    first = false;
  }
  return unschedulable{text + "."};
}

std::optional<unschedulable> waits_for_claim(const nlohmann::json& pod, const std::vector<nlohmann::json>& claims) {
  const auto used = claims_of(pod);
  for (const auto& x : claims)
    if (terminating(x) && std::find(used.begin(), used.end(), name_of(x)) != used.end())
      return unschedulable{"persistentvolumeclaim \"" + name_of(x) + "\" is being deleted"};
  return std::nullopt;
}

k8s::call bind_pod(const nlohmann::json& pod, const std::string& node) {
  return k8s::post("/api/v1/namespaces/" + namespace_of(pod) + "/pods/" + name_of(pod) + "/binding",
                   json{{"apiVersion", "v1"},
                        {"kind", "Binding"},
                        {"metadata", {{"name", name_of(pod)}, {"namespace", namespace_of(pod)}, {"uid", uid_of(pod)}}},
                        {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
}

std::optional<k8s::call> report_unschedulable(const nlohmann::json& pod, const unschedulable& why,
                                              time_source::wall_clock::time_point now) {
  auto conditions = array_in(pod, "/status/conditions");
  auto next = json{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", why.message}};
  const auto& before = condition_of(pod, "PodScheduled");
  if (text_in(before, "/status") == "False" && text_in(before, "/message") == why.message)
    return std::nullopt;
  next["lastTransitionTime"] = text_in(before, "/status") == "False" ? value_in(before, "/lastTransitionTime") : json(rfc3339_seconds(now));
  auto same = std::find_if(conditions.begin(), conditions.end(), [](const json& x) { return text_in(x, "/type") == "PodScheduled"; });
  if (same == conditions.end())
    conditions.push_back(next);
  else
    *same = next;
  return k8s::merge_patch("/api/v1/namespaces/" + namespace_of(pod) + "/pods/" + name_of(pod) + "/status",
                          json{{"metadata", {{"uid", uid_of(pod)}}}, {"status", {{"conditions", conditions}}}});
}

} // namespace paddock::embedded
