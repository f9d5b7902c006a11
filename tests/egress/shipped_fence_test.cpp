#define CAF_SUITE shipped_fence

#include "egress/per_sandbox_policy.hpp"
#include "egress/permitted_hosts.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/embedded/admission_servers.hpp"

// The manifests under deploy/egress, before the embedded server and, in the test labelled `realcluster`, before a real one: every
// object is accepted, and a table of writes is admitted or refused as it says.

using namespace paddock;
using namespace paddock::embedded;
using paddock::test::either_server;
using paddock::test::shipped;

namespace {

constexpr auto host = "system:serviceaccount:namzu-sandboxes:namzu-sandbox-host";
constexpr auto claimant = "system:serviceaccount:namzu-sandboxes:namzu-sandbox-claimant";

std::string path_of(const std::string& group, const json& object, const std::string& resource) {
  const auto space = text_at(object, {"metadata", "namespace"});
  return group + (space.empty() ? "" : "namespaces/" + space + "/") + resource;
}

/// The collection that an object of a manifest belongs to.
std::string collection_of(const json& x) {
  const auto kind = text_at(x, {"kind"});
  const auto rbac = std::string{"/apis/rbac.authorization.k8s.io/v1/"};
  const auto admission = std::string{"/apis/admissionregistration.k8s.io/v1/"};
  const auto all = std::map<std::string, std::pair<std::string, const char*>>{
    {"CiliumNetworkPolicy", {"/apis/cilium.io/v2/", "ciliumnetworkpolicies"}},
    {"ClusterRole", {rbac, "clusterroles"}},
    {"ClusterRoleBinding", {rbac, "clusterrolebindings"}},
    {"ConfigMap", {"/api/v1/", "configmaps"}},
    {"NetworkPolicy", {"/apis/networking.k8s.io/v1/", "networkpolicies"}},
    {"Role", {rbac, "roles"}},
    {"RoleBinding", {rbac, "rolebindings"}},
    {"ServiceAccount", {"/api/v1/", "serviceaccounts"}},
    {"ValidatingAdmissionPolicy", {admission, "validatingadmissionpolicies"}},
    {"ValidatingAdmissionPolicyBinding", {admission, "validatingadmissionpolicybindings"}},
  };
  const auto it = all.find(kind);
  if (it == all.end())
    CAF_FAIL("no collection for kind " << kind);
  return path_of(it->second.first, x, it->second.second);
}

std::string policies_of(const json& object) {
  return path_of("/apis/cilium.io/v2/", object, "ciliumnetworkpolicies");
}

/// Applies what is shipped; each object must be accepted as it is.
void install(either_server& server, const std::vector<std::string>& files) {
  for (const auto& file : files)
    for (const auto& x : shipped(file))
      // The embedded server has no service accounts; their rights hold for the names that they would have.
      if (server.real() || x["kind"] != "ServiceAccount")
        server.make(collection_of(x), x);
}

const auto all_but_permitted_hosts = std::vector<std::string>{"baseline.yaml", "rbac.yaml", "rbac-per-sandbox-egress.yaml", "fence.yaml"};

/// A server with the namespaces and the kind that the manifests are about.
void prepare(either_server& server) {
  if (!server.real())
    return server.embedded().objects.serve_cilium();
  for (const auto* name : {"platform", "namzu-sandboxes"})
    server.make("/api/v1/namespaces", {{"metadata", {{"name", name}}}});
}

// -- the table ------------------------------------------------------------------------

/// `patch` laid over `base`; null stays, and takes the member away once it is sent as a merge patch.
json overlaid(json base, const json& patch) {
  if (!base.is_object() || !patch.is_object())
    return patch;
  for (const auto& [name, value] : patch.items())
    base[name] = base.contains(name) ? overlaid(base[name], value) : value;
  return base;
}

json merged(json base, const json& patch) {
  base.merge_patch(patch);
  return base;
}

class table {
public:
  explicit table(either_server& server) : server_(server), all_(test::read_json(PADDOCK_TEST_FENCE_WRITES)) {
  }
  [[nodiscard]] const json& rows() const {
    return all_["writes"];
  }
  /// Puts one write to the server, which keeps nothing of it.
  either_server::reply judge(const json& row) {
    const auto write = row["write"].get<std::string>();
    if (!row.contains("standing"))
      return post(row);
    const auto standing = merged(all_["base"], row["standing"]);
    const auto at = policies_of(standing) + "/" + text_at(standing, {"metadata", "name"});
    server_.make(policies_of(standing), standing);
    const auto got = write == "DELETE" ? server_.ask("DELETE", at + "?dryRun=All", nullptr, user_of(row))
                                       : server_.ask("PATCH", at + "?dryRun=All", overlaid(all_["base"], row["object"]), user_of(row));
    CHECK_EQ(server_.ask("DELETE", at).status, 200u);
    return got;
  }
  // A real server takes rights and policies in later than it answers.
  void wait_until_fence_holds() {
    until("what the writer emits", 201);
    until("no rule", 403);
  }
  void wait_until_companion_holds() {
    until("a host that is not permitted", 403);
  }

private:
  either_server::reply post(const json& row) {
    const auto object = merged(all_["base"], row["object"]);
    return server_.ask("POST", policies_of(object) + "?dryRun=All", object, user_of(row));
  }
  void until(const std::string& name, unsigned status) {
    for (const auto& row : rows())
      if (row["name"] == name) {
        const auto object = merged(all_["base"], row["object"]);
        server_.wait_for(status, "POST", policies_of(object) + "?dryRun=All", object, user_of(row));
        return;
      }
    CAF_FAIL("no row " << name);
  }
  static std::string user_of(const json& row) {
    if (row["by"] == "operator")
      return {};
    return row["by"] == "host" ? host : claimant;
  }

  either_server& server_;
  json all_;
};

/// A real server puts a write to its policies in no order: where both refuse it, either may be the one that is told.
bool told_by_companion(const std::string& refusal) {
  return refusal.find("ValidatingAdmissionPolicy 'namzu-per-sandbox-egress-hosts'") != std::string::npos;
}

} // namespace

// -- what the writer emits ---------------------------------------------------------------

namespace {

namespace egress = paddock::egress;

/// One grant as a caller asks for it.
struct grant {
  std::vector<std::string> hosts;
  std::optional<egress::narrowing> how{};
};

std::vector<grant> grants() {
  auto ports = egress::narrowing{};
  ports.ports = egress::port_list{443};
  auto all = ports;
  all.dns_names = egress::dns_narrowing{};
  all.tls_server_names = true;
  auto by_host = egress::narrowing{};
  by_host.host_ports = {{"packages.example.org", {443}}, {".example.com", {443, 8443}}};
  return {{{"packages.example.org", "example.com", ".example.com"}},
          {{"PACKAGES.example.org", ".Example.com", "a.b.example.com", ".b.example.com"}, ports},
          {{"packages.example.org"}, all},
          {{"packages.example.org"}, by_host},
          {{"packages.example.org", ".example.com"}, by_host},
          {{"packages.example.org", "localhost"}, ports},
          {{".packages.example.org"}, ports},
          {{"badexample.com"}, ports}};
}

egress::per_sandbox_egress config_of(const grant& x) {
  auto how = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
  how.narrowing = x.how;
  return how;
}

/// [E] 2.9 for one grant.
json written_for(const grant& x) {
  const auto uid = std::string{"6f1d2a30-1111-4222-8333-444455556666"};
  const auto name = std::string{"namzu-task-0b0e7c1e-aaaa-4bbb-8ccc-ddddeeeeffff"};
  const auto how = config_of(x);
  auto hosts = egress::per_sandbox_hosts(how, x.hosts);
  REQUIRE(hosts.has_value());
  auto got = egress::per_sandbox_policy(how, "namzu-sandboxes", {egress::policy_owner::type::sandbox_claim, name, uid}, name, *hosts);
  REQUIRE(got.has_value());
  return got->manifest;
}

/// Whether the host itself would refuse the grant before it writes.
bool is_permitted(const grant& x) {
  const auto which = egress::object_reference{"sandbox-permitted-hosts", "platform"};
  const auto permitted = egress::read_permitted_hosts(which, shipped("ConfigMap", which.name));
  REQUIRE(permitted.has_value());
  return egress::check_permitted(*permitted, config_of(x), *egress::per_sandbox_hosts(config_of(x), x.hosts)).has_value();
}

unsigned status_of(either_server& server, const grant& x) {
  const auto object = written_for(x);
  return server.ask("POST", policies_of(object) + "?dryRun=All", object, host).status;
}

} // namespace

// [E 311] [E 312]
SCENARIO("what is shipped is accepted, admits what the writer emits and refuses everything wider") {
  either_server server;
  prepare(server);
  install(server, all_but_permitted_hosts);
  for (const auto* kind : {"deny-all", "hosts", "no-network", "public-internet"})
    for (const auto& x : shipped("policies/" + std::string{kind} + ".yaml"))
      CHECK_EQ(server.ask("POST", collection_of(x) + "?dryRun=All", x).status, 201u);
  auto writes = table{server};
  REQUIRE_GT(writes.rows().size(), 100u);
  writes.wait_until_fence_holds();
  for (const auto& x : grants())
    CHECK_EQ(status_of(server, x), 201u);
  install(server, {"permitted-hosts.yaml"});
  writes.wait_until_companion_holds();
  auto permitted = 0;
  for (const auto& x : grants()) {
    CHECK_EQ(status_of(server, x), is_permitted(x) ? 201u : 403u);
    permitted += is_permitted(x) ? 1 : 0;
  }
  CHECK_EQ(permitted, 3);
  for (const auto& row : writes.rows()) {
    CAF_MESSAGE(row["name"].get<std::string>());
    const auto got = writes.judge(row);
    if (row["refused"].is_null()) {
      CHECK(got.status == 200 || got.status == 201);
      CHECK_EQ(got.message(), "");
      continue;
    }
    CHECK_EQ(got.status, 403u);
    if (row["refused"] == "RBAC")
      CHECK(got.message().find("\" cannot ") != std::string::npos);
    else
      CHECK(got.message().ends_with("denied request: " + row["refused"].get<std::string>())
            || (server.real() && told_by_companion(got.message())));
  }
}

namespace {

/// What the host is told when it writes what the ConfigMap permits, after the operator has put this into it.
std::string told_after(const json& data) {
  either_server server;
  prepare(server);
  install(server, all_but_permitted_hosts);
  install(server, {"permitted-hosts.yaml"});
  auto writes = table{server};
  const auto at = "/api/v1/namespaces/platform/configmaps/sandbox-permitted-hosts";
  if (data.is_null())
    REQUIRE_EQ(server.ask("DELETE", at).status, 200u);
  else
    REQUIRE_EQ(server.ask("PATCH", at, {{"data", data}}).status, 200u);
  return writes.judge(writes.rows()[0]).message();
}

} // namespace

SCENARIO("a ConfigMap that is missing or malformed permits nothing") {
  if (std::getenv("PADDOCK_TEST_REAL") != nullptr)
    return; // everything stands already: the embedded half covers it
  CHECK_EQ(told_after({{"ports", "443\n8443"}}), "");
  CHECK(
    told_after(nullptr).ends_with("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"));
  for (const auto& data : {json{{"hosts", nullptr}}, json{{"ports", nullptr}}})
    CHECK(told_after(data).find("no such key") != std::string::npos);
  const auto permitted = std::string{"packages.example.org\n.example.com\n"};
  for (const auto* more : {".com", "*.example.net", "10.0.0.1", "EXAMPLE.net", "a..b", "a.example:443", ".", "# a comment"})
    CHECK(told_after({{"hosts", permitted + more}}).ends_with("denied request: the permitted hosts are malformed"));
  for (const auto* ports : {" ", "443\n0", "443\n65536", "0443", "443-444", "https"})
    CHECK(told_after({{"ports", ports}}).ends_with("denied request: the permitted hosts are malformed"));
}
