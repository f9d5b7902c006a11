#define CAF_SUITE network

#include "egress/translate.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/workspace/desk.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;

namespace {

constexpr const char* profile_key = "sandbox.namzu.ai/egress-profile";
constexpr const char* sandbox_key = "sandbox.namzu.ai/per-sandbox-egress";

std::string path_of(const json& object) {
  const auto name = object["metadata"]["name"].get<std::string>();
  const auto kind = object["kind"];
  if (kind == "NetworkPolicy")
    return k8s::network_policies_path("ns", name);
  if (kind == "CiliumNetworkPolicy")
    return k8s::cilium_policies_path("ns", name);
  return kind == "ValidatingAdmissionPolicy" ? k8s::admission_policy_path(name) : k8s::admission_binding_path(name);
}

/// A host that is configured to an egress, in a cluster where an operator has applied what it takes.
class bounded_desk : public desk {
public:
  explicit bounded_desk(egress::egress_config how, server says = server::with_uids) : desk(host::unfenced, says) {
    on.how.egress = std::move(how);
    apply(egress::translate(*on.how.egress, {"ns", "tpl"})->manifest);
    if (on.how.egress->per_sandbox)
      for (const auto& x : pt::shipped("fence.yaml")) {
        auto text = x.dump();
        for (auto at = text.find("namzu-sandboxes"); at != std::string::npos; at = text.find("namzu-sandboxes", at))
          text.replace(at, 15, "ns");
        apply(json::parse(text));
      }
  }
  void apply(json object) {
    auto path = path_of(object);
    cluster.objects[std::move(path)] = std::move(object);
  }
  /// The labels of the pod template of what stands.
  json& labels() {
    return (*cluster.sandbox)["spec"]["podTemplate"]["metadata"]["labels"];
  }
  /// What stands under the name carries what the configuration puts on pods.
  void stand_as_configured(const std::string& mode, const std::string& uid = "S1") {
    cluster.stand(mode, std::nullopt, uid);
    for (const auto& [key, value] : overlay_of(on.how, which, "tpl").labels)
      labels()[key] = value;
  }
};

egress::egress_config deny_all() {
  return {};
}
egress::egress_config profiled(std::string profile) {
  auto got = egress::egress_config{};
  got.profile = std::move(profile);
  return got;
}
egress::egress_config per_sandbox() {
  auto got = egress::egress_config{};
  got.per_sandbox = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
  return got;
}

} // namespace

// [W 44] [E 158] [E 159] [E 160] an object without the profile
SCENARIO("an object whose pods carry no egress profile, or another one, is refused while one is configured") {
  auto x = bounded_desk{profiled("none")};
  x.cluster.stand("Suspended");
  auto got = x.open();
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "egressProfile");
  CHECK_EQ(why->expected, std::string{profile_key} + "=none");
  CHECK_EQ(why->actual, std::nullopt);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(x.guest.calls.empty());
  x.labels()[profile_key] = "internet";
  got = x.open();
  why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->actual, std::string{profile_key} + "=internet");
  const auto text = to_string(got.answer.error());
  CHECK(text.find("=none") != std::string::npos);
  CHECK(text.find("=internet") != std::string::npos);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(x.guest.calls.empty());
  x.labels()[profile_key] = "none";
  CHECK(x.open().answer.has_value());
  CHECK_EQ(x.sent("PATCH"), 1u);
}
