#define CAF_SUITE per_sandbox

#include "base/flows/unthrown.hpp"
#include "egress/flows/granted_union.hpp"
#include "egress/translate.hpp"
#include "tests/egress/grants.hpp"

using namespace paddock;
using namespace paddock::egress;
using namespace paddock::egress::test;
using paddock::test::denied;
using paddock::test::gone;
using paddock::test::status;
using paddock::test::timed_out;

namespace {

const std::string uid = "6f1d2a30-1111-4222-8333-444455556666";
const std::string task = "namzu-task-0b0e7c1e-aaaa-4bbb-8ccc-ddddeeeeffff";
const std::string policy = "namzu-sbx-" + uid;
const std::string fence_policy = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/namzu-per-sandbox-egress";
const std::string fence_binding =
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/namzu-per-sandbox-egress-binding";

const auto dns_rule =
  json::parse(R"({"toEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "kube-system", "k8s:k8s-app": "kube-dns"}}],
                  "toPorts": [{"ports": [{"port": "53", "protocol": "ANY"}], "rules": {"dns": [{"matchPattern": "*"}]}}]})");

json names_rule(const json& names) {
  return {{"toFQDNs", names}};
}

/// [E] 2.9 for this claim and these rules.
json manifest_of(const json& rules) {
  return {{"apiVersion", "cilium.io/v2"},
          {"kind", "CiliumNetworkPolicy"},
          {"metadata",
           {{"name", policy},
            {"namespace", "namzu-sandboxes"},
            {"ownerReferences",
             {{{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"}, {"kind", "SandboxClaim"}, {"name", task}, {"uid", uid}}}}}},
          {"spec", {{"endpointSelector", {{"matchLabels", {{"sandbox.namzu.ai/per-sandbox-egress", task}}}}}, {"egress", rules}}}};
}

const auto one_host = std::vector<std::string>{"packages.example.org"};

using answering = std::function<std::optional<grant_cluster::reply>(const k8s::call&)>;

/// Answers the requests of this method whose path ends so, and leaves the others to the cluster.
answering on(std::string method, std::string end, std::function<grant_cluster::reply(const k8s::call&)> with) {
  return [=](const k8s::call& x) -> std::optional<grant_cluster::reply> {
    if (x.method != method || !x.path.ends_with(end))
      return std::nullopt;
    return with(x);
  };
}

boost::asio::awaitable<result<void>> answered(result<void> with) {
  co_return with;
}

const std::function<grant_cluster::reply(const k8s::call&)> is_missing = [](const k8s::call& x) { return gone(x); };

} // namespace

// -- what is written -------------------------------------------------------------

// [E 212] [E 213]
SCENARIO("a first grant is one POST of the whole policy, read back once") {
  auto x = grant_cluster{};
  CHECK(x.set(x.claim(), {"packages.example.org", ".example.com"}).has_value());
  CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET " + policy}));
  const auto posted = x.api.sent("POST").at(0);
  CHECK_EQ(posted.path, grant_cluster::policies);
  CHECK(posted.type == k8s::call::content::json);
  CHECK_JSON(posted.body, manifest_of({dns_rule, names_rule({{{"matchName", "packages.example.org"}},
                                                             {{"matchName", "example.com"}},
                                                             {{"matchPattern", "*.example.com"}}})}));
  CHECK_EQ(x.writes(), 1u);
}

// [E 216] [E 217]
SCENARIO("a second grant replaces the first one as a whole") {
  auto x = grant_cluster{};
  REQUIRE(x.set(x.claim(), one_host).has_value());
  CHECK(x.set(x.claim(), {"other.example.org"}).has_value());
  CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET " + policy, "POST ciliumnetworkpolicies",
                                               "PATCH " + policy, "GET " + policy}));
  const auto patched = x.api.sent("PATCH").at(0);
  CHECK_EQ(k8s::content_type(patched.type), "application/merge-patch+json");
  const auto wanted = manifest_of({dns_rule, names_rule({{{"matchName", "other.example.org"}}})});
  CHECK_JSON(patched.body, wanted);
  CHECK_JSON(x.objects.at(patched.path)["spec"]["egress"], wanted["spec"]["egress"]);
}

// [E 218] [E 241]
SCENARIO("an empty list takes the policy away, and nobody judges what is left") {
  auto x = grant_cluster{};
  auto judged = 0;
  x.union_check = [&](const policy_object&, deadline) {
    ++judged;
    return answered({});
  };
  REQUIRE(x.set(x.claim(), one_host).has_value());
  const auto before = x.objects.size();
  x.api.calls.clear();
  judged = 0;
  CHECK(x.set(x.claim(), {}).has_value());
  CHECK(x.landed);
  CHECK_EQ(x.sent(), (std::vector<std::string>{"DELETE " + policy}));
  CHECK(x.api.sent("DELETE").at(0).type == k8s::call::content::none);
  CHECK_EQ(x.objects.size(), before - 1);
  CHECK(!x.objects.contains(grant_cluster::policies + "/" + policy));
  CHECK_EQ(judged, 0);
}

// [E 219]
SCENARIO("taking away what was never granted is a success") {
  auto x = grant_cluster{};
  CHECK(x.set(x.claim(), {}).has_value());
  CHECK_EQ(x.sent(), (std::vector<std::string>{"DELETE " + policy}));
}

// [E 225]
SCENARIO("a narrowed grant names ports and servers") {
  auto x = grant_cluster{};
  auto whose = x.claim();
  whose.how.narrowing = narrowing{};
  whose.how.narrowing->host_ports = {{"packages.example.org", {443}}};
  whose.how.narrowing->tls_server_names = true;
  CHECK(x.set(whose, one_host).has_value());
  auto rule = names_rule({{{"matchName", "packages.example.org"}}});
  rule["toPorts"] = json::parse(R"([{"ports": [{"port": "443", "protocol": "TCP"}], "serverNames": ["packages.example.org"]}])");
  CHECK_JSON(x.api.sent("POST").at(0).body["spec"]["egress"], (json{dns_rule, rule}));
}

// [E 226]
SCENARIO("a domain that a server name cannot mean is refused before anything is asked") {
  auto x = grant_cluster{};
  auto whose = x.claim();
  whose.how.narrowing = narrowing{};
  whose.how.narrowing->tls_server_names = true;
  const auto got = x.set(whose, {".example.com"});
  CHECK_EQ(error_of<illegal_host>(got).host, ".example.com");
  CHECK(says(got.error(), "config.egress.perSandbox.narrowing"));
  CHECK(!says(got.error(), "ciliumNarrowing"));
  CHECK(x.api.calls.empty());
  CHECK(x.set(whose, one_host).has_value());
  CHECK_EQ(x.api.sent("POST").size(), 1u);
}

// [E 53]
SCENARIO("one entry that names no host refuses the list before anything is asked") {
  for (const auto* entry : {"https://example.com", "*.example.com", "example.com:443", ".", "", ".com", "..example.com", "*", "10.0.0.1"}) {
    MESSAGE(entry);
    auto x = grant_cluster{};
    CHECK_EQ(error_of<illegal_host>(x.set(x.claim(), {"packages.example.org", entry})).host, entry);
    CHECK(x.api.calls.empty());
  }
}

// [E 54]
SCENARIO("hosts are written in lower case") {
  auto x = grant_cluster{};
  CHECK(x.set(x.claim(), {"Registry.Example.ORG", ".Example.COM"}).has_value());
  CHECK_JSON(x.api.sent("POST").at(0).body["spec"]["egress"][1]["toFQDNs"],
             json::parse(R"([{"matchName": "registry.example.org"}, {"matchName": "example.com"}, {"matchPattern": "*.example.com"}])"));
}

// [E 228]
SCENARIO("a sandbox that was created directly owns its policy itself") {
  auto x = grant_cluster{};
  auto whose = x.claim();
  whose.owner.kind = policy_owner::type::sandbox;
  CHECK(x.set(whose, one_host).has_value());
  const auto owner = x.api.sent("POST").at(0).body["metadata"]["ownerReferences"];
  CHECK_JSON(owner, (json{{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"name", task}, {"uid", uid}}}));
}

// [E 229]
SCENARIO("fifty sandboxes have fifty policies, each its own") {
  auto x = grant_cluster{};
  for (auto i = 0; i < 50; ++i) {
    const auto n = std::to_string(i);
    REQUIRE(x.set(x.claim("uid-" + n, "task-" + n), {"host-" + n + ".example.org"}).has_value());
  }
  for (auto i = 0; i < 50; ++i) {
    const auto n = std::to_string(i);
    const auto& stored = x.objects.at(grant_cluster::policies + "/namzu-sbx-uid-" + n);
    CHECK_EQ(stored["spec"]["egress"][1]["toFQDNs"][0]["matchName"], "host-" + n + ".example.org");
    CHECK_EQ(stored["spec"]["endpointSelector"]["matchLabels"]["sandbox.namzu.ai/per-sandbox-egress"], "task-" + n);
    CHECK_EQ(stored["metadata"]["ownerReferences"][0]["name"], "task-" + n);
  }
}

// -- what is refused ----------------------------------------------------------------

// [E 230]
SCENARIO("a host that may not write says so and does not try another way") {
  auto x = grant_cluster{};
  x.intercept = on("POST", "", [](const k8s::call& what) { return denied(what); });
  const auto got = x.set(x.claim(), one_host);
  CHECK(std::holds_alternative<k8s::credential_failure>(error_of<k8s::failure>(got)));
  CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies"}));
}

// [E 214]
SCENARIO("a policy that does not stand as it was written fails the call and stays") {
  auto x = grant_cluster{};
  x.intercept = [&](const k8s::call& what) -> std::optional<grant_cluster::reply> {
    if (what.method == "GET" && what.path.ends_with(policy))
      x.objects.at(what.path)["spec"]["egress"].push_back({{"toEntities", {"world"}}});
    return std::nullopt;
  };
  const auto got = x.set(x.claim(), one_host);
  static_cast<void>(error_of<policy_mismatch>(got));
  CHECK(says(got.error(), "toEntities"));
  CHECK_EQ(x.writes(), 1u);
  CHECK(x.landed);
}

// [E 215]
SCENARIO("a policy that nobody owns is not what was written") {
  auto x = grant_cluster{};
  x.intercept = [&](const k8s::call& what) -> std::optional<grant_cluster::reply> {
    if (what.method == "GET" && what.path.ends_with(policy))
      x.objects.at(what.path)["metadata"].erase("ownerReferences");
    return std::nullopt;
  };
  const auto got = x.set(x.claim(), one_host);
  static_cast<void>(error_of<policy_mismatch>(got));
  CHECK(says(got.error(), "metadata.ownerReferences"));
}

SCENARIO("a policy that is gone when it is read back was collected with its owner") {
  auto x = grant_cluster{};
  x.intercept = on("GET", policy, is_missing);
  static_cast<void>(error_of<policy_not_applied>(x.set(x.claim(), one_host)));
  CHECK_EQ(x.writes(), 1u);
}

SCENARIO("the union is judged after the read-back, with what was written, and a refusal leaves the policy") {
  auto x = grant_cluster{};
  auto judged = std::vector<std::string>{};
  x.union_check = [&](const policy_object& what, deadline end) {
    judged.push_back(what.manifest.dump());
    CHECK(end == x.until());
    CHECK_EQ(x.sent().back(), "GET " + policy);
    auto no = union_refused{};
    no.subject = what.name;
    return answered(tl::unexpected{egress_error{std::move(no)}});
  };
  const auto got = x.set(x.claim(), one_host);
  CHECK_EQ(error_of<union_refused>(got).subject, policy);
  CHECK_EQ(judged, (std::vector{x.api.sent("POST").at(0).body.dump()}));
  CHECK_EQ(x.writes(), 1u);
  CHECK(x.objects.contains(grant_cluster::policies + "/" + policy));
}

namespace {

/// A cluster under deny-all, its policy applied, in which each grant is judged with all policies that select the pod.
struct judged_cluster {
  explicit judged_cluster(verification how = verification::union_check) {
    auto config = egress_config{};
    config.policy = deny_all{};
    const auto baseline = *translate(config, {"namzu-sandboxes", "namzu-task"});
    x.objects[baseline.path()] = baseline.manifest;
    x.union_check = [this, how, allowed = allowance_of(baseline)](policy_object granted, deadline end) {
      auto pod =
        judged_pod{"namzu-sandboxes", {{"sandbox.namzu.ai/template", "namzu-task"}, {"sandbox.namzu.ai/per-sandbox-egress", task}}};
      auto subject = granted.name + " of " + task;
      return verify_granted_union(x.on, how, allowed, std::move(granted), std::move(pod), std::move(subject), end);
    };
  }
  grant_cluster x;
};

} // namespace

// [E 231]
SCENARIO("a grant beside the configured policy and nothing else is within both together") {
  auto it = judged_cluster{};
  CHECK(it.x.set(it.x.claim(), one_host).has_value());
  CHECK_EQ(it.x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET " + policy, "GET networkpolicies?limit=500",
                                                  "GET ciliumnetworkpolicies?limit=500"}));
}

// [E 232]
SCENARIO("a third policy that is wider than both refuses the grant") {
  auto it = judged_cluster{};
  it.x.objects[grant_cluster::policies + "/wide"] = {
    {"metadata", {{"name", "wide"}}}, {"spec", {{"endpointSelector", json::object()}, {"egress", {{{"toEntities", {"world"}}}}}}}};
  const auto got = it.x.set(it.x.claim(), one_host);
  const auto& no = error_of<union_refused>(got);
  CHECK_EQ(to_string(no.refusal), "policy-widens-egress");
  CHECK_EQ(no.subject, policy + " of " + task);
  CHECK(says(got.error(), "CiliumNetworkPolicy/wide"));
}

// [E 237]
SCENARIO("where only the named object is verified nothing is listed after a grant") {
  auto it = judged_cluster{verification::named_object_only};
  CHECK(it.x.set(it.x.claim(), one_host).has_value());
  CHECK_EQ(it.x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET " + policy}));
}

// -- what nobody knows -----------------------------------------------------------------

SCENARIO("a write without an answer is neither a failure nor sent again") {
  struct row {
    const char* method;
    bool standing; // a policy stands already
    std::vector<std::string> hosts;
  };
  for (const auto& r : {row{"POST", false, one_host}, row{"PATCH", true, one_host}, row{"DELETE", true, {}}}) {
    MESSAGE(r.method);
    auto x = grant_cluster{};
    if (r.standing)
      REQUIRE(x.set(x.claim(), {"former.example.org"}).has_value());
    x.api.calls.clear();
    for (const auto& lost : std::vector<std::function<grant_cluster::reply(const k8s::call&)>>{
           [](const k8s::call& what) { return timed_out(what); }, [](const k8s::call& what) { return status(what, 500); },
           [](const k8s::call& what) { return paddock::test::unreachable(what, true); }}) {
      x.api.calls.clear();
      x.intercept = on(r.method, "", lost);
      const auto got = x.set(x.claim(), r.hosts);
      const auto& no = error_of<policy_write_unknown>(got);
      CHECK_EQ(no.method, r.method);
      CHECK_EQ(reason_of(got.error()), "OutcomeUnknown");
      CHECK(!x.landed);
      CHECK(says(got.error(), "nobody knows whether " + no.method + " "));
      CHECK_EQ(details_of(got.error())["path"], no.path);
      CHECK_EQ(x.sent().back().substr(0, no.method.size()), r.method); // nothing follows it
      CHECK_EQ(x.api.sent(r.method).size(), 1u);
    }
  }
}

SCENARIO("a write that never left is a plain failure") {
  auto x = grant_cluster{};
  x.intercept = on("POST", "", [](const k8s::call& what) { return paddock::test::unreachable(what, false); });
  static_cast<void>(error_of<k8s::failure>(x.set(x.claim(), one_host)));
}

SCENARIO("a failure before the write and one after it are told apart") {
  auto x = grant_cluster{};
  x.objects.erase(fence_policy);
  static_cast<void>(error_of<fence_missing>(x.set(x.claim(), one_host)));
  CHECK(!x.landed);
  auto y = grant_cluster{};
  y.intercept = on("GET", policy, [](const k8s::call& what) { return timed_out(what); });
  static_cast<void>(error_of<k8s::failure>(y.set(y.claim(), one_host)));
  CHECK(y.landed);
}

// -- the owner ------------------------------------------------------------------------

SCENARIO("an owner without a uid owns nothing, and nothing is asked") {
  auto x = grant_cluster{};
  for (const auto& hosts : {one_host, std::vector<std::string>{}})
    CHECK_EQ(error_of<owner_uid_missing>(x.set(x.claim(""), hosts)).object_name, task);
  CHECK_EQ(error_of<owner_uid_missing>(x.reverify(x.workspace(""))).object_name, "namzu-ws-desk");
  CHECK(x.api.calls.empty());
}

SCENARIO("a workspace is read again after the write") {
  auto x = grant_cluster{};
  const auto whose = x.workspace();
  CHECK(x.set(whose, one_host).has_value());
  CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET namzu-ws-desk", "GET namzu-sbx-S1"}));
}

// [W 284]
SCENARIO("what was written for a Sandbox that is another one by now is taken back") {
  auto x = grant_cluster{};
  const auto whose = x.workspace();
  static_cast<void>(x.workspace("S2"));
  const auto got = x.set(whose, one_host);
  const auto& no = error_of<owner_replaced>(got);
  CHECK_EQ(no.expected_uid, "S1");
  CHECK_EQ(no.actual_uid.value_or(""), "S2");
  CHECK_EQ(no.clean_up, "done");
  CHECK_EQ(reason_of(got.error()), "OwnerReplaced");
  CHECK(says(got.error(), "expected S1, found S2; the policy that was written for the former one was taken back"));
  CHECK_JSON(details_of(got.error()),
             (json{{"ownerName", "namzu-ws-desk"}, {"expectedUid", "S1"}, {"actualUid", "S2"}, {"cleanUp", "done"}}));
  CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET namzu-ws-desk", "DELETE namzu-sbx-S1"}));
  CHECK_JSON(x.api.sent("DELETE").at(0).body,
             (json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", "policy-1"}}}}));
  CHECK(!x.objects.contains(grant_cluster::policies + "/namzu-sbx-S1"));
}

namespace {

/// A grant to workspace S1 whose caller waits no longer once the policy was written: it withdraws, or its time is up.
grant_end abandoned(grant_cluster& x, bool withdraws, const std::string& standing = "S1") {
  const auto whose = x.workspace();
  static_cast<void>(x.workspace(standing));
  const auto checks = x.checks_of(whose);
  auto flow = paddock::test::start_flow(x.context, unthrown(set_network_policy(x.on, checks, whose, one_host, x.until())));
  x.intercept = [&](const k8s::call& what) -> std::optional<grant_cluster::reply> {
    if (what.method != "POST")
      return std::nullopt;
    auto got = x.answer(what);
    if (withdraws)
      flow.cancel();
    else
      x.time.advance(std::chrono::seconds{31});
    return got;
  };
  paddock::test::run_until(x.context, [&] { return flow.done(); });
  return flow.get();
}

} // namespace

// [W 284]
SCENARIO("what was written for a Sandbox that is another one by now is taken back also when nobody waits any more") {
  for (const auto withdraws : {true, false}) {
    auto x = grant_cluster{};
    const auto end = abandoned(x, withdraws, "S2");
    CHECK(end.landed);
    CHECK_EQ(error_of<owner_replaced>(end.answer).clean_up, "done");
    CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET namzu-ws-desk", "DELETE namzu-sbx-S1"}));
    CHECK(!x.objects.contains(grant_cluster::policies + "/namzu-sbx-S1"));
  }
}

SCENARIO("a grant that nobody waits for is proved no further, and stays while its owner stands") {
  for (const auto withdraws : {true, false}) {
    auto x = grant_cluster{};
    const auto end = abandoned(x, withdraws);
    CHECK(end.landed);
    const auto& no = error_of<k8s::failure>(end.answer);
    CHECK(withdraws ? std::holds_alternative<k8s::cancelled>(no) : std::holds_alternative<k8s::api_timeout>(no));
    CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET namzu-ws-desk"}));
    CHECK(x.objects.contains(grant_cluster::policies + "/namzu-sbx-S1"));
  }
}

SCENARIO("an owner that cannot be read leaves the grant, and is not read again while the caller waits") {
  auto x = grant_cluster{};
  const auto whose = x.workspace();
  x.intercept = on("GET", "/namzu-ws-desk", [](const k8s::call& what) { return status(what, 500); });
  static_cast<void>(error_of<k8s::failure>(x.set(whose, one_host)));
  CHECK(x.landed);
  CHECK_EQ(x.sent(), (std::vector<std::string>{"POST ciliumnetworkpolicies", "GET namzu-ws-desk"}));
}

SCENARIO("a grant that cannot be taken back is told as such") {
  struct row {
    std::function<grant_cluster::reply(const k8s::call&)> answer;
    std::string clean_up;
  };
  for (const auto& r : {row{[](const k8s::call& what) { return timed_out(what); }, "unknown"},
                        row{[](const k8s::call& what) { return denied(what); }, "failed"}, row{is_missing, "done"}}) {
    auto x = grant_cluster{};
    const auto whose = x.workspace();
    x.objects.erase("/apis/agents.x-k8s.io/v1beta1/namespaces/namzu-sandboxes/sandboxes/namzu-ws-desk");
    x.intercept = on("DELETE", "", r.answer);
    const auto got = x.set(whose, one_host);
    const auto& no = error_of<owner_replaced>(got);
    CHECK(!no.actual_uid.has_value());
    CHECK_EQ(no.clean_up, r.clean_up);
    CHECK(says(got.error(), r.clean_up == "done" ? "was taken back" : "may still stand"));
    CHECK_EQ(x.api.sent("DELETE").size(), 1u);
  }
}

// -- the fence -------------------------------------------------------------------------

// [E 176]
SCENARIO("without the fence's policy nothing is written") {
  auto x = grant_cluster{};
  x.objects.erase(fence_policy);
  const auto got = x.set(x.claim(), one_host);
  CHECK_EQ(error_of<fence_missing>(got).object.kind, "ValidatingAdmissionPolicy");
  CHECK_EQ(x.writes(), 0u);
}

// [E 177]
SCENARIO("without the fence's binding nothing is written") {
  auto x = grant_cluster{};
  x.objects.erase(fence_binding);
  const auto got = x.set(x.claim(), one_host);
  CHECK_EQ(error_of<fence_missing>(got).object.kind, "ValidatingAdmissionPolicyBinding");
  CHECK(says(got.error(), "namzu-per-sandbox-egress-binding"));
  CHECK_EQ(x.writes(), 0u);
}

// [E 178]
SCENARIO("without the fence nothing is taken away either") {
  auto x = grant_cluster{};
  x.objects.erase(fence_policy);
  static_cast<void>(error_of<fence_missing>(x.set(x.claim(), {})));
  CHECK_EQ(x.writes(), 0u);
}

// [E 179]
SCENARIO("a fence that may not be read is told with the file that mends it") {
  auto x = grant_cluster{};
  x.intercept = on("GET", "/namzu-per-sandbox-egress", [](const k8s::call& what) { return denied(what); });
  const auto got = x.set(x.claim(), one_host);
  static_cast<void>(error_of<fence_unreadable>(got));
  CHECK(says(got.error(), "rbac-per-sandbox-egress.yaml"));
  CHECK_EQ(x.writes(), 0u);
}

// [E 181]
SCENARIO("a fence that is applied after a refusal is found by the next call") {
  auto x = grant_cluster{};
  const auto kept = x.objects.extract(fence_policy);
  static_cast<void>(error_of<fence_missing>(x.set(x.claim(), one_host)));
  x.objects[fence_policy] = kept.mapped();
  CHECK(x.set(x.claim(), one_host).has_value());
}

// [E 182]
SCENARIO("a fence that cannot be read for another reason fails as it does, and is read again") {
  auto x = grant_cluster{};
  x.intercept = on("GET", "/namzu-per-sandbox-egress", [](const k8s::call& what) { return status(what, 500); });
  const auto got = x.set(x.claim(), one_host);
  CHECK(std::holds_alternative<k8s::api_failure>(error_of<k8s::failure>(got)));
  CHECK_EQ(x.fence_reads(), 1u);
  CHECK_EQ(x.writes(), 0u);
  x.intercept = nullptr;
  CHECK(x.set(x.claim(), one_host).has_value());
  CHECK_EQ(x.fence_reads(), 3u);
}

// [E 185] [E 186] [E 187]
SCENARIO("a fence that bounds somebody else, or nobody by name, is refused where an identity is configured") {
  for (const auto& conditions : {json{{{"name", "host"}, {"expression", "request.userInfo.username == 'another'"}}}, json(nullptr)}) {
    auto x = grant_cluster{};
    x.objects.at(fence_policy)["spec"].merge_patch({{"matchConditions", conditions}}); // null: there are none
    auto whose = x.claim();
    whose.how.host_identity = "system:serviceaccount:namzu-sandboxes:namzu-sandbox-host";
    const auto got = x.set(whose, one_host);
    CHECK_EQ(error_of<fence_not_enforcing>(got).problem, "host-identity");
    CHECK_EQ(x.writes(), 0u);
    whose.how.host_identity.reset();
    CHECK(x.set(whose, one_host).has_value());
  }
}

// [E 190] [E 191] [E 192]
SCENARIO("a companion that is not there, or takes something else for permitted, is refused") {
  const auto companion = fence_policy + "-hosts";
  const auto companion_binding =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/namzu-per-sandbox-egress-hosts-binding";
  const auto ports = [] {
    auto how = narrowing{};
    how.ports = port_list{443};
    return how;
  };
  for (const auto& path : {companion, std::string{companion_binding}}) {
    auto x = grant_cluster{};
    x.objects.erase(path);
    const auto got = x.set(x.permitting(x.claim(), ports()), one_host);
    CHECK_EQ(error_of<fence_missing>(got).object.path, path);
    CHECK_EQ(x.writes(), 0u);
  }
  for (const auto& [member, value] : std::vector<std::pair<const char*, json>>{
         {"name", "other"}, {"namespace", "other"}, {"parameterNotFoundAction", "Allow"}, {"parameterNotFoundAction", nullptr}}) {
    auto x = grant_cluster{};
    x.objects.at(companion_binding)["spec"]["paramRef"].merge_patch({{member, value}});
    const auto got = x.set(x.permitting(x.claim(), ports()), one_host);
    CHECK_EQ(error_of<fence_not_enforcing>(got).problem, "param-ref");
    CHECK_EQ(x.writes(), 0u);
  }
}

// -- re-verification ---------------------------------------------------------------------

SCENARIO("what predecessors of the name were granted is removed, and nothing else") {
  auto x = grant_cluster{};
  const auto whose = x.workspace("S2");
  const auto store = [&](std::string name, const std::string& owner, const std::string& selected, const std::string& key_source = "") {
    x.objects[grant_cluster::policies + "/" + name] = {
      {"metadata", {{"name", name}, {"ownerReferences", {{{"kind", "Sandbox"}, {"name", "namzu-ws-desk"}, {"uid", owner}}}}}},
      {"spec", {{"endpointSelector", {{"matchLabels", {{key_source + "sandbox.namzu.ai/per-sandbox-egress", selected}}}}}}}};
  };
  store("namzu-sbx-S1", "S1", "namzu-ws-desk");
  store("namzu-sbx-S0", "S0", "namzu-ws-desk", "k8s:");
  store("namzu-sbx-S2", "S2", "namzu-ws-desk");
  store("namzu-sbx-S3", "S2", "namzu-ws-desk"); // our owner under another's name
  store("namzu-sbx-S4", "S4", "namzu-ws-other");
  store("operators-own", "S1", "namzu-ws-desk");
  x.objects[grant_cluster::policies + "/namzu-sbx-odd"] = {{"metadata", {{"name", "namzu-sbx-odd"}}}, {"spec", "none"}};
  const auto got = x.reverify(whose);
  REQUIRE(got.has_value());
  CHECK_EQ(*got, (std::vector<std::string>{"namzu-sbx-S0", "namzu-sbx-S1", "namzu-sbx-S3"}));
  CHECK_EQ(x.sent(), (std::vector<std::string>{"GET ciliumnetworkpolicies?limit=500", "DELETE namzu-sbx-S0", "DELETE namzu-sbx-S1",
                                               "DELETE namzu-sbx-S3"}));
  CHECK_EQ(x.api.trace().at(0), "GET " + fence_policy);
}

SCENARIO("a predecessor's policy that is gone already counts as removed; another failure ends the re-verification") {
  auto x = grant_cluster{};
  const auto whose = x.workspace("S2");
  for (const auto* name : {"namzu-sbx-A", "namzu-sbx-B"})
    x.objects[grant_cluster::policies + "/" + name] = {
      {"metadata", {{"name", name}}},
      {"spec", {{"endpointSelector", {{"matchLabels", {{"sandbox.namzu.ai/per-sandbox-egress", "namzu-ws-desk"}}}}}}}};
  x.intercept = on("DELETE", "", is_missing);
  CHECK_EQ(x.reverify(whose).value_or(std::vector<std::string>{}).size(), 2u);
  x.api.calls.clear();
  x.intercept = on("DELETE", "", [](const k8s::call& what) { return denied(what); });
  static_cast<void>(error_of<k8s::failure>(x.reverify(whose)));
  CHECK_EQ(x.api.sent("DELETE").size(), 1u);
  x.intercept = on("DELETE", "", [](const k8s::call& what) { return timed_out(what); });
  static_cast<void>(error_of<policy_write_unknown>(x.reverify(whose)));
}

SCENARIO("without a fence, or without the list, nothing is removed") {
  auto x = grant_cluster{};
  const auto whose = x.workspace();
  x.intercept = on("GET", "limit=500", [](const k8s::call& what) { return denied(what); });
  static_cast<void>(error_of<k8s::failure>(x.reverify(whose)));
  x.objects.erase(fence_binding);
  x.api.calls.clear();
  static_cast<void>(error_of<fence_missing>(x.reverify(whose)));
  CHECK_EQ(x.sent().size(), 0u);
}
