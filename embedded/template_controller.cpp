#include "embedded/template_controller.hpp"

#include "base/hash.hpp"
#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_blueprint.hpp"

namespace paddock::embedded {

namespace {

using nlohmann::json;

json default_ingress() {
  auto router = json{{"podSelector", {{"matchLabels", {{"app", "sandbox-router"}}}}}};
  router["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] = "agent-sandbox-system";
  return json::array({json{{"from", json::array({router})}}});
}

json default_egress() {
  auto four = json{{"ipBlock", {{"cidr", "0.0.0.0/0"}}}};
  four["ipBlock"]["except"] = json::array({"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"});
  auto six = json{{"ipBlock", {{"cidr", "::/0"}}}};
  six["ipBlock"]["except"] = json::array({"fc00::/7", "fe80::/10"});
  return json::array({json{{"to", json::array({four, six})}}});
}

json policy_spec(const json& sandbox_template) {
  auto result = json{{"podSelector", {{"matchLabels", {{agent_keys::template_hash, fnv1a_hex(name_of(sandbox_template))}}}}}};
  result["policyTypes"] = json::array({"Ingress", "Egress"});
  const auto& own = value_in(sandbox_template, "/spec/networkPolicy");
  if (own.is_null()) {
    result["ingress"] = default_ingress();
    result["egress"] = default_egress();
    return result;
  }
  for (const auto* key : {"ingress", "egress"})
    if (const auto& rules = value_in(own, std::string{"/"} + key); rules.is_array() && !rules.empty())
      result[key] = rules;
  return result;
}

/// With the defaults that the API server fills in.
json completed(json spec) {
  for (const auto* key : {"ingress", "egress"})
    if (spec.contains(key))
      for (auto& rule : spec[key])
        if (rule.contains("ports"))
          for (auto& port : rule["ports"])
            if (port.is_object())
              port.emplace("protocol", "TCP");
  return spec;
}

} // namespace

std::string policy_name_of(const nlohmann::json& sandbox_template) {
  return name_of(sandbox_template) + "-network-policy";
}

std::vector<k8s::call> plan_template(const nlohmann::json& sandbox_template, const std::optional<nlohmann::json>& policy) {
  std::vector<k8s::call> result;
  if (terminating(sandbox_template))
    return result;
  auto hash = fnv1a_hex(name_of(sandbox_template));
  if (label_of(sandbox_template, agent_keys::template_hash) != hash)
    result.push_back(k8s::merge_patch(extension_path(sandbox_template, "sandboxtemplates/" + name_of(sandbox_template)),
                                      json{{"metadata", {{"labels", {{agent_keys::template_hash, hash}}}}}}));
  auto all = "/apis/networking.k8s.io/v1/namespaces/" + namespace_of(sandbox_template) + "/networkpolicies";
  auto one = all + "/" + policy_name_of(sandbox_template);
  auto ours = policy && text_in(controller_of(*policy), "/uid") == uid_of(sandbox_template);
  if (!managed(sandbox_template)) {
    if (ours && !terminating(*policy))
      result.push_back(k8s::remove(one, json{{"preconditions", {{"uid", uid_of(*policy)}}}}));
    return result;
  }
  auto spec = policy_spec(sandbox_template);
  if (!policy) {
    auto metadata = json{{"name", policy_name_of(sandbox_template)}, {"namespace", namespace_of(sandbox_template)}};
    metadata["ownerReferences"] = json::array({controller_reference(sandbox_template)});
    result.push_back(
      k8s::post(all, json{{"apiVersion", "networking.k8s.io/v1"}, {"kind", "NetworkPolicy"}, {"metadata", metadata}, {"spec", spec}}));
  } else if (ours && value_in(*policy, "/spec") != completed(spec)) {
    for (const auto* key : {"ingress", "egress"})
      spec.emplace(key, nullptr);
    result.push_back(k8s::merge_patch(one, json{{"spec", spec}}));
  }
  return result;
}

} // namespace paddock::embedded
