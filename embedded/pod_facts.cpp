#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

namespace {

const nlohmann::json nothing;

const nlohmann::json& in_map(const nlohmann::json& object, const std::string& pointer, std::string_view key) {
  const auto& map = value_in(object, pointer);
  if (!map.is_object())
    return nothing;
  auto found = map.find(key);
  return found == map.end() ? nothing : *found;
}

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : std::string{};
}

} // namespace

const nlohmann::json& value_in(const nlohmann::json& object, const std::string& pointer) {
  auto where = nlohmann::json::json_pointer{pointer};
  return object.contains(where) ? object.at(where) : nothing;
}

std::string text_in(const nlohmann::json& object, const std::string& pointer) {
  return text_of(value_in(object, pointer));
}

std::optional<std::int64_t> number_in(const nlohmann::json& object, const std::string& pointer) {
  const auto& value = value_in(object, pointer);
  if (!value.is_number_integer())
    return std::nullopt;
  return value.get<std::int64_t>();
}

std::string name_of(const nlohmann::json& object) {
  return text_in(object, "/metadata/name");
}

std::string namespace_of(const nlohmann::json& object) {
  return text_in(object, "/metadata/namespace");
}

std::string uid_of(const nlohmann::json& object) {
  return text_in(object, "/metadata/uid");
}

std::string annotation_of(const nlohmann::json& object, std::string_view key) {
  return text_of(in_map(object, "/metadata/annotations", key));
}

std::string label_of(const nlohmann::json& object, std::string_view key) {
  return text_of(in_map(object, "/metadata/labels", key));
}

bool terminating(const nlohmann::json& object) {
  return !text_in(object, "/metadata/deletionTimestamp").empty();
}

const nlohmann::json& controller_of(const nlohmann::json& object) {
  const auto& owners = value_in(object, "/metadata/ownerReferences");
  if (owners.is_array())
    for (const auto& x : owners)
      if (x.is_object() && x.contains("controller") && x["controller"] == true)
        return x;
  return nothing;
}

std::string phase_of(const nlohmann::json& pod) {
  auto phase = text_in(pod, "/status/phase");
  return phase.empty() ? "Pending" : phase;
}

bool ended(const nlohmann::json& pod) {
  auto phase = phase_of(pod);
  return phase == "Succeeded" || phase == "Failed";
}

bool pod_ready(const nlohmann::json& pod) {
  return phase_of(pod) == "Running" && text_in(condition_of(pod, "Ready"), "/status") == "True";
}

std::vector<std::string> pod_ips(const nlohmann::json& pod) {
  std::vector<std::string> result;
  const auto& ips = value_in(pod, "/status/podIPs");
  if (ips.is_array())
    for (const auto& x : ips)
      if (auto ip = text_in(x, "/ip"); !ip.empty())
        result.push_back(std::move(ip));
  return result;
}

std::vector<std::string> claims_of(const nlohmann::json& pod) {
  std::vector<std::string> result;
  const auto& volumes = value_in(pod, "/spec/volumes");
  if (volumes.is_array())
    for (const auto& x : volumes)
      if (auto claim = text_in(x, "/persistentVolumeClaim/claimName"); !claim.empty())
        result.push_back(std::move(claim));
  return result;
}

const nlohmann::json& condition_of(const nlohmann::json& object, std::string_view type) {
  const auto& conditions = value_in(object, "/status/conditions");
  if (conditions.is_array())
    for (const auto& x : conditions)
      if (text_in(x, "/type") == type)
        return x;
  return nothing;
}

} // namespace paddock::embedded
