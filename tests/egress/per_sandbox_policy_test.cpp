#define CAF_SUITE per_sandbox_policy

#include "egress/per_sandbox_policy.hpp"
#include "tests/egress/refusals.hpp"
#include "tests/support/check_json.hpp"

using namespace paddock::egress;
using nlohmann::json;

namespace {

const auto claim = policy_owner{policy_owner::type::sandbox_claim, "namzu-task-0b0e7c1e-aaaa-4bbb-8ccc-ddddeeeeffff",
                                "6f1d2a30-1111-4222-8333-444455556666"};

policy_object granted(const per_sandbox_egress& how, const policy_owner& owner, const std::vector<std::string>& hosts) {
  auto entries = per_sandbox_hosts(how, hosts);
  if (!entries)
    CAF_FAIL(to_string(entries.error()));
  return per_sandbox_policy(how, "namzu-sandboxes", owner, owner.name, *std::move(entries)).value();
}

} // namespace

SCENARIO("a per-sandbox policy is the object of the specification") {
  auto got = granted({"fence"}, claim, {"Packages.Example.ORG", ".example.com"});
  CHECK_JSON(got.manifest, json::parse(R"({
    "apiVersion": "cilium.io/v2",
    "kind": "CiliumNetworkPolicy",
    "metadata": {
      "name": "namzu-sbx-6f1d2a30-1111-4222-8333-444455556666",
      "namespace": "namzu-sandboxes",
      "ownerReferences": [{
        "apiVersion": "extensions.agents.x-k8s.io/v1beta1",
        "kind": "SandboxClaim",
        "name": "namzu-task-0b0e7c1e-aaaa-4bbb-8ccc-ddddeeeeffff",
        "uid": "6f1d2a30-1111-4222-8333-444455556666"
      }]
    },
    "spec": {
      "endpointSelector": {"matchLabels": {
        "sandbox.namzu.ai/per-sandbox-egress": "namzu-task-0b0e7c1e-aaaa-4bbb-8ccc-ddddeeeeffff"
      }},
      "egress": [
        {
          "toEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "kube-system", "k8s:k8s-app": "kube-dns"}}],
          "toPorts": [{"ports": [{"port": "53", "protocol": "ANY"}], "rules": {"dns": [{"matchPattern": "*"}]}}]
        },
        {"toFQDNs": [{"matchName": "packages.example.org"}, {"matchName": "example.com"}, {"matchPattern": "*.example.com"}]}
      ]
    }
  })"));
  CHECK_EQ(to_string(got.policy_kind), "static");
  CHECK_EQ(got.path(),
           "/apis/cilium.io/v2/namespaces/namzu-sandboxes/ciliumnetworkpolicies/namzu-sbx-6f1d2a30-1111-4222-8333-444455556666");
}

SCENARIO("a Sandbox owns its policy under its own API version") {
  auto got = granted({"fence"}, {policy_owner::type::sandbox, "namzu-ws-a", "u"}, {"a.example"});
  CHECK_JSON(got.manifest["metadata"]["ownerReferences"],
             (json::array({{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"name", "namzu-ws-a"}, {"uid", "u"}}})));
}

SCENARIO("the narrowing of a sandbox finds its hosts in lower case") {
  auto how = per_sandbox_egress{"fence"};
  how.label_key = "team.example/own";
  how.narrowing = narrowing{};
  how.narrowing->host_ports = {{"x.example.org", {443, 22}}};
  how.narrowing->tls_server_names = true;
  auto got = granted(how, claim, {"X.Example.org"});
  CHECK_JSON(got.manifest["spec"]["egress"][1], json::parse(R"({
    "toFQDNs": [{"matchName": "x.example.org"}],
    "toPorts": [
      {"ports": [{"port": "443", "protocol": "TCP"}], "serverNames": ["x.example.org"]},
      {"ports": [{"port": "22", "protocol": "TCP"}]}
    ]
  })"));
  CHECK_JSON(got.manifest["spec"]["endpointSelector"]["matchLabels"], (json{{"team.example/own", claim.name}}));
}

SCENARIO("a domain under server names is refused before anything is composed") {
  auto how = per_sandbox_egress{"fence"};
  how.narrowing = narrowing{};
  how.narrowing->tls_server_names = true;
  auto got = per_sandbox_hosts(how, {"a.example", ".Example.com"});
  REQUIRE(!got);
  CHECK_EQ(refused_as<illegal_host>(got.error()).host, ".Example.com");
  CHECK(says(got.error(), "config.egress.perSandbox.narrowing"));
  CHECK(!says(got.error(), "ciliumNarrowing"));
  CHECK(per_sandbox_hosts(how, {"a.example"}).has_value());
  CHECK(per_sandbox_hosts(how, {}).value().empty());
}
