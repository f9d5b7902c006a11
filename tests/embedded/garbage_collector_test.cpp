#define CAF_SUITE garbage_collector

#include "embedded/claim_protection.hpp"
#include "embedded/garbage_collector.hpp"
#include "embedded/namespace_end.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/resource.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;
using nlohmann::json;

namespace {

json object(const std::string& name, const std::string& uid, const std::string& version = "1") {
  return json{{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", name}, {"namespace", "n"}, {"uid", uid}, {"resourceVersion", version}}}};
}

json owned(const std::vector<std::string>& owners) {
  auto result = object("c", "u-c");
  for (const auto& x : owners)
    result["metadata"]["ownerReferences"].push_back(
      json{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"name", "s"}, {"uid", x}});
  return result;
}

owner_lookup knowing(std::map<std::string, owner_state> states) {
  return [states](const json& reference, const std::string&) { return states.at(text_in(reference, "/uid")); };
}

} // namespace

SCENARIO("an object goes when all of its owners are gone") {
  auto call = collect(owned({"a", "b"}), knowing({{"a", owner_state::gone}, {"b", owner_state::gone}}), true);
  REQUIRE(call);
  CHECK_EQ(call->method, "DELETE");
  CHECK_EQ(call->path, "/api/v1/namespaces/n/configmaps/c");
  CHECK_EQ(text_in(call->body, "/preconditions/uid"), "u-c");
  CHECK_EQ(text_in(call->body, "/propagationPolicy"), "Background");
}

SCENARIO("an object whose owner waits for it goes in the foreground, if something waits for it in turn") {
  auto call = collect(owned({"a", "b"}), knowing({{"a", owner_state::gone}, {"b", owner_state::waits}}), true);
  REQUIRE(call);
  CHECK_EQ(text_in(call->body, "/propagationPolicy"), "Foreground");
  call = collect(owned({"a"}), knowing({{"a", owner_state::waits}}), false);
  REQUIRE(call);
  CHECK_EQ(text_in(call->body, "/propagationPolicy"), "Background");
}

SCENARIO("an owner is gone only by a 404 that names it") {
  auto owner = json{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"name", "a"}, {"uid", "u"}};
  CHECK(says_gone(owner, 404, "sandboxes.agents.x-k8s.io \"a\" not found"));
  CHECK(!says_gone(owner, 404, "the server could not find the requested resource"));
  CHECK(!says_gone(owner, 404, "sandboxes.agents.x-k8s.io \"ba\" not found"));
  CHECK(!says_gone(owner, 404, "the API server answered 404"));
  CHECK(!says_gone(owner, 503, "sandboxes.agents.x-k8s.io \"a\" not found"));
}

SCENARIO("the kinds that are collected are those whose paths are known") {
  for (const auto& kind : served_kinds()) {
    const auto path = path_of(json{{"apiVersion", kind.api_version()}, {"kind", kind.kind}, {"name", "x"}}, "n");
    CHECK_EQ(path.has_value(), kind.collected);
    CHECK((!kind.collected || kind.namespaced));
  }
}

SCENARIO("an object stays with one owner that stands or is not known, without owners, and while it terminates") {
  CHECK(!collect(owned({"a", "b"}), knowing({{"a", owner_state::gone}, {"b", owner_state::stands}}), false));
  CHECK(!collect(owned({"a", "b"}), knowing({{"a", owner_state::gone}, {"b", owner_state::unknown}}), false));
  CHECK(!collect(object("c", "u-c"), knowing({}), false));
  auto ending = owned({"a"});
  ending["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z";
  CHECK(!collect(ending, knowing({{"a", owner_state::gone}}), false));
}

SCENARIO("an object that stays with one owner is let go by those that are gone or wait for it") {
  auto child = owned({"a", "b", "c"});
  auto call = let_go(child, knowing({{"a", owner_state::gone}, {"b", owner_state::stands}, {"c", owner_state::waits}}));
  REQUIRE(call);
  CHECK_EQ(call->method, "PATCH");
  const auto left = child.patch(call->body)["metadata"]["ownerReferences"];
  REQUIRE_EQ(left.size(), 1u);
  CHECK_EQ(text_in(left[0], "/uid"), "b");
  // Only as it was read.
  CHECK_EQ(text_in(call->body, "/0/value"), "u-c");
  CHECK_EQ(text_in(call->body, "/1/value"), "1");
  CHECK(!let_go(child, knowing({{"a", owner_state::stands}, {"b", owner_state::stands}, {"c", owner_state::stands}})));
  CHECK(!let_go(child, knowing({{"a", owner_state::gone}, {"b", owner_state::gone}, {"c", owner_state::waits}})));
  CHECK(!let_go(child, knowing({{"a", owner_state::gone}, {"b", owner_state::stands}, {"c", owner_state::unknown}})));
  CHECK(!let_go(object("c", "u-c"), knowing({})));
}

SCENARIO("a terminating claim is let go when no pod uses it") {
  auto claim = object("workspace-w", "u-p");
  claim["kind"] = "PersistentVolumeClaim";
  claim["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z";
  claim["metadata"]["finalizers"] = json::array({"other", "kubernetes.io/pvc-protection"});
  auto pod = object("w", "u-w");
  pod["spec"]["volumes"] = json::array({json{{"name", "workspace"}, {"persistentVolumeClaim", {{"claimName", "workspace-w"}}}}});
  CHECK(release_claim(claim, {pod})); // it has no node yet, so no disk
  pod["spec"]["nodeName"] = "n1";
  CHECK(!release_claim(claim, {pod}));
  auto call = release_claim(claim, {});
  REQUIRE(call);
  CHECK_EQ(claim.patch(call->body)["metadata"]["finalizers"].dump(), R"(["other"])");
  // Another namespace's pod uses another claim; an ended pod uses none.
  pod["metadata"]["namespace"] = "other";
  CHECK(release_claim(claim, {pod}));
  pod["metadata"]["namespace"] = "n";
  pod["status"]["phase"] = "Failed";
  CHECK(release_claim(claim, {pod}));
  claim["metadata"].erase("deletionTimestamp");
  CHECK(!release_claim(claim, {}));
}

SCENARIO("a foreground deletion ends when nothing that blocks it is left") {
  auto owner = object("o", "a");
  owner["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z";
  owner["metadata"]["finalizers"] = json::array({"foregroundDeletion"});
  auto child = owned({"a"});
  CHECK(end_foreground(owner, {child}));
  child["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = true;
  CHECK(!end_foreground(owner, {child}));
  auto call = end_foreground(owner, {});
  REQUIRE(call);
  CHECK_EQ(owner.patch(call->body)["metadata"]["finalizers"].dump(), "[]");
}

SCENARIO("a claim is protected once, as it was read") {
  auto claim = object("c", "u-p", "7");
  claim["kind"] = "PersistentVolumeClaim";
  claim["metadata"]["finalizers"] = json::array({"other"});
  auto call = protect_claim(claim);
  REQUIRE(call);
  CHECK_EQ(text_in(call->body, "/metadata/resourceVersion"), "7");
  claim.merge_patch(call->body);
  CHECK_EQ(claim["metadata"]["finalizers"].dump(), R"(["other","kubernetes.io/pvc-protection"])");
  CHECK(!protect_claim(claim));
  claim["metadata"]["finalizers"] = json::array();
  claim["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z";
  CHECK(!protect_claim(claim));
}

// -- the end of a namespace -----------------------------------------------------

SCENARIO("a namespace waits for its content while it terminates with its finalizer") {
  auto x = json::parse(R"({"metadata": {"name": "n"}, "spec": {"finalizers": ["other", "kubernetes"]}})");
  CHECK(!waits_for_content(x));
  x["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z";
  CHECK(waits_for_content(x));
  auto call = finalize_namespace(x);
  CHECK_EQ(call.method, "PUT");
  CHECK_EQ(call.path, "/api/v1/namespaces/n/finalize");
  CHECK_EQ(call.body["spec"]["finalizers"].dump(), R"(["other"])");
  CHECK(!waits_for_content(call.body));
}

SCENARIO("what a namespace may hold is what discovery says can be listed and deleted") {
  CHECK_EQ(group_paths(json::parse(R"({"groups": [{"name": "apps", "preferredVersion": {"groupVersion": "apps/v1"}}]})")),
           (std::vector<std::string>{"/api/v1", "/apis/apps/v1"}));
  CHECK_EQ(removable_resources(json::parse(R"({"resources": [
             {"name": "pods", "namespaced": true, "verbs": ["delete", "list"]},
             {"name": "pods/status", "namespaced": true, "verbs": ["delete", "list"]},
             {"name": "nodes", "namespaced": false, "verbs": ["delete", "list"]},
             {"name": "bindings", "namespaced": true, "verbs": ["create"]}]})")),
           std::vector<std::string>{"pods"});
}

SCENARIO("an object that is deleted without its dependants lets go of each of them, and then goes") {
  auto owner = object("o", "a");
  CHECK(orphan(owner, {owned({"a"})}).empty());
  owner["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z";
  owner["metadata"]["finalizers"] = {"orphan"};
  const auto writes = orphan(owner, {owned({"a", "b"})});
  REQUIRE_EQ(writes.size(), 2u);
  CHECK_EQ(writes[0].path, "/api/v1/namespaces/n/configmaps/c");
  CHECK_EQ(text_in(writes[0].body, "/2/path"), "/metadata/ownerReferences");
  CHECK_EQ(value_in(writes[0].body, "/2/value").size(), 1u);
  CHECK_EQ(text_in(writes[0].body, "/2/value/0/uid"), "b");
  CHECK_EQ(writes[1].path, "/api/v1/namespaces/n/configmaps/o");
  CHECK_EQ(text_in(writes[1].body, "/1/value"), "orphan");
}
