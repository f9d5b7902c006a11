#define CAF_SUITE rbac

#include "embedded/rbac_aggregation.hpp"
#include "gated_world.hpp"
#include "tests/support/check_json.hpp"

// Texts are those of a real kube-apiserver 1.36 that was asked the same.

using namespace paddock;
using namespace paddock::embedded;
using paddock::test::gated_world;

namespace {

const user_info alice{"alice", {"builders", "system:authenticated"}};
const user_info nobody{"nobody", {"", "system:authenticated"}};
const std::string rbac = gated_world::rbac;
constexpr auto merge = "application/merge-patch+json";

json rule(std::vector<std::string> verbs, std::vector<std::string> groups, std::vector<std::string> resources) {
  return {{"verbs", verbs}, {"apiGroups", groups}, {"resources", resources}};
}

access_attributes attributes(const std::string& method, const std::string& target) {
  return read_attributes(method, *parse_target(target));
}

json role_of(const std::string& name, const json& rules) {
  return {{"metadata", {{"name", name}}}, {"rules", rules}};
}

json cluster_binding(const std::string& role, const json& subjects = json::array()) {
  return {{"metadata", {{"name", "b"}}}, {"roleRef", {{"kind", "ClusterRole"}, {"name", role}}}, {"subjects", subjects}};
}

} // namespace

// -- what is asked ------------------------------------------------------------------------------------------------

SCENARIO("a request is read as a verb on a resource, whether that is served or not") {
  const auto pod = attributes("GET", "/api/v1/namespaces/n/pods/p/log");
  CHECK(pod.on_resource);
  CHECK_EQ(pod.verb + " " + pod.resource + "/" + pod.subresource + " " + pod.name_space + " " + pod.name, "get pods/log n p");
  CHECK_EQ(attributes("GET", "/api/v1/pods").verb, "list");
  CHECK_EQ(attributes("GET", "/api/v1/pods?watch=1").verb, "watch");
  CHECK_EQ(attributes("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp").name, "p");
  CHECK_EQ(attributes("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp,a%3Db").name, "");
  CHECK_EQ(attributes("DELETE", "/apis/a.b/v1/namespaces/n/things").verb, "deletecollection");
  CHECK_EQ(attributes("DELETE", "/apis/a.b/v1/namespaces/n/things").group, "a.b");
  CHECK_EQ(attributes("PUT", "/apis/a.b/v1/things/x/status").subresource, "status");
  // A namespace is in itself.
  const auto space = attributes("PATCH", "/api/v1/namespaces/n");
  CHECK_EQ(space.verb + " " + space.resource + " " + space.name_space + " " + space.name, "patch namespaces n n");
  CHECK_EQ(attributes("PUT", "/api/v1/namespaces/n/finalize").subresource, "finalize");
  const auto path = attributes("GET", "/apis/a.b/v1");
  CHECK(!path.on_resource);
  CHECK_EQ(path.verb + " " + path.path, "get /apis/a.b/v1");
}

// -- what is granted ----------------------------------------------------------------------------------------------

SCENARIO("a rule allows what its verbs, groups, resources and names say") {
  const policy_rule pods{{"get", "list"}, {""}, {"pods", "*/status"}, {}, {}};
  CHECK(allows(pods, attributes("GET", "/api/v1/namespaces/n/pods/p")));
  CHECK(allows(pods, attributes("GET", "/api/v1/pods")));
  CHECK(!allows(pods, attributes("GET", "/api/v1/pods?watch=1")));
  CHECK(!allows(pods, attributes("GET", "/api/v1/namespaces/n/pods/p/log")));
  CHECK(allows(pods, attributes("GET", "/api/v1/namespaces/n/services/s/status")));
  CHECK(!allows(pods, attributes("GET", "/apis/a.b/v1/pods")));
  const policy_rule one{{"*"}, {"*"}, {"pods"}, {"p"}, {}};
  CHECK(allows(one, attributes("DELETE", "/api/v1/namespaces/n/pods/p")));
  CHECK(!allows(one, attributes("DELETE", "/api/v1/namespaces/n/pods/q")));
  CHECK(!allows(one, attributes("GET", "/api/v1/namespaces/n/pods")));
  CHECK(!allows(one, attributes("POST", "/api/v1/namespaces/n/pods")));
  const policy_rule paths{{"get"}, {}, {}, {}, {"/api/*", "/healthz"}};
  CHECK(allows(paths, attributes("GET", "/api/v1")));
  CHECK(allows(paths, attributes("GET", "/healthz")));
  CHECK(!allows(paths, attributes("GET", "/healthz/x")));
  CHECK(!allows(paths, attributes("GET", "/api")));
  CHECK(!allows(paths, attributes("GET", "/api/v1/pods")));
}

// [C 218]
SCENARIO("without a binding a user may do nothing but look around, and the refusal names what it tried") {
  gated_world w;
  const auto message = [&](const std::string& method, const std::string& target) {
    const auto got = w.ask(nobody, method, target);
    CHECK_EQ(got.status, 403u);
    CHECK_EQ(text_at(got.body, {"reason"}), "Forbidden");
    return got.message();
  };
  CHECK_EQ(message("GET", "/api/v1/namespaces/default/pods/x"),
           R"(pods "x" is forbidden: User "nobody" cannot get resource "pods" in API group "" in the namespace "default")");
  CHECK_EQ(message("GET", "/api/v1/namespaces/default/pods/x/log"),
           R"(pods "x" is forbidden: User "nobody" cannot get resource "pods/log" in API group "" in the namespace "default")");
  CHECK_EQ(
    message("GET", rbac + "/clusterroles"),
    R"(clusterroles.rbac.authorization.k8s.io is forbidden: User "nobody" cannot list resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope)");
  CHECK_EQ(message("DELETE", "/api/v1/namespaces/default/pods"),
           R"(pods is forbidden: User "nobody" cannot deletecollection resource "pods" in API group "" in the namespace "default")");
  CHECK_EQ(
    message("GET", "/api/v1/namespaces/default"),
    R"(namespaces "default" is forbidden: User "nobody" cannot get resource "namespaces" in API group "" in the namespace "default")");
  // What is not served is not told of either.
  CHECK_EQ(message("GET", "/api/v1/namespaces/default/unknowns/x"),
           R"(unknowns "x" is forbidden: User "nobody" cannot get resource "unknowns" in API group "" in the namespace "default")");
  CHECK_EQ(message("GET", "/metrics"), R"(forbidden: User "nobody" cannot get path "/metrics")");
  CHECK_JSON(w.ask(nobody, "GET", "/metrics").body["details"], json::object());
  CHECK_JSON(w.ask(nobody, "GET", "/api/v1/namespaces/default/pods/x").body["details"], (json{{"name", "x"}, {"kind", "pods"}}));
  // A policy that refuses everything is asked of those only who have the right; the body is not even read before.
  const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
  const json everything{{"apiGroups", {"*"}}, {"apiVersions", {"*"}}, {"operations", {"*"}}, {"resources", {"*"}}};
  w.make(admission + "validatingadmissionpolicies", {{"metadata", {{"name", "closed"}}},
                                                     {"spec",
                                                      {{"matchConstraints", {{"resourceRules", {everything}}}},
                                                       {"validations", {{{"expression", "false"}, {"message", "closed"}}}}}}});
  w.make(admission + "validatingadmissionpolicybindings",
         {{"metadata", {{"name", "closed"}}}, {"spec", {{"policyName", "closed"}, {"validationActions", {"Deny"}}}}});
  const json map{{"metadata", {{"name", "m"}}}};
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  CHECK(w.ask(w.root, "POST", maps, map).message().ends_with("denied request: closed"));
  CHECK_EQ(w.ask(nobody, "POST", maps, map).message(),
           R"(configmaps is forbidden: User "nobody" cannot create resource "configmaps" in API group "" in the namespace "default")");
  CHECK_EQ(w.ask(nobody, "POST", maps, json::array()).status, 403u);
  CHECK_EQ(w.ask(nobody, "GET", "/api").status, 200u);
  CHECK_EQ(w.ask(nobody, "GET", "/version").status, 200u);
  CHECK_EQ(w.ask(anonymous_user(), "GET", "/api").message(), R"(forbidden: User "system:anonymous" cannot get path "/api")");
  CHECK_EQ(w.ask(anonymous_user(), "GET", "/version").status, 200u);
}

namespace {

/// A world in which `lists` may list pods where it is bound.
struct listing_world : gated_world {
  listing_world() {
    cluster_role("lists", json::array({rule({"list"}, {""}, {"pods"})}));
  }
  unsigned status(const user_info& who, const std::string& path) {
    return ask(who, "GET", path).status;
  }
};

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string others = "/api/v1/namespaces/other/pods";
const user_info robot{"system:serviceaccount:other:robot", {"system:serviceaccounts", "system:serviceaccounts:other"}};

} // namespace

SCENARIO("a role counts where it is bound, for the user that is bound to it") {
  listing_world w;
  w.bind_in("default", "lists", {{"kind", "User"}, {"name", "alice"}});
  CHECK_EQ(w.status(alice, pods), 200u);
  CHECK_EQ(w.status(alice, others), 403u);
  CHECK_EQ(w.status(alice, "/api/v1/pods"), 403u);
  CHECK_EQ(w.status(nobody, pods), 403u);
}

SCENARIO("a right ends with the binding") {
  listing_world w;
  w.bind_in("default", "lists", {{"kind", "User"}, {"name", "alice"}});
  REQUIRE_EQ(w.ask(w.root, "DELETE", rbac + "/namespaces/default/rolebindings/lists").status, 200u);
  CHECK_EQ(w.status(alice, pods), 403u);
}

SCENARIO("a right ends with the rule") {
  listing_world w;
  w.bind_in("default", "lists", {{"kind", "User"}, {"name", "alice"}});
  REQUIRE_EQ(w.ask(w.root, "PATCH", rbac + "/clusterroles/lists", {{"rules", json::array()}}, merge).status, 200u);
  CHECK_EQ(w.status(alice, pods), 403u);
}

SCENARIO("a group that is bound stands for its members") {
  listing_world w;
  w.bind_in("default", "lists", {{"kind", "Group"}, {"name", "builders"}});
  CHECK_EQ(w.status(alice, pods), 200u);
  CHECK_EQ(w.status(nobody, pods), 403u);
}

SCENARIO("a service account of another namespace is bound by its name there") {
  listing_world w;
  w.bind_in("default", "lists", {{"kind", "ServiceAccount"}, {"name", "robot"}, {"namespace", "other"}});
  CHECK_EQ(w.status(robot, pods), 200u);
  CHECK_EQ(w.status(robot, others), 403u);
}

SCENARIO("all service accounts of a namespace are a group") {
  listing_world w;
  w.bind_in("default", "lists", {{"kind", "Group"}, {"name", "system:serviceaccounts:other"}});
  CHECK_EQ(w.status(robot, pods), 200u);
  CHECK_EQ(w.status(alice, pods), 403u);
}

SCENARIO("an object is not watched by its path: it is read, by who may read it") {
  gated_world w;
  w.cluster_role("gets", json::array({rule({"get"}, {""}, {"configmaps"})}));
  w.bind_in("default", "gets", {{"kind", "User"}, {"name", "alice"}});
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  w.make(maps, {{"metadata", {{"name", "m"}}}});
  const auto got = w.ask(alice, "GET", maps + "/m?watch=1");
  CHECK_EQ(text_at(got.body, {"metadata", "name"}), "m");
  CHECK_EQ(w.ask(w.root, "GET", maps + "/absent?watch=true").status, 404u);
  CHECK_EQ(w.ask(alice, "GET", maps + "?watch=1").status, 403u);
  CHECK_EQ(w.ask(alice, "GET", maps + "?watch=1&fieldSelector=metadata.name%3Dm").status, 403u);
  CHECK_EQ(attributes("GET", maps + "/m?watch=1").verb, "get");
}

SCENARIO("a role that is bound cluster-wide counts in every namespace and above") {
  listing_world w;
  w.bind_everywhere("lists", "alice");
  CHECK_EQ(w.status(alice, others), 200u);
  CHECK_EQ(w.status(alice, "/api/v1/pods"), 200u);
  CHECK_EQ(w.status(alice, pods + "/p"), 403u);
}

SCENARIO("the roles of every cluster are there, and those that aggregate have the rules of those they select") {
  gated_world w;
  const auto rules = [&](const std::string& name) { return w.ask(w.root, "GET", rbac + "/clusterroles/" + name).body["rules"]; };
  CHECK_EQ(rules("cluster-admin").size(), 2u);
  CHECK_GT(rules("admin").size(), rules("edit").size());
  CHECK_GT(rules("edit").size(), rules("view").size());
  CHECK_JSON(rules("view"), rules("system:aggregate-to-view"));
  w.bind_in("default", "edit", {{"kind", "User"}, {"name", "alice"}});
  CHECK_EQ(w.ask(alice, "GET", "/api/v1/namespaces/default/pods").status, 200u);
  CHECK_EQ(w.ask(alice, "GET", "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes").status, 403u);
  // One more role to select, and edit selects what view has.
  auto part = role_of("sandbox-view", json::array({rule({"get", "list"}, {"agents.x-k8s.io"}, {"sandboxes"})}));
  part["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] = "true";
  w.make(rbac + "/clusterroles", part);
  CHECK_EQ(w.ask(alice, "GET", "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes").status, 200u);
  REQUIRE_EQ(w.ask(w.root, "DELETE", rbac + "/clusterroles/sandbox-view").status, 200u);
  CHECK_EQ(w.ask(alice, "GET", "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes").status, 403u);
}

SCENARIO("roles that aggregate one another settle") {
  for (const int number : {2, 3, 5}) {
    gated_world w;
    const auto name = [](int i) { return "ring" + std::to_string(i); };
    // Each selects the next one, and the first one also a role that has rules.
    for (int i = 0; i < number; ++i) {
      auto role = role_of(name(i), json::array({rule({"get"}, {""}, {"r" + std::to_string(i)})}));
      role["metadata"]["labels"]["is"] = name(i);
      auto& selectors = role["aggregationRule"]["clusterRoleSelectors"];
      selectors.push_back({{"matchLabels", {{"is", name((i + 1) % number)}}}});
      if (i == 0)
        selectors.push_back({{"matchLabels", {{"is", "base"}}}});
      w.make(rbac + "/clusterroles", role);
    }
    auto base = role_of("base", json::array({rule({"list"}, {""}, {"pods"})}));
    base["metadata"]["labels"]["is"] = "base";
    w.make(rbac + "/clusterroles", base);
    for (int i = 0; i < number; ++i)
      CHECK_JSON(w.ask(w.root, "GET", rbac + "/clusterroles/" + name(i)).body["rules"], base["rules"]);
    const auto version = w.objects.version();
    for (int i = 0; i < 3; ++i)
      w.gate.catch_up();
    CHECK_EQ(w.objects.version(), version);
    CHECK(!aggregate_roles(w.objects));
    REQUIRE_EQ(w.ask(w.root, "DELETE", rbac + "/clusterroles/base").status, 200u);
    CHECK(w.ask(w.root, "GET", rbac + "/clusterroles/" + name(0)).body["rules"].empty());
  }
}

SCENARIO("an aggregation rule that is null takes no rules away") {
  gated_world w;
  auto role = role_of("r", json::array({rule({"get"}, {""}, {"pods"})}));
  role["aggregationRule"] = nullptr;
  w.make(rbac + "/clusterroles", role);
  const auto stored = w.ask(w.root, "GET", rbac + "/clusterroles/r").body;
  CHECK_JSON(stored["rules"], role["rules"]);
  CHECK(!stored.contains("aggregationRule"));
  CHECK(!aggregates(role));
  CHECK(aggregates({{"aggregationRule", json::object()}}));
}

// -- writes of rights ---------------------------------------------------------------------------------------------

SCENARIO("a role or binding that makes no sense is refused as the API refuses it") {
  gated_world w;
  const auto message = [&](const std::string& where, const json& object) {
    const auto got = w.ask(w.root, "POST", rbac + where, object);
    CHECK_EQ(got.status, 422u);
    return got.message();
  };
  const std::string roles = "/namespaces/default/roles";
  CHECK_EQ(
    message(roles, role_of("r", json::array({{{"apiGroups", {""}}, {"verbs", {"get"}}}}))),
    R"(Role.rbac.authorization.k8s.io "r" is invalid: rules[0].resources: Required value: resource rules must supply at least one resource)");
  CHECK_EQ(message(roles, role_of("r", json::array({{{"apiGroups", {""}}, {"resources", {"pods"}}}}))),
           R"(Role.rbac.authorization.k8s.io "r" is invalid: rules[0].verbs: Required value: verbs must contain at least one value)");
  CHECK_EQ(
    message(roles, role_of("r", json::array({{{"nonResourceURLs", {"/a"}}, {"verbs", {"get"}}}}))),
    R"(Role.rbac.authorization.k8s.io "r" is invalid: rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs)");
  CHECK_EQ(message(roles, role_of("a:B%", json::array())),
           R"(Role.rbac.authorization.k8s.io "a:B%" is invalid: metadata.name: Invalid value: "a:B%": may not contain '%')");
  CHECK_EQ(
    message("/clusterroles", {{"metadata", {{"name", "c"}}}, {"aggregationRule", json::object()}}),
    R"(ClusterRole.rbac.authorization.k8s.io "c" is invalid: aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil)");
  CHECK_EQ(
    message("/namespaces/default/rolebindings",
            {{"metadata", {{"name", "b"}}},
             {"roleRef", {{"kind", "Foo"}, {"name", ""}}},
             {"subjects", json::array({{{"kind", "Bar"}, {"name", ""}}, {{"kind", "User"}, {"apiGroup", "x"}, {"name", "n"}}})}}),
    R"(RoleBinding.rbac.authorization.k8s.io "b" is invalid: [roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole", roleRef.name: Required value, subjects[0].name: Required value, subjects[0].kind: Unsupported value: "Bar": supported values: "ServiceAccount", "User", "Group", subjects[1].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"])");
  CHECK_EQ(
    message("/clusterrolebindings", {{"metadata", {{"name", "b"}}},
                                     {"roleRef", {{"kind", "Role"}, {"name", "r"}}},
                                     {"subjects", json::array({{{"kind", "ServiceAccount"}, {"name", "n"}}})}}),
    R"(ClusterRoleBinding.rbac.authorization.k8s.io "b" is invalid: [roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole", subjects[0].namespace: Required value])");
  // A name that no other kind may have, and what is filled in.
  CHECK_JSON(w.ask(w.root, "POST", rbac + roles, role_of("a:B", json::array())).body["rules"], nullptr);
  const auto bound = w.ask(w.root, "POST", rbac + "/clusterrolebindings", cluster_binding("view", {{{"kind", "Group"}, {"name", "g"}}}));
  CHECK_EQ(text_at(bound.body, {"roleRef", "apiGroup"}), "rbac.authorization.k8s.io");
  CHECK_EQ(text_at(bound.body["subjects"][0], {"apiGroup"}), "rbac.authorization.k8s.io");
  const auto moved = w.ask(w.root, "PUT", rbac + "/clusterrolebindings/b", cluster_binding("edit"));
  CHECK_EQ(
    moved.message(),
    R"(ClusterRoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef)");
}

SCENARIO("nobody grants what it has not, unless it may escalate or bind") {
  gated_world w;
  w.cluster_role(
    "grants", json::array({rule({"create", "update", "patch"}, {"rbac.authorization.k8s.io"}, {"roles", "rolebindings", "clusterroles"})}));
  w.cluster_role("podget", json::array({rule({"get"}, {""}, {"pods"})}));
  w.bind_everywhere("grants", "nobody");
  const auto refusal = [&](const std::string& name, const std::string& plural, const std::string& lines) {
    return plural + ".rbac.authorization.k8s.io \"" + name
           + "\" is forbidden: user \"nobody\" (groups=[\"\" \"system:authenticated\"]) is attempting to grant RBAC permissions not "
             "currently "
             "held:"
           + lines;
  };
  const std::string roles = rbac + "/namespaces/default/roles";
  const std::string bindings = rbac + "/namespaces/default/rolebindings";
  auto many = json::array({rule({"get", "list"}, {"", "apps"}, {"pods", "deployments"}), rule({"get"}, {""}, {"secrets"}),
                           rule({"update", "get"}, {"rbac.authorization.k8s.io"}, {"roles"})});
  many[1]["resourceNames"] = {"a"};
  const auto denied = w.ask(nobody, "POST", roles, role_of("r", many));
  CHECK_EQ(denied.status, 403u);
  CHECK_EQ(denied.message(), refusal("r", "roles",
                                     R"(
{APIGroups:[""], Resources:["deployments"], Verbs:["get" "list"]}
{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}
{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}
{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}
{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}
{APIGroups:["rbac.authorization.k8s.io"], Resources:["roles"], Verbs:["get"]})"));
  const auto pod_lines = R"(
{APIGroups:[""], Resources:["pods"], Verbs:["get"]})";
  CHECK_EQ(w.ask(nobody, "PATCH", rbac + "/clusterroles/podget", {{"metadata", {{"labels", {{"a", "b"}}}}}}, merge).message(),
           refusal("podget", "clusterroles", pod_lines));
  CHECK_EQ(
    w.ask(nobody, "POST", rbac + "/clusterroles",
          {{"metadata", {{"name", "c"}}}, {"aggregationRule", {{"clusterRoleSelectors", json::array({{{"matchLabels", {{"x", "y"}}}}})}}}})
      .message(),
    "clusterroles.rbac.authorization.k8s.io \"c\" is forbidden: must have cluster-admin privileges to use the aggregationRule");
  const auto binding = [](const std::string& role) {
    return json{{"metadata", {{"name", "to-" + role}}},
                {"roleRef", {{"kind", "ClusterRole"}, {"name", role}}},
                {"subjects", {{{"kind", "User"}, {"name", "x"}}}}};
  };
  CHECK_EQ(w.ask(nobody, "POST", bindings, binding("podget")).message(), refusal("to-podget", "rolebindings", pod_lines));
  const auto missing = w.ask(nobody, "POST", bindings, binding("missing"));
  CHECK_EQ(missing.status, 404u);
  CHECK_EQ(missing.message(), "rolebindings.rbac.authorization.k8s.io \"missing\" not found");
  // What it has it may pass on, and less of it.
  CHECK_EQ(w.ask(nobody, "POST", bindings, binding("grants")).status, 201u);
  CHECK_EQ(w.ask(nobody, "PATCH", rbac + "/clusterroles/podget", {{"rules", json::array()}}, merge).status, 200u);
  WHEN("it may bind that role") {
    w.cluster_role("p2", json::array({rule({"get"}, {""}, {"pods"})}));
    auto bind = rule({"bind"}, {"rbac.authorization.k8s.io"}, {"clusterroles"});
    bind["resourceNames"] = {"p2"};
    w.cluster_role("binder", json::array({bind}));
    w.bind_everywhere("binder", "nobody");
    CHECK_EQ(w.ask(nobody, "POST", bindings, binding("p2")).status, 201u);
    CHECK_EQ(w.ask(nobody, "POST", bindings, binding("view")).status, 403u);
  }
  WHEN("it may escalate") {
    w.cluster_role("up", json::array({rule({"escalate"}, {"rbac.authorization.k8s.io"}, {"roles"})}));
    w.bind_everywhere("up", "nobody");
    CHECK_EQ(w.ask(nobody, "POST", roles, role_of("r", many)).status, 201u);
    CHECK_EQ(w.ask(nobody, "POST", rbac + "/clusterroles", role_of("r", many)).status, 403u);
  }
}

SCENARIO("a role with more rights than can be compared is refused by name, and at once") {
  gated_world w;
  w.cluster_role("grants", json::array({rule({"create"}, {"rbac.authorization.k8s.io"}, {"roles", "clusterroles"})}));
  w.bind_everywhere("grants", "nobody");
  const std::string roles = rbac + "/namespaces/default/roles";
  const auto names = [](const std::string& of, int n) {
    std::vector<std::string> out;
    for (int i = 0; i < n; ++i)
      out.push_back(of + std::to_string(i));
    return out;
  };
  const auto message = [&](json one) { return w.ask(nobody, "POST", roles, role_of("r", json::array({std::move(one)}))).message(); };
  const std::string refused =
    "roles.rbac.authorization.k8s.io \"r\" is forbidden: its rules name more combinations of verb, group, resource "
    "and name than can be compared with the permissions of user \"nobody\" (100000)";
  CHECK_EQ(message(rule(names("v", 1'000), names("g", 1'000), names("r", 1'000))), refused);
  auto named = rule({"get"}, {""}, {"pods"});
  named["resourceNames"] = names("n", 100'001);
  CHECK_EQ(message(named), refused);
  CHECK_EQ(message(rule(names("v", 1'000), {std::string(100'000, 'g')}, {"pods"})), refused);
  CHECK_NE(message(rule(names("v", 10), names("g", 10), names("r", 10))).find("permissions not currently held"), std::string::npos);
  // Who holds everything is not asked.
  CHECK_EQ(w.ask(w.root, "POST", roles, role_of("r", json::array({rule(names("v", 100), names("g", 100), names("r", 100))}))).status, 201u);
  // A long list on the other side is work as well.
  const policy_rule held{{"get"}, {""}, names("r", 100'000), {}, {}};
  const policy_rule wanted{{"get"}, {""}, names("r", 2'000), {}, {}};
  CHECK(too_many({&held, 1}, {&wanted, 1}));
  CHECK(!too_many({}, {&wanted, 1}));
}

// -- reviews ------------------------------------------------------------------------------------------------------

SCENARIO("a review of access says whether, and by which binding") {
  gated_world w;
  const std::string authorization = "/apis/authorization.k8s.io/v1/";
  const auto review = [&](const user_info& who, const std::string& plural, const json& spec) {
    return w.ask(who, "POST", authorization + plural, {{"spec", spec}});
  };
  const json reads_pods{{"verb", "get"}, {"resource", "pods"}, {"namespace", "default"}};
  auto self = review(nobody, "selfsubjectaccessreviews", {{"resourceAttributes", reads_pods}});
  CHECK_EQ(self.status, 201u);
  CHECK_JSON(self.body["status"], (json{{"allowed", false}}));
  CHECK_JSON(self.body["spec"]["resourceAttributes"], reads_pods);
  CHECK_JSON(review(w.root, "selfsubjectaccessreviews", {{"resourceAttributes", reads_pods}}).body["status"], (json{{"allowed", true}}));
  CHECK_EQ(text_at(review(nobody, "selfsubjectaccessreviews", {{"nonResourceAttributes", {{"verb", "get"}, {"path", "/api"}}}}).body,
                   {"status", "reason"}),
           R"(RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated")");
  w.cluster_role("podget", json::array({rule({"get"}, {""}, {"pods"})}));
  w.bind_in("default", "podget", {{"kind", "ServiceAccount"}, {"name", "robot"}, {"namespace", "other"}});
  auto other = review(w.root, "subjectaccessreviews", {{"user", "system:serviceaccount:other:robot"}, {"resourceAttributes", reads_pods}});
  CHECK_EQ(text_at(other.body, {"status", "reason"}),
           R"(RBAC: allowed by RoleBinding "podget/default" of ClusterRole "podget" to ServiceAccount "robot/other")");
  CHECK_EQ(review(nobody, "subjectaccessreviews", {{"user", "a"}, {"resourceAttributes", reads_pods}}).status, 403u);
  // What makes no sense.
  const auto message = [&](const std::string& plural, const json& spec) {
    auto got = review(w.root, plural, spec);
    CHECK_EQ(got.status, 422u);
    return got.message();
  };
  CHECK_EQ(
    message("selfsubjectaccessreviews", json::object()),
    R"(.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified)");
  CHECK_EQ(message("subjectaccessreviews", {{"resourceAttributes", reads_pods}}),
           R"(.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified)");
  CHECK_EQ(
    message("namespaces/other/localsubjectaccessreviews", {{"user", "a"}, {"resourceAttributes", reads_pods}}),
    R"(.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace)");
  CHECK_EQ(review(w.root, "namespaces/default/localsubjectaccessreviews", {{"user", "a"}, {"resourceAttributes", reads_pods}}).status,
           201u);
  CHECK_EQ(w.ask(w.root, "GET", authorization + "subjectaccessreviews").status, 405u);
  CHECK_EQ(w.ask(w.root, "GET", authorization + "subjectaccessreviews/x").message(), "the server could not find the requested resource");
}

SCENARIO("a review of rules lists what holds in the namespace") {
  gated_world w;
  const std::string path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
  w.cluster_role("podget", json::array({rule({"get"}, {""}, {"pods"})}));
  w.bind_in("default", "podget", {{"kind", "User"}, {"name", "alice"}});
  const auto here = w.ask(alice, "POST", path, {{"spec", {{"namespace", "default"}}}}).body["status"];
  const auto there = w.ask(alice, "POST", path, {{"spec", {{"namespace", "other"}}}}).body["status"];
  CHECK_EQ(here["resourceRules"].size(), there["resourceRules"].size() + 1);
  CHECK_JSON(here["resourceRules"].back(), rule({"get"}, {""}, {"pods"}));
  CHECK_JSON(here["incomplete"], false);
  CHECK_EQ(w.ask(alice, "POST", path, {{"spec", json::object()}}).message(), "no namespace on request");
}

SCENARIO("the index gives a user the rules it is bound to, whatever others are bound to") {
  gated_world w;
  w.cluster_role("podget", json::array({rule({"get"}, {""}, {"pods"})}));
  w.bind_everywhere("podget", "alice");
  const auto before = w.gate.rights().rules_of(alice, "default").size();
  for (int i = 0; i < 200; ++i)
    w.bind_everywhere("podget", "other" + std::to_string(i));
  CHECK_EQ(w.gate.rights().rules_of(alice, "default").size(), before);
}
