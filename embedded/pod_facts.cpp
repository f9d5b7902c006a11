#include "embedded/pod_facts.hpp"

#include <charconv>
#include <limits>

namespace paddock::embedded {

namespace {

const nlohmann::json nothing;

/// One step of a pointer, or null. A `~` that escapes nothing stands for itself.
const nlohmann::json& step_into(const nlohmann::json& object, std::string_view token) {
  if (object.is_array()) {
    auto index = std::size_t{0};
    auto [rest, error] = std::from_chars(token.data(), token.data() + token.size(), index);
    return error == std::errc{} && rest == token.data() + token.size() && index < object.size() ? object[index] : nothing;
  }
  if (!object.is_object())
    return nothing;
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    auto escaped = token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    key += escaped ? token[++i] == '0' ? '~' : '/' : token[i];
  }
  auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : std::string{};
}

} // namespace

const nlohmann::json& value_in(const nlohmann::json& object, const std::string& pointer) {
  const auto* at = &object;
  auto left = std::string_view{pointer};
  if (!left.empty() && left.front() != '/')
    return nothing;
  while (!left.empty() && !at->is_null()) {
    left.remove_prefix(1);
    auto token = left.substr(0, left.find('/'));
    at = &step_into(*at, token);
    left.remove_prefix(token.size());
  }
  return *at;
}

const nlohmann::json& member_in(const nlohmann::json& object, const std::string& pointer, std::string_view key) {
  const auto& map = value_in(object, pointer);
  if (!map.is_object())
    return nothing;
  auto found = map.find(key);
  return found == map.end() ? nothing : *found;
}

const nlohmann::json& array_in(const nlohmann::json& object, const std::string& pointer) {
  static const auto none = nlohmann::json::array();
  const auto& result = value_in(object, pointer);
  return result.is_array() ? result : none;
}

std::string text_in(const nlohmann::json& object, const std::string& pointer) {
  return text_of(value_in(object, pointer));
}

std::optional<std::int64_t> number_in(const nlohmann::json& object, const std::string& pointer) {
  const auto& value = value_in(object, pointer);
  if (!value.is_number_integer())
    return std::nullopt;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return most;
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
  return text_of(member_in(object, "/metadata/annotations", key));
}

std::string label_of(const nlohmann::json& object, std::string_view key) {
  return text_of(member_in(object, "/metadata/labels", key));
}

bool terminating(const nlohmann::json& object) {
  return !text_in(object, "/metadata/deletionTimestamp").empty();
}

const nlohmann::json& controller_of(const nlohmann::json& object) {
  for (const auto& x : array_in(object, "/metadata/ownerReferences"))
    if (value_in(x, "/controller") == nlohmann::json(true))
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
  for (const auto& x : array_in(pod, "/status/podIPs"))
    if (auto ip = text_in(x, "/ip"); !ip.empty())
      result.push_back(std::move(ip));
  return result;
}

std::vector<std::string> claims_of(const nlohmann::json& pod) {
  std::vector<std::string> result;
  for (const auto& x : array_in(pod, "/spec/volumes"))
    if (auto claim = text_in(x, "/persistentVolumeClaim/claimName"); !claim.empty())
      result.push_back(std::move(claim));
  return result;
}

const nlohmann::json& condition_of(const nlohmann::json& object, std::string_view type) {
  for (const auto& x : array_in(object, "/status/conditions"))
    if (text_in(x, "/type") == type)
      return x;
  return nothing;
}

} // namespace paddock::embedded
