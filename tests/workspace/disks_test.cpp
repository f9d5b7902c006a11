#define CAF_SUITE disks

#include "workspace/disks.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::workspace;
using nlohmann::json;

namespace {

json claim(const char* name, json spec) {
  auto got = json{{"spec", std::move(spec)}};
  got["metadata"] = name != nullptr ? json{{"name", name}} : json::object();
  return got;
}

json block(const char* name) {
  return claim(name, {{"volumeMode", "Block"}});
}

/// A pod template whose one container of `kind` names `disk` in `list`.
json pod_with(const char* disk, const char* list = "volumeDevices", const char* kind = "containers") {
  return {{"spec", {{kind, json::array({{{"name", "c"}, {list, json::array({{{"name", disk}}})}}})}}}};
}

std::string refused(const json& claims, const json& pod) {
  auto got = check_block_disks(claims, pod, "SandboxTemplate tpl in namespace ns");
  if (got)
    return "";
  const auto* why = std::get_if<disk_refused>(&got.error());
  REQUIRE(why != nullptr);
  CHECK_EQ(why->source, "SandboxTemplate tpl in namespace ns");
  return why->text;
}

} // namespace

SCENARIO("a Block claim that a container has as a device is accepted") {
  CHECK_EQ(refused(json::array({block("workspace")}), pod_with("workspace")), "");
  CHECK_EQ(refused(json::array({block("workspace")}), pod_with("workspace", "volumeDevices", "initContainers")), "");
}

SCENARIO("the block-disk rule refuses in its order") {
  const auto pod = pod_with("workspace");
  CHECK_EQ(refused(json{}, pod), "it declares no disk (volumeClaimTemplates)");
  CHECK_EQ(refused(json::array(), pod), "it declares no disk (volumeClaimTemplates)");
  CHECK_EQ(refused(json::array({block(nullptr)}), pod), "a volumeClaimTemplates entry has no name");
  CHECK_EQ(refused(json::array({block("")}), pod), "a volumeClaimTemplates entry has no name");
  CHECK_EQ(refused(json::array({claim("workspace", {{"volumeMode", "Filesystem"}})}), pod), "disk workspace is not of volumeMode Block");
  CHECK_EQ(refused(json::array({claim("workspace", json::object())}), pod), "disk workspace is not of volumeMode Block");
  CHECK_EQ(refused(json::array({block("workspace"), claim("more", {{"volumeMode", "Filesystem"}})}), pod),
           "disk more is not of volumeMode Block");
  auto both = pod;
  both["spec"]["initContainers"] = pod_with("workspace", "volumeMounts").at("spec").at("containers");
  CHECK_EQ(refused(json::array({block("workspace")}), both), "disk workspace is mounted through volumeMounts");
  CHECK_EQ(refused(json::array({block("workspace")}), pod_with("other")), "disk workspace is used by no container through volumeDevices");
}

SCENARIO("a pod spec of an unexpected shape names no disk") {
  for (const auto& pod : {json{}, json("text"), json{{"spec", 3}}, json{{"spec", {{"containers", "c"}}}},
                          json{{"spec", {{"containers", json::array({nullptr, 7})}}}}})
    CHECK_EQ(refused(json::array({block("workspace")}), pod), "disk workspace is used by no container through volumeDevices");
}

SCENARIO("a refresh may not bring a disk that the Sandbox does not have") {
  auto two = json::array({block("workspace"), block("more")});
  auto one = json::array({block("workspace")});
  CHECK(check_same_disks(two, two, "s").has_value());
  CHECK(check_same_disks(one, two, "s").has_value());
  auto got = check_same_disks(two, one, refresh_source("tpl", "ns", "namzu-ws-desk"));
  REQUIRE(!got);
  const auto& why = std::get<disk_refused>(got.error());
  CHECK_EQ(why.source, "SandboxTemplate tpl in namespace ns, refreshing Sandbox namzu-ws-desk");
  CHECK_EQ(why.text, "the template declares disks that the Sandbox does not have: more");
}
