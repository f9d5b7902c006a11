#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_controller.hpp"
#include "embedded/sandbox_facts.hpp"

#include <algorithm>

namespace paddock::embedded {

using namespace sandbox_facts;

namespace {

using nlohmann::json;
using wall = time_source::wall_clock::time_point;

struct condition {
  std::string status;
  std::string reason;
  std::string message;
};

class conditions {
public:
  conditions(const json& sandbox, wall now) : generation_(value_in(sandbox, "/metadata/generation")), now_(rfc3339_seconds(now)) {
    const auto& old = value_in(sandbox, "/status/conditions");
    all_ = old.is_array() ? old : json::array();
  }

  void set(std::string_view type, const condition& x) {
    auto next = json{{"type", type}, {"status", x.status}, {"reason", x.reason}, {"message", x.message}, {"lastTransitionTime", now_}};
    if (!generation_.is_null())
      next["observedGeneration"] = generation_;
    for (auto& old : all_)
      if (text_in(old, "/type") == type) {
        if (text_in(old, "/status") == x.status)
          next["lastTransitionTime"] = value_in(old, "/lastTransitionTime");
        old = next;
        return;
      }
    all_.push_back(next);
  }

  void drop(std::string_view type) {
    for (auto i = all_.begin(); i != all_.end(); ++i)
      if (text_in(*i, "/type") == type) {
        all_.erase(i);
        return;
      }
  }

  [[nodiscard]] const json& all() const {
    return all_;
  }

private:
  json generation_;
  std::string now_;
  json all_;
};

condition suspended_condition(const sandbox_view& seen, const std::vector<const json*>& own, const json* named) {
  if (!suspended(seen.sandbox))
    return {"False", "NotSuspended", "Sandbox is not suspended"};
  if (own.size() > 1)
    return {"Unknown", "PodStateUnknown", "Pod state is unknown. Suspension cannot be determined"};
  if (own.size() == 1)
    return {"False", "PodTerminating", "Pod is terminating. Sandbox is suspending"};
  if (named != nullptr)
    return {"False", "PodNotOwned", "Pod is not owned by this Sandbox"};
  return {"True", "PodTerminated", "Pod has been terminated. Sandbox is suspended"};
}

std::optional<condition> finished_condition(const json* pod) {
  if (pod == nullptr || !ended(*pod))
    return std::nullopt;
  if (phase_of(*pod) == "Failed")
    return condition{"True", "PodFailed", "Pod failed"};
  return condition{"True", "PodSucceeded", "Pod completed successfully"};
}

condition ready_condition(const sandbox_view& seen, const std::vector<const json*>& own, const json* named, const json* pod,
                          const std::vector<std::string>& errors) {
  if (own.size() > 1)
    return {"False", "MultiplePods",
            "multiple Pods (" + std::to_string(own.size()) + ") are controlled by this Sandbox; refusing to choose or create a Pod"};
  if (!errors.empty()) {
    auto text = std::string{"Error seen: "};
    for (const auto& x : errors)
      text += (&x == &errors.front() ? "" : "\n") + x;
    return {"False", "ReconcilerError", text};
  }
  if (suspended(seen.sandbox))
    return {"False", "SandboxSuspended", pod != nullptr || named != nullptr ? "Sandbox is suspending" : "Sandbox is suspended"};
  if (auto end = finished_condition(pod))
    return {"False", end->reason, end->message};
  auto there = service_there(seen);
  auto service = !service_required(seen) ? "" : there ? "; Service Exists" : "; Service does not exist";
  if (pod == nullptr)
    return {"False", "DependenciesNotReady", std::string{"Pod does not exist"} + service};
  if (phase_of(*pod) != "Running")
    return {"False", "DependenciesNotReady", "Pod exists with phase: " + phase_of(*pod) + service};
  if (!pod_ready(*pod) || pod_ips(*pod).empty())
    return {"False", "DependenciesNotReady", std::string{"Pod is Running but not Ready"} + service};
  return {service_required(seen) && !there ? "False" : "True",
          service_required(seen) && !there ? "DependenciesNotReady" : "DependenciesReady", std::string{"Pod is Ready"} + service};
}

condition scheduled_condition(const json& pod) {
  const auto& told = condition_of(pod, "PodScheduled");
  if (told.is_null())
    return {"Unknown", "PodSchedulingUnknown", "Pod has not reported a PodScheduled condition yet"};
  auto status = text_in(told, "/status");
  auto reason = text_in(told, "/reason");
  if (reason.empty())
    reason = status == "True" ? "PodScheduled" : "PodSchedulingUnknown";
  return {status, reason, text_in(told, "/message")};
}

/// The status patch that turns `before` into `after`: changed members, null for those that go.
std::optional<k8s::call> status_patch(const json& sandbox, const json& after) {
  auto before = value_in(sandbox, "/status");
  if (!before.is_object())
    before = json::object();
  auto patch = json::object();
  for (const auto& [key, value] : after.items())
    if (!before.contains(key) || before.at(key) != value)
      patch[key] = value;
  for (const auto& [key, value] : before.items())
    if (!after.contains(key))
      patch[key] = nullptr;
  // A node by itself is no news before the Sandbox is Ready.
  if (patch.size() == 1 && patch.contains("nodeName") && text_in(condition_of(json{{"status", after}}, "Ready"), "/status") != "True")
    patch.clear();
  if (patch.empty())
    return std::nullopt;
  return k8s::merge_patch(sandbox_path(sandbox) + "/status", {{"status", patch}});
}

} // namespace

std::optional<k8s::call> report_sandbox(const sandbox_view& seen, const std::vector<std::string>& errors,
                                        time_source::wall_clock::time_point now) {
  const auto& sandbox = seen.sandbox;
  auto told = conditions{sandbox, now};
  auto before = value_in(sandbox, "/status");
  if (!before.is_object())
    before = json::object();
  if (expired(sandbox, now)) {
    // The first report of an expiry keeps what else was known; the second keeps the conditions only.
    auto second = reported_expired(sandbox);
    told.drop("PodScheduled");
    told.set("Ready", {"False", "SandboxExpired", "Sandbox has expired"});
    auto after = second ? json::object() : before;
    after["conditions"] = told.all();
    return status_patch(sandbox, after);
  }
  auto own = own_pods(seen);
  auto* named = pod_named(seen, pod_name_of(sandbox));
  auto* pod = own.size() == 1 ? own[0] : nullptr;
  told.set("Suspended", suspended_condition(seen, own, named));
  if (pod != nullptr)
    told.set("PodScheduled", scheduled_condition(*pod));
  else if (named != nullptr && !suspended(sandbox))
    told.set("PodScheduled", {"Unknown", "PodSchedulingUnknown", "Pod state is unknown. Pod scheduling cannot be determined"});
  else
    told.drop("PodScheduled");
  told.set("Ready", ready_condition(seen, own, named, pod, errors));
  if (auto end = finished_condition(pod))
    told.set("Finished", *end);
  else
    told.drop("Finished");
  // The rest of the status.
  auto after = before;
  after["conditions"] = told.all();
  for (const auto* key : {"podIPs", "nodeName", "service", "serviceFQDN"})
    after.erase(key);
  if (pod != nullptr) {
    after["selector"] = std::string{agent_keys::name_hash} + "=" + hash_of(sandbox);
    if (auto ips = pod_ips(*pod); !ips.empty())
      after["podIPs"] = ips;
    if (auto node = text_in(*pod, "/spec/nodeName"); !node.empty())
      after["nodeName"] = node;
  }
  if (service_there(seen)) {
    after["service"] = name_of(*seen.service);
    after["serviceFQDN"] = name_of(*seen.service) + "." + namespace_of(sandbox) + ".svc.cluster.local";
  }
  return status_patch(sandbox, after);
}

} // namespace paddock::embedded
