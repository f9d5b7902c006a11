#include "embedded/rbac_defaults.hpp"

#include "embedded/rbac.hpp"
#include "embedded/rbac_aggregation.hpp"

#include <array>

namespace paddock::embedded {

namespace {

// -- what they are ------------------------------------------------------------------------------------------------

/// Lists with commas. Without groups, the resources are paths.
struct rule_text {
  std::string_view groups; // `core` for the one without a name
  std::string_view resources;
  std::string_view verbs;
};

constexpr std::string_view read = "get,list,watch";
constexpr std::string_view change = "create,delete,deletecollection,patch,update";
constexpr std::string_view all = "create,delete,deletecollection,get,list,patch,update,watch";

struct role_text {
  std::string_view name;
  std::string_view part_of;  // `edit`: carries the label that the role `edit` selects
  std::string_view collects; // `edit`: has the rules of the roles with that label
  std::span<const rule_text> rules;
};

constexpr rule_text cluster_admin[]{
  {"*", "*", "*"},
  {"", "*", "*"},
};
constexpr rule_text aggregate_to_admin[]{
  {"authorization.k8s.io", "localsubjectaccessreviews", "create"},
  {"rbac.authorization.k8s.io", "rolebindings,roles", all},
};
constexpr rule_text aggregate_to_edit[]{
  {"core", "pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy", read},
  {"core", "serviceaccounts", "impersonate"},
  {"core", "pods,pods/attach,pods/exec,pods/portforward,pods/proxy", change},
  {"core", "pods/eviction", "create"},
  {"core",
   "configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,"
   "serviceaccounts,services,services/proxy",
   change},
  {"core", "serviceaccounts/token", "create"},
  {"core,events.k8s.io", "events", change},
  {"apps",
   "daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,"
   "statefulsets,statefulsets/scale",
   change},
  {"autoscaling", "horizontalpodautoscalers", change},
  {"batch", "cronjobs,jobs", change},
  {"extensions",
   "daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,"
   "replicasets/scale,replicationcontrollers/scale",
   change},
  {"policy", "poddisruptionbudgets", change},
  {"networking.k8s.io", "ingresses,networkpolicies", change},
  {"coordination.k8s.io", "leases", all},
  {"resource.k8s.io", "resourceclaims,resourceclaimtemplates", change},
};
constexpr rule_text aggregate_to_view[]{
  {"core",
   "configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,"
   "replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status",
   read},
  {"core",
   "bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,"
   "resourcequotas,resourcequotas/status",
   read},
  {"core", "namespaces", read},
  {"core,events.k8s.io", "events", read},
  {"discovery.k8s.io", "endpointslices", read},
  {"apps",
   "controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,"
   "replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status",
   read},
  {"autoscaling", "horizontalpodautoscalers,horizontalpodautoscalers/status", read},
  {"batch", "cronjobs,cronjobs/status,jobs,jobs/status", read},
  {"extensions",
   "daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,"
   "ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,"
   "replicationcontrollers/scale",
   read},
  {"policy", "poddisruptionbudgets,poddisruptionbudgets/status", read},
  {"networking.k8s.io", "ingresses,ingresses/status,networkpolicies", read},
  {"resource.k8s.io", "resourceclaims,resourceclaims/status,resourceclaimtemplates", read},
};
constexpr rule_text auth_delegator[]{
  {"authentication.k8s.io", "tokenreviews", "create"},
  {"authorization.k8s.io", "subjectaccessreviews", "create"},
};
constexpr rule_text basic_user[]{
  {"authorization.k8s.io", "selfsubjectaccessreviews,selfsubjectrulesreviews", "create"},
  {"authentication.k8s.io", "selfsubjectreviews", "create"},
};
constexpr rule_text discovery[]{
  {"", "/api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/", "get"},
};
constexpr rule_text monitoring[]{
  {"", "/flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz", "get"},
  {"core", "nodes/metrics", "get"},
};
constexpr rule_text public_info_viewer[]{
  {"", "/healthz,/livez,/readyz,/version,/version/", "get"},
};

constexpr role_text roles[]{
  {"cluster-admin", "", "", cluster_admin},
  {"admin", "", "admin", {}},
  {"edit", "admin", "edit", {}},
  {"view", "edit", "view", {}},
  {"system:aggregate-to-admin", "admin", "", aggregate_to_admin},
  {"system:aggregate-to-edit", "edit", "", aggregate_to_edit},
  {"system:aggregate-to-view", "view", "", aggregate_to_view},
  {"system:auth-delegator", "", "", auth_delegator},
  {"system:basic-user", "", "", basic_user},
  {"system:discovery", "", "", discovery},
  {"system:monitoring", "", "", monitoring},
  {"system:public-info-viewer", "", "", public_info_viewer},
};

/// Who has which of them everywhere.
struct binding_text {
  std::string_view name; // also of the role
  std::string_view groups;
};

constexpr binding_text bindings[]{
  {"cluster-admin", "system:masters"},
  {"system:basic-user", "system:authenticated"},
  {"system:discovery", "system:authenticated"},
  {"system:monitoring", "system:monitoring"},
  {"system:public-info-viewer", "system:authenticated,system:unauthenticated"},
};

// -- as objects ---------------------------------------------------------------------------------------------------

json split(std::string_view text) {
  auto out = json::array();
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const auto word = text.substr(at, end - at);
    out.push_back(word == "core" ? std::string_view{} : word);
    at = end + 1;
  }
  return out;
}

json object_of(std::string_view kind, std::string_view name) {
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", kind},
          {"metadata",
           {{"name", name},
            {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
            {"annotations", {{"rbac.authorization.kubernetes.io/autoupdate", "true"}}}}}};
}

std::string aggregation_label(std::string_view role) {
  return "rbac.authorization.k8s.io/aggregate-to-" + std::string{role};
}

json role_object(const role_text& from) {
  auto out = object_of("ClusterRole", from.name);
  if (!from.part_of.empty())
    out["metadata"]["labels"][aggregation_label(from.part_of)] = "true";
  if (!from.collects.empty())
    out["aggregationRule"]["clusterRoleSelectors"] = json::array({{{"matchLabels", {{aggregation_label(from.collects), "true"}}}}});
  auto rules = json::array();
  for (const auto& x : from.rules) {
    json rule{{"verbs", split(x.verbs)}};
    if (x.groups.empty()) {
      rule["nonResourceURLs"] = split(x.resources);
    } else {
      rule["apiGroups"] = split(x.groups);
      rule["resources"] = split(x.resources);
    }
    rules.push_back(std::move(rule));
  }
  out["rules"] = std::move(rules);
  return out;
}

json binding_object(const binding_text& from) {
  auto out = object_of("ClusterRoleBinding", from.name);
  out["roleRef"] = {{"apiGroup", rbac_group}, {"kind", "ClusterRole"}, {"name", from.name}};
  out["subjects"] = json::array();
  for (const auto& group : split(from.groups))
    out["subjects"].push_back({{"apiGroup", rbac_group}, {"kind", "Group"}, {"name", group}});
  return out;
}

} // namespace

api_result<void> make_default_roles(store& objects, store::instant now) {
  const auto make = [&](std::string_view plural, json object) -> api_result<void> {
    const auto* kind = find_kind(rbac_group, "v1", plural);
    if (objects.get(*kind, "", text_at(object, {"metadata", "name"})))
      return {};
    auto made = objects.create(*kind, "", std::move(object), now);
    if (!made)
      return tl::unexpected{made.error()};
    return {};
  };
  for (const auto& x : roles)
    if (auto made = make("clusterroles", role_object(x)); !made)
      return made;
  for (const auto& x : bindings)
    if (auto made = make("clusterrolebindings", binding_object(x)); !made)
      return made;
  // `admin` collects `edit`, which collects `view`.
  for (int i = 0; i < 3 && aggregate_roles(objects); ++i) {
  }
  return {};
}

} // namespace paddock::embedded
