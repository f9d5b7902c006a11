#include "embedded/kubelet.hpp"

#include "embedded/pod_facts.hpp"

#include <array>
#include <charconv>

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

k8s::call list_claim(const nlohmann::json& claim) {
  return k8s::get("/api/v1/namespaces/" + namespace_of(claim) + "/persistentvolumeclaims?fieldSelector=metadata.name%3D" + name_of(claim));
}

std::optional<std::set<std::string>> listed_claims(const nlohmann::json& answer) {
  const auto& items = value_in(answer, "/items");
  if (text_in(answer, "/kind") != "PersistentVolumeClaimList" || !items.is_array() || !text_in(answer, "/metadata/continue").empty())
    return std::nullopt;
  std::set<std::string> result;
  for (const auto& x : items)
    result.insert(uid_of(x));
  return result;
}

std::string pod_address(std::uint32_t n) {
  n %= pod_addresses;
  return "127." + std::to_string(64 + n / (254 * 254)) + "." + std::to_string(1 + n / 254 % 254) + "." + std::to_string(1 + n % 254);
}

bool is_pod_address(std::string_view text) {
  auto parts = std::array<unsigned, 4>{};
  for (auto& x : parts) {
    auto piece = text.substr(0, text.find('.'));
    auto [rest, error] = std::from_chars(piece.data(), piece.data() + piece.size(), x);
    if (error != std::errc{} || rest != piece.data() + piece.size() || piece.size() > 3)
      return false;
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
  }
  auto within = [](unsigned x) { return x >= 1 && x <= 254; };
  return text.empty() && parts[0] == 127 && parts[1] >= 64 && parts[1] <= 127 && within(parts[2]) && within(parts[3]);
}

} // namespace paddock::embedded
