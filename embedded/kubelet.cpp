#include "embedded/kubelet.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

using nlohmann::json;

k8s::call finish_pod(const nlohmann::json& pod) {
  return k8s::remove(
    "/api/v1/namespaces/" + namespace_of(pod) + "/pods/" + name_of(pod),
    json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"gracePeriodSeconds", 0}, {"preconditions", {{"uid", uid_of(pod)}}}});
}

std::chrono::seconds grace_of(const nlohmann::json& pod) {
  auto grace = number_in(pod, "/metadata/deletionGracePeriodSeconds");
  if (!grace)
    grace = number_in(pod, "/spec/terminationGracePeriodSeconds");
  return std::chrono::seconds{std::clamp<std::int64_t>(grace.value_or(30), 0, 3600)};
}

k8s::call report_bound(const nlohmann::json& claim) {
  auto status = json{{"phase", "Bound"}};
  status["accessModes"] = value_in(claim, "/spec/accessModes");
  status["capacity"] = value_in(claim, "/spec/resources/requests");
  return k8s::merge_patch("/api/v1/namespaces/" + namespace_of(claim) + "/persistentvolumeclaims/" + name_of(claim) + "/status",
                          json{{"metadata", {{"uid", uid_of(claim)}}}, {"status", status}});
}

std::string pod_address(std::uint32_t n) {
  n %= pod_addresses;
  return "127." + std::to_string(64 + n / (254 * 254)) + "." + std::to_string(1 + n / 254 % 254) + "." + std::to_string(1 + n % 254);
}

} // namespace paddock::embedded
