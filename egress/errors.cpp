#include "egress/errors.hpp"

#include "base/overloaded.hpp"
#include "egress/refusal_text.hpp"

#include <nlohmann/json.hpp>

namespace paddock::egress {

namespace {

/// In quotes and in ASCII: what no terminal should get is escaped, and so is a letter that only looks like another.
std::string in_quotes(std::string_view x) {
  return nlohmann::json(x).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string of(const fence_object& x) {
  return x.kind + " " + in_quotes(x.name) + " (" + x.path + ")";
}

std::string below_config(std::string_view field) {
  return "config.egress" + (field.empty() ? std::string{} : "." + std::string{field});
}

std::string ports_text(const port_list& ports) {
  auto got = std::string{};
  for (auto port : ports)
    got += (got.empty() ? "" : ", ") + std::to_string(port);
  return got;
}

struct teller {
  std::string operator()(const unenforceable_policy& x) const {
    return "config.egress.policy of kind " + std::string{to_string(x.policy_kind)}
           + " lists hosts by name, which only a CiliumNetworkPolicy can enforce: set config.egress.engine to 'cilium' in a cluster that "
             "runs "
             "Cilium, or choose another kind";
  }
  std::string operator()(const illegal_config& x) const {
    return below_config(x.field) + " " + x.problem;
  }
  std::string operator()(const narrowing_unsupported& x) const {
    return "config.egress.ciliumNarrowing narrows a list of hosts (static or resolver) under engine cilium; the policy is of kind "
           + std::string{to_string(x.policy_kind)} + " under engine " + std::string{to_string(x.engine)}
           + ", and nothing of it would be narrowed";
  }
  std::string operator()(const illegal_profile& x) const {
    return below_config(x.field) + " " + in_quotes(x.value) + " " + x.problem;
  }
  std::string operator()(const illegal_per_sandbox& x) const {
    return below_config("perSandbox." + x.field) + " " + in_quotes(x.value) + " " + x.problem;
  }
  std::string operator()(const illegal_host& x) const {
    return "the host entry " + in_quotes(x.host) + " " + x.problem + "; nothing was written";
  }
  std::string operator()(const policy_not_applied& x) const {
    return std::string{to_string(x.kind)} + " " + x.path
           + " does not exist; an operator applies it (`paddock egress render` prints it), nothing here creates it";
  }
  std::string operator()(const policy_mismatch& x) const {
    return std::string{to_string(x.kind)} + " " + x.path + " differs from what the configuration means: " + x.reason;
  }
  std::string operator()(const union_refused& x) const {
    return refusal_text(x);
  }
  std::string operator()(const ingress_refused& x) const {
    return refusal_text(x);
  }
  std::string operator()(const label_not_observed& x) const {
    return x.subject + ": the label " + x.missing_label.first + "=" + x.missing_label.second
           + " was asked for and never appeared on the pod, which carries " + to_text(x.observed_labels);
  }
  std::string operator()(const labels_rejected& x) const {
    return "SandboxClaim " + x.claim_name + " in " + x.name_space + ": the controller refused the pod labels " + to_text(x.requested_labels)
           + (x.profile ? " (profile " + *x.profile + ")" : "") + ": " + x.controller_reason + ": " + x.controller_message;
  }
  std::string operator()(const fence_missing& x) const {
    return "the admission fence is not in place: " + of(x.object) + " does not exist; nothing was written";
  }
  std::string operator()(const fence_unreadable& x) const {
    return "the admission fence cannot be proved: " + of(x.object)
           + " may not be read; grant get on validatingadmissionpolicies and validatingadmissionpolicybindings at cluster scope "
             "(deploy/egress/rbac-per-sandbox-egress.yaml, ClusterRole namzu-sandbox-host-admission-fence-read); nothing was written: "
           + k8s::to_string(x.cause);
  }
  std::string operator()(const fence_not_enforcing& x) const {
    return "the admission fence does not bound this host: " + of(x.object) + ": " + x.problem + ": " + x.reason + "; nothing was written";
  }
  std::string operator()(const permitted_hosts_unavailable& x) const {
    return "the permitted hosts of ConfigMap " + x.config_map.name_space + "/" + x.config_map.name + " (" + x.path + ") are " + x.problem
           + ": " + x.reason + (x.cause ? ": " + k8s::to_string(*x.cause) : "") + "; nothing was written";
  }
  std::string operator()(const permitted_host_refused& x) const {
    auto text = "the host entry " + in_quotes(x.host) + " ";
    if (x.problem == "host")
      text += "is not among the permitted hosts";
    else if (x.problem == "port")
      text += "asks for a port that is not permitted (" + ports_text(x.ports.value_or(port_list{})) + ")";
    else
      text += "asks for every port, and only some are permitted: name its ports in config.egress.perSandbox.narrowing";
    return text + "; nothing was written";
  }
  std::string operator()(const owner_uid_missing& x) const {
    return x.object_name + " in " + x.name_space + " carries no uid, so no policy can name it as its owner; nothing was written";
  }
  std::string operator()(const policy_write_unknown& x) const {
    return "nobody knows whether " + x.method + " " + x.path + " was applied: " + k8s::to_string(x.why);
  }
  std::string operator()(const owner_replaced& x) const {
    return "another object" + std::string{x.actual_uid ? "" : ", or none,"} + " stands under the name " + x.owner_name + ": expected "
           + x.expected_uid + (x.actual_uid ? ", found " + *x.actual_uid : "") + "; the policy that was written for the former one "
           + (x.clean_up == "done" ? "was taken back" : "may still stand (taking it back: " + x.clean_up + ")");
  }
  std::string operator()(const k8s::failure& x) const {
    return k8s::to_string(x);
  }
};

} // namespace

std::string_view reason_of(const egress_error& x) {
  return std::visit(overloaded{
                      [](const unenforceable_policy&) -> std::string_view { return "UnenforceableEgressPolicy"; },
                      [](const illegal_config&) -> std::string_view { return "EgressPolicyConfig"; },
                      [](const narrowing_unsupported&) -> std::string_view { return "EgressNarrowingUnsupported"; },
                      [](const illegal_profile&) -> std::string_view { return "EgressProfileConfig"; },
                      [](const illegal_per_sandbox&) -> std::string_view { return "PerSandboxEgressConfig"; },
                      [](const illegal_host&) -> std::string_view { return "NetworkPolicyHost"; },
                      [](const policy_not_applied&) -> std::string_view { return "EgressPolicyNotApplied"; },
                      [](const policy_mismatch&) -> std::string_view { return "EgressPolicyMismatch"; },
                      [](const union_refused&) -> std::string_view { return "EgressPolicyUnion"; },
                      [](const ingress_refused&) -> std::string_view { return "IngressPolicy"; },
                      [](const label_not_observed&) -> std::string_view { return "PodLabelNotObserved"; },
                      [](const labels_rejected&) -> std::string_view { return "PodLabelsRejected"; },
                      [](const fence_missing&) -> std::string_view { return "AdmissionFenceMissing"; },
                      [](const fence_unreadable&) -> std::string_view { return "AdmissionFenceUnreadable"; },
                      [](const fence_not_enforcing&) -> std::string_view { return "AdmissionFenceNotEnforcing"; },
                      [](const permitted_hosts_unavailable&) -> std::string_view { return "PermittedHostsUnavailable"; },
                      [](const permitted_host_refused&) -> std::string_view { return "PermittedHostRefused"; },
                      [](const owner_uid_missing&) -> std::string_view { return "OwnerUidMissing"; },
                      [](const policy_write_unknown&) -> std::string_view { return "OutcomeUnknown"; },
                      [](const owner_replaced&) -> std::string_view { return "OwnerReplaced"; },
                      [](const k8s::failure& e) { return k8s::reason_of(e); },
                    },
                    x);
}

std::string to_string(const egress_error& x) {
  return std::visit(teller{}, x);
}

std::string to_text(const label_map& labels) {
  auto got = std::string{};
  for (const auto& [key, value] : labels)
    got += (got.empty() ? "" : ",") + key + "=" + value;
  return got.empty() ? "(none)" : got;
}

} // namespace paddock::egress
