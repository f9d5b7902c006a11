#pragma once

#include "egress/translate.hpp"
#include "k8s/paths.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/workspace/desk.hpp"

#include <string>
#include <utility>

// A desk whose host is configured to an egress.

namespace paddock::workspace::test {

inline constexpr const char* sandbox_key = "sandbox.namzu.ai/per-sandbox-egress";

/// Where a policy, or an object of the fence, stands.
inline std::string path_of(const nlohmann::json& object) {
  const auto name = object["metadata"]["name"].get<std::string>();
  const auto kind = object["kind"];
  if (kind == "NetworkPolicy")
    return k8s::network_policies_path("ns", name);
  if (kind == "CiliumNetworkPolicy")
    return k8s::cilium_policies_path("ns", name);
  return kind == "ValidatingAdmissionPolicy" ? k8s::admission_policy_path(name) : k8s::admission_binding_path(name);
}

inline void apply(desk& to, nlohmann::json object) {
  auto path = path_of(object);
  to.cluster.objects[std::move(path)] = std::move(object);
}

/// Configures the host so, and applies what an operator has to.
inline void bound(desk& to, egress::egress_config how) {
  to.on.how.egress = std::move(how);
  apply(to, egress::translate(*to.on.how.egress, {"ns", "tpl"})->manifest);
  if (!to.on.how.egress->per_sandbox)
    return;
  for (const auto& x : paddock::test::shipped("fence.yaml")) {
    auto text = x.dump();
    for (auto at = text.find("namzu-sandboxes"); at != std::string::npos; at = text.find("namzu-sandboxes", at))
      text.replace(at, 15, "ns");
    apply(to, nlohmann::json::parse(text));
  }
}

/// What the Sandbox with this uid was granted under the name of the workspace.
inline nlohmann::json grant(const std::string& uid) {
  return {
    {"kind", "CiliumNetworkPolicy"},
    {"metadata",
     {{"name", "namzu-sbx-" + uid},
      {"ownerReferences", nlohmann::json::array(
                            {{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"name", "namzu-ws-desk"}, {"uid", uid}}})}}},
    {"spec",
     {{"endpointSelector", {{"matchLabels", {{sandbox_key, "namzu-ws-desk"}}}}},
      {"egress", nlohmann::json::array({{{"toFQDNs", nlohmann::json::array({{{"matchName", "git.example.com"}}})}}})}}}};
}
} // namespace paddock::workspace::test
