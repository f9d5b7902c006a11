#include "embedded/pod_admission.hpp"

#include "embedded/quantity.hpp"

namespace paddock::embedded {

namespace {

constexpr auto borne_seconds = 300;

/// Whether the pod says itself how it bears that taint of a node.
bool tolerates(const json& pod_spec, std::string_view taint) {
  const auto* all = member(pod_spec, "tolerations");
  if (all == nullptr || !all->is_array())
    return false;
  return std::any_of(all->begin(), all->end(), [&](const json& x) {
    const auto key = text_at(x, {"key"});
    const auto effect = text_at(x, {"effect"});
    return (key.empty() || key == taint) && (effect.empty() || effect == "NoExecute");
  });
}

void bear_bad_nodes(json& spec) {
  for (const auto* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
    if (!tolerates(spec, taint))
      spec["tolerations"].push_back(
        {{"key", taint}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", borne_seconds}});
}

/// What is limited and not asked for is asked for to the limit.
void ask_to_the_limits(json& spec) {
  for (const auto* list : {"initContainers", "containers"})
    if (auto all = spec.find(list); all != spec.end())
      for (auto& x : *all) {
        const auto limits = object_at(x, "resources").value("limits", json::object());
        for (const auto& [name, most] : limits.items())
          object_at(x["resources"], "requests").emplace(name, most);
      }
}

/// Of CPU and memory: best effort, when nothing is said; guaranteed, when every container is given what it may have at most.
std::string_view class_of(const json& spec) {
  bool said = false;
  bool guaranteed = true;
  for (const auto* list : {"initContainers", "containers"}) {
    const auto* all = member(spec, list);
    if (all == nullptr)
      continue;
    for (const auto& x : *all) {
      const auto* requests = find(x, {"resources", "requests"});
      const auto* limits = find(x, {"resources", "limits"});
      for (const auto* name : {"cpu", "memory"}) {
        const auto least = requests == nullptr ? 0 : quantity_in(*requests, name);
        const auto most = limits == nullptr ? 0 : quantity_in(*limits, name);
        said = said || least > 0 || most > 0;
        guaranteed = guaranteed && most > 0 && least >= most;
      }
    }
  }
  return !said ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

} // namespace

void complete_pod(json& pod) {
  auto& spec = object_at(pod, "spec");
  bear_bad_nodes(spec);
  ask_to_the_limits(spec);
  if (text_at(spec, {"priorityClassName"}).empty()) {
    spec.emplace("priority", 0);
    spec.emplace("preemptionPolicy", "PreemptLowerPriority");
  }
  object_at(pod, "status")["qosClass"] = class_of(spec);
}

} // namespace paddock::embedded
