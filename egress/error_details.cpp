#include "egress/errors.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace paddock::egress {

namespace {

using json = nlohmann::json;

json examined_fields(const auto& examined) {
  auto got = json::array();
  for (const auto& x : examined) {
    got.push_back({{"kind", to_string(x.policy.kind)}, {"name", x.policy.name}, {"verdict", to_string(x.verdict)}});
    if (x.detail)
      got.back()["detail"] = *x.detail;
  }
  return got;
}

json unread_fields(const std::vector<unread_collection>& unread) {
  auto got = json::array();
  for (const auto& x : unread)
    got.push_back({{"resource", x.resource}, {"path", x.path}, {"why", to_string(x.why)}, {"reason", x.reason}});
  return got;
}

json fence_fields(const fence_object& x) {
  return {{"resourceKind", x.kind}, {"objectName", x.name}, {"path", x.path}};
}

struct fields {
  json operator()(const unenforceable_policy& x) const {
    return {{"policyKind", to_string(x.policy_kind)}};
  }
  json operator()(const illegal_config& x) const {
    return {{"field", x.field}};
  }
  json operator()(const narrowing_unsupported& x) const {
    return {{"policyKind", to_string(x.policy_kind)}, {"engine", to_string(x.engine)}};
  }
  json operator()(const illegal_profile& x) const {
    return {{"field", x.field}, {"value", x.value}};
  }
  json operator()(const illegal_per_sandbox& x) const {
    return {{"field", x.field}, {"value", x.value}};
  }
  json operator()(const illegal_host& x) const {
    return {{"host", x.host}};
  }
  json operator()(const policy_not_applied& x) const {
    return {{"resourceKind", to_string(x.kind)}, {"path", x.path}};
  }
  json operator()(const policy_mismatch& x) const {
    return {{"resourceKind", to_string(x.kind)}, {"path", x.path}, {"reason", x.reason}};
  }
  json operator()(const union_refused& x) const {
    return {{"refusal", to_string(x.refusal)},
            {"subject", x.subject},
            {"podLabels", x.pod_labels},
            {"policyKind", to_string(x.policy_kind)},
            {"examined", examined_fields(x.examined)},
            {"unread", unread_fields(x.unread)}};
  }
  json operator()(const ingress_refused& x) const {
    return {{"refusal", to_string(x.refusal)},
            {"subject", x.subject},
            {"podLabels", x.pod_labels},
            {"agentPort", x.agent_port},
            {"examined", examined_fields(x.examined)},
            {"unread", unread_fields(x.unread)}};
  }
  json operator()(const label_not_observed& x) const {
    return {{"missingLabel", {{"key", x.missing_label.first}, {"value", x.missing_label.second}}},
            {"subject", x.subject},
            {"observedLabels", x.observed_labels}};
  }
  json operator()(const labels_rejected& x) const {
    auto got = json{{"requestedPodLabels", x.requested_labels},
                    {"claimName", x.claim_name},
                    {"namespace", x.name_space},
                    {"controllerReason", x.controller_reason},
                    {"controllerMessage", x.controller_message}};
    if (x.profile)
      got["profile"] = *x.profile;
    return got;
  }
  json operator()(const fence_missing& x) const {
    return fence_fields(x.object);
  }
  json operator()(const fence_unreadable& x) const {
    auto got = fence_fields(x.object);
    got["cause"] = k8s::reason_of(x.cause);
    return got;
  }
  json operator()(const fence_not_enforcing& x) const {
    auto got = fence_fields(x.object);
    got["problem"] = x.problem;
    got["reason"] = x.reason;
    return got;
  }
  json operator()(const permitted_hosts_unavailable& x) const {
    auto got = json{
      {"name", x.config_map.name}, {"namespace", x.config_map.name_space}, {"path", x.path}, {"problem", x.problem}, {"reason", x.reason}};
    if (x.cause)
      got["cause"] = k8s::reason_of(*x.cause);
    return got;
  }
  json operator()(const permitted_host_refused& x) const {
    auto got = json{{"host", x.host}, {"problem", x.problem}};
    if (x.ports)
      got["ports"] = *x.ports;
    return got;
  }
  json operator()(const owner_uid_missing& x) const {
    return {{"objectName", x.object_name}, {"namespace", x.name_space}};
  }
  json operator()(const policy_write_unknown& x) const {
    return {{"method", x.method}, {"path", x.path}, {"cause", k8s::to_string(x.why)}};
  }
  json operator()(const owner_replaced& x) const {
    auto got = json{{"ownerName", x.owner_name}, {"expectedUid", x.expected_uid}, {"cleanUp", x.clean_up}};
    if (x.actual_uid)
      got["actualUid"] = *x.actual_uid;
    return got;
  }
  json operator()(const k8s::failure& x) const {
    return k8s::details_of(x);
  }
};

} // namespace

json details_of(const egress_error& x) {
  return std::visit(fields{}, x);
}

} // namespace paddock::egress
