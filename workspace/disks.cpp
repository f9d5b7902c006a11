#include "workspace/disks.hpp"

#include "k8s/objects.hpp"
#include "workspace/reads.hpp"

#include <set>

namespace paddock::workspace {

namespace {

using json = nlohmann::json;

result<void> refuse(const std::string& source, std::string text) {
  return tl::unexpected{failure{disk_refused{source, std::move(text)}}};
}

/// The names in `list` (volumeMounts or volumeDevices) of every container and init container.
std::set<std::string> names_in(const json& pod_template, const char* list) {
  auto got = std::set<std::string>{};
  for (const auto* kind : {"containers", "initContainers"}) {
    const auto* containers = find(pod_template, {"spec", kind});
    if (containers == nullptr || !containers->is_array())
      continue;
    for (const auto& container : *containers) {
      const auto* entries = find(container, {list});
      if (entries == nullptr || !entries->is_array())
        continue;
      for (const auto& entry : *entries)
        if (auto name = k8s::text_at(entry, "/name"))
          got.insert(*name);
    }
  }
  return got;
}

std::set<std::string> claim_names(const json& claims) {
  auto got = std::set<std::string>{};
  if (claims.is_array())
    for (const auto& claim : claims)
      if (auto name = k8s::text_at(claim, "/metadata/name"))
        got.insert(*name);
  return got;
}

} // namespace

result<void> check_block_disks(const json& claims, const json& pod_template, const std::string& source) {
  if (!claims.is_array() || claims.empty())
    return refuse(source, "it declares no disk (volumeClaimTemplates)");
  const auto mounted = names_in(pod_template, "volumeMounts");
  const auto devices = names_in(pod_template, "volumeDevices");
  for (const auto& claim : claims) {
    auto name = k8s::text_at(claim, "/metadata/name");
    if (!name)
      return refuse(source, "a volumeClaimTemplates entry has no name");
    if (k8s::text_at(claim, "/spec/volumeMode") != "Block")
      return refuse(source, "disk " + *name + " is not of volumeMode Block");
    if (mounted.contains(*name))
      return refuse(source, "disk " + *name + " is mounted through volumeMounts");
    if (!devices.contains(*name))
      return refuse(source, "disk " + *name + " is used by no container through volumeDevices");
  }
  return {};
}

result<void> check_same_disks(const json& of_template, const json& of_sandbox, const std::string& source) {
  const auto has = claim_names(of_sandbox);
  auto extra = std::string{};
  for (const auto& name : claim_names(of_template))
    if (!has.contains(name))
      extra += (extra.empty() ? "" : ", ") + name;
  if (!extra.empty())
    return refuse(source, "the template declares disks that the Sandbox does not have: " + extra);
  return {};
}

result<void> check_refreshed_disks(const json& of_template, const json& pod_template, const json& of_sandbox, const std::string& source) {
  auto ok = check_same_disks(of_template, of_sandbox, source);
  if (!ok)
    return ok;
  return check_block_disks(of_sandbox, pod_template, source);
}

std::string template_source(const std::string& template_name, const std::string& name_space) {
  return "SandboxTemplate " + template_name + " in namespace " + name_space;
}

std::string sandbox_source(const std::string& sandbox_name, const std::string& name_space) {
  return "Sandbox " + sandbox_name + " in namespace " + name_space;
}

std::string refresh_source(const std::string& template_name, const std::string& name_space, const std::string& sandbox_name) {
  return template_source(template_name, name_space) + ", refreshing Sandbox " + sandbox_name;
}

} // namespace paddock::workspace
