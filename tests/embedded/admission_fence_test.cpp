#define CAF_SUITE admission_fence

#include "admission_servers.hpp"

// The fence that operators ship ([E] 7.3, 4.7): writes that it admits and writes that it refuses, before the embedded server
// and, in the test labelled `realcluster`, before a real one.

using namespace paddock;
using namespace paddock::embedded;
using paddock::test::either_server;

namespace {

const std::string admission = "/apis/admissionregistration.k8s.io/v1/";

std::string collection(const json& object) {
  return "/apis/cilium.io/v2/namespaces/" + text_at(object, {"metadata", "namespace"}) + "/ciliumnetworkpolicies";
}

/// The kind that the policies are about. It is not served without Cilium; the rules are asked directly then.
constexpr resource_kind cilium_policy{.group = "cilium.io",
                                      .version = "v2",
                                      .plural = "ciliumnetworkpolicies",
                                      .singular = "ciliumnetworkpolicy",
                                      .kind = "CiliumNetworkPolicy",
                                      .custom = true};

api_result<void> judge_embedded(either_server& server, const json& one) {
  const auto& object = one.contains("object") ? one["object"] : one["old"];
  const auto operation = one["operation"].get<std::string>();
  const auto name = text_at(object, {"metadata", "name"});
  const auto method = operation == "CREATE" ? "POST" : operation == "UPDATE" ? "PUT" : "DELETE";
  const auto target = parse_target(collection(object) + (operation == "CREATE" ? "" : "/" + name));
  const user_info who{one["user"].get<std::string>(), {"system:authenticated"}};
  const auto attributes = read_attributes(method, *target);
  std::vector<std::string> warnings;
  auto& world = server.embedded();
  world.gate.catch_up();
  return world.gate.admit({who, attributes, cilium_policy, operation, true, one.contains("object") ? &one["object"] : nullptr,
                           one.contains("old") ? &one["old"] : nullptr},
                          warnings);
}

/// The refusal, or an empty text.
std::string judge_real(either_server& server, const json& one) {
  const auto user = one["user"].get<std::string>();
  auto got = either_server::reply{};
  if (one["operation"] == "CREATE") {
    got = server.ask("POST", collection(one["object"]) + "?dryRun=All", one["object"], user);
  } else {
    const auto& old = one["old"];
    const auto at = collection(old) + "/" + text_at(old, {"metadata", "name"});
    server.make(collection(old), old);
    if (one["operation"] == "DELETE") {
      got = server.ask("DELETE", at + "?dryRun=All", nullptr, user);
    } else {
      auto object = one["object"];
      object["metadata"]["resourceVersion"] = text_at(server.ask("GET", at).body, {"metadata", "resourceVersion"});
      got = server.ask("PUT", at + "?dryRun=All", object, user);
    }
    CHECK_EQ(server.ask("DELETE", at).status, 200u);
  }
  CHECK(got.status == 200 || got.status == 201 || got.status == 403);
  return got.status == 403 ? got.message() : std::string{};
}

/// A real server puts a write to its policies in no order: where both refuse it, either may be the one that is told.
bool told_by_companion(const std::string& refusal) {
  return refusal.find("ValidatingAdmissionPolicy 'namzu-per-sandbox-egress-hosts'") != std::string::npos;
}

void install(either_server& server, const json& manifests) {
  for (const auto* which : {"fence", "companion"}) {
    server.make(admission + "validatingadmissionpolicies", manifests[which][0]);
    server.make(admission + "validatingadmissionpolicybindings", manifests[which][1]);
  }
  server.make("/api/v1/namespaces/platform/configmaps", manifests["parameters"]);
}

/// What only a real server needs: the namespaces, users that may write, and time to take the policies in.
void prepare_real(either_server& server, const json& cases) {
  for (const auto* name : {"platform", "namzu-sandboxes"})
    server.make("/api/v1/namespaces", {{"metadata", {{"name", name}}}});
  auto users = json::array();
  for (const auto& one : cases)
    users.push_back({{"kind", "User"}, {"name", one["user"]}});
  server.make(
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    {{"metadata", {{"name", "writers"}}}, {"roleRef", {{"kind", "ClusterRole"}, {"name", "cluster-admin"}}}, {"subjects", users}});
}

} // namespace

SCENARIO("the shipped fence admits what the writer emits and refuses everything wider") {
  either_server server;
  const auto manifests = test::read_json(PADDOCK_TEST_FENCE "/manifests.json");
  const auto cases = test::read_json(PADDOCK_TEST_FENCE "/cases.json");
  REQUIRE_GT(cases.size(), 60u);
  if (server.real())
    prepare_real(server, cases);
  install(server, manifests);
  if (server.real()) {
    // Both policies, each by a write that only it refuses.
    for (const auto& one : cases)
      if (one["name"] == "no rule" || one["name"] == "a host that is not permitted")
        server.wait_for(403, "POST", collection(one["object"]) + "?dryRun=All", one["object"], one["user"].get<std::string>());
  }
  for (const auto& one : cases) {
    CAF_MESSAGE(one["name"].get<std::string>());
    std::string refusal;
    if (server.real()) {
      refusal = judge_real(server, one);
    } else if (const auto admitted = judge_embedded(server, one); !admitted) {
      CHECK_EQ(admitted.error().code, 403u);
      CHECK_EQ(admitted.error().reason, "Forbidden");
      refusal = admitted.error().message;
    }
    if (one["denied"].is_null())
      CHECK_EQ(refusal, "");
    else
      CHECK(refusal.ends_with("denied request: " + one["denied"].get<std::string>()) || (server.real() && told_by_companion(refusal)));
  }
}

SCENARIO("without its parameters the companion refuses every write of the host") {
  either_server server;
  if (server.real())
    return; // the namespace stands already: the embedded half covers it
  const auto manifests = test::read_json(PADDOCK_TEST_FENCE "/manifests.json");
  const auto cases = test::read_json(PADDOCK_TEST_FENCE "/cases.json");
  install(server, manifests);
  CHECK(judge_embedded(server, cases[0]).has_value());
  REQUIRE_EQ(server.ask("DELETE", "/api/v1/namespaces/platform/configmaps/sandbox-permitted-hosts").status, 200u);
  const auto refused = judge_embedded(server, cases[0]);
  REQUIRE(!refused);
  CHECK(refused.error().message.ends_with(
    "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"));
}
