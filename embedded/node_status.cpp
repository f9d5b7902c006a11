#include "embedded/node_status.hpp"

#include "embedded/pod_facts.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using nlohmann::json;
using wall = time_source::wall_clock::time_point;

constexpr auto nodes = "/api/v1/nodes";
constexpr auto leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr auto lease_seconds = 40;

json condition(const json& node, const char* type, bool holds, const char* reason, const std::string& message, const std::string& now) {
  auto result = json{{"type", type},       {"status", holds ? "True" : "False"}, {"reason", reason},
                     {"message", message}, {"lastHeartbeatTime", now},           {"lastTransitionTime", now}};
  const auto& before = condition_of(node, type);
  if (text_in(before, "/status") == text_in(result, "/status") && before.contains("lastTransitionTime"))
    result["lastTransitionTime"] = before["lastTransitionTime"];
  return result;
}

/// `own`, and what others say of the node: a merge patch replaces the whole list.
json with_foreign(json own, const json& node) {
  auto ours = own.size();
  for (const auto& x : array_in(node, "/status/conditions")) {
    auto same = [&](const json& y) { return text_in(y, "/type") == text_in(x, "/type"); };
    if (std::none_of(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(ours), same))
      own.push_back(x);
  }
  return own;
}

/// A MicroTime has six digits behind the point.
std::string micro_time(wall now) {
  auto text = rfc3339_millis(now);
  return text.substr(0, text.size() - 1) + "000Z";
}

} // namespace

k8s::call read_node(const std::string& name) {
  return k8s::get(std::string{nodes} + "/" + name);
}

k8s::call make_node(const node_facts& facts) {
  auto labels = json{{"kubernetes.io/hostname", facts.name}, {"kubernetes.io/os", "linux"}, {"kubernetes.io/arch", facts.architecture}};
  return k8s::post(nodes, json{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", facts.name}, {"labels", labels}}}});
}

k8s::call report_node(const nlohmann::json& node, const node_facts& facts, time_source::wall_clock::time_point now) {
  auto at = rfc3339_seconds(now);
  auto amounts = json{{"cpu", std::to_string(facts.cpus)},
                      {"memory", std::to_string(facts.memory / 1024) + "Ki"},
                      {"ephemeral-storage", std::to_string(facts.storage / 1024) + "Ki"},
                      {"pods", std::to_string(facts.pods)}};
  auto limited = facts.limits_fault.empty();
  auto conditions = json::array(
    {condition(node, "MemoryPressure", false, "KubeletHasSufficientMemory", "kubelet has sufficient memory available", at),
     condition(node, "DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure", at),
     condition(node, "PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available", at),
     condition(node, "Ready", true, "KubeletReady", "kubelet runs pods as processes of this machine", at),
     condition(node, "ResourceLimitsEnforced", limited, limited ? "CgroupV2" : "NoCgroup",
               limited ? "limits of cpu and memory are set in cgroups" : facts.limits_fault, at),
     condition(node, "NetworkPolicyEnforced", false, "ProcessesOnLoopback", "pods are processes that share this machine's network", at)});
  auto status =
    json{{"capacity", amounts},
         {"allocatable", amounts},
         {"conditions", with_foreign(std::move(conditions), node)},
         {"addresses",
          json::array({json{{"type", "InternalIP"}, {"address", facts.address}}, json{{"type", "Hostname"}, {"address", facts.name}}})},
         {"nodeInfo",
          {{"machineID", facts.machine_id},
           {"systemUUID", facts.machine_id},
           {"bootID", facts.boot_id},
           {"kernelVersion", facts.kernel},
           {"osImage", facts.system},
           {"containerRuntimeVersion", "paddock://" + facts.version},
           {"kubeletVersion", "v" + facts.version},
           {"kubeProxyVersion", ""},
           {"operatingSystem", "linux"},
           {"architecture", facts.architecture}}}};
  return k8s::merge_patch(std::string{nodes} + "/" + facts.name + "/status", json{{"status", status}});
}

k8s::call renew_lease(const std::string& name, time_source::wall_clock::time_point now) {
  return k8s::merge_patch(std::string{leases} + "/" + name, json{{"spec", {{"holderIdentity", name}, {"renewTime", micro_time(now)}}}});
}

k8s::call make_lease(const nlohmann::json& node, time_source::wall_clock::time_point now) {
  auto metadata = json{{"name", name_of(node)}, {"namespace", "kube-node-lease"}};
  metadata["ownerReferences"] = json::array({json{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", name_of(node)}, {"uid", uid_of(node)}}});
  return k8s::post(
    leases, json{{"apiVersion", "coordination.k8s.io/v1"},
                 {"kind", "Lease"},
                 {"metadata", metadata},
                 {"spec", {{"holderIdentity", name_of(node)}, {"leaseDurationSeconds", lease_seconds}, {"renewTime", micro_time(now)}}}});
}

} // namespace paddock::embedded
