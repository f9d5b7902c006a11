#include "embedded/sandbox_facts.hpp"

#include "base/hash.hpp"
#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

std::string pod_name_of(const nlohmann::json& sandbox) {
  auto annotated = annotation_of(sandbox, agent_keys::pod_name);
  return annotated.empty() ? name_of(sandbox) : annotated;
}

bool controls(const nlohmann::json& sandbox, const nlohmann::json& child) {
  auto uid = uid_of(sandbox);
  return !uid.empty() && text_in(controller_of(child), "/uid") == uid;
}

namespace sandbox_facts {

using nlohmann::json;
using wall = time_source::wall_clock::time_point;

std::string core_path(const json& sandbox, std::string_view resource) {
  return "/api/v1/namespaces/" + namespace_of(sandbox) + "/" + std::string{resource};
}

std::string sandbox_path(const json& sandbox) {
  return "/apis/agents.x-k8s.io/v1beta1/namespaces/" + namespace_of(sandbox) + "/sandboxes/" + name_of(sandbox);
}

std::string hash_of(const json& sandbox) {
  return fnv1a_hex(name_of(sandbox));
}

bool suspended(const json& sandbox) {
  return text_in(sandbox, "/spec/operatingMode") == "Suspended";
}

std::vector<const json*> own_pods(const sandbox_view& seen) {
  std::vector<const json*> result;
  for (const auto& x : seen.pods)
    if (controls(seen.sandbox, x))
      result.push_back(&x);
  return result;
}

const json* pod_named(const sandbox_view& seen, const std::string& name) {
  for (const auto& x : seen.pods)
    if (name_of(x) == name)
      return &x;
  return nullptr;
}

bool service_off(const json& sandbox) {
  return value_in(sandbox, "/spec/service") == json(false);
}

bool service_on(const json& sandbox) {
  return value_in(sandbox, "/spec/service") == json(true);
}

/// A Service is part of readiness when it is asked for, or stands and is ours.
bool service_required(const sandbox_view& seen) {
  return service_on(seen.sandbox) || (!service_off(seen.sandbox) && seen.service && controls(seen.sandbox, *seen.service));
}

bool service_there(const sandbox_view& seen) {
  return !service_off(seen.sandbox) && seen.service && controls(seen.sandbox, *seen.service);
}

std::optional<wall> shutdown_time(const json& sandbox) {
  return read_instant(text_in(sandbox, "/spec/shutdownTime"));
}

bool expired(const json& sandbox, wall now) {
  auto at = shutdown_time(sandbox);
  return at && now >= *at;
}

bool reported_expired(const json& sandbox) {
  return text_in(condition_of(sandbox, "Ready"), "/reason") == "SandboxExpired";
}

} // namespace sandbox_facts

} // namespace paddock::embedded
