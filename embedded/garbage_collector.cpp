#include "embedded/garbage_collector.hpp"

#include "embedded/pod_facts.hpp"
#include "embedded/resource.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using nlohmann::json;

constexpr auto foreground = "foregroundDeletion";

std::optional<std::string> path_in(const std::string& version, const std::string& kind, const std::string& name_space,
                                   const std::string& name) {
  auto slash = version.find('/');
  auto group = slash == std::string::npos ? std::string{} : version.substr(0, slash);
  for (const auto& x : served_kinds())
    if (x.collected && x.group == group && x.kind == kind)
      return (group.empty() ? "/api/" : "/apis/") + version + "/namespaces/" + name_space + "/" + std::string{x.plural} + "/" + name;
  return std::nullopt;
}

/// The patch that leaves an object, as it was read, these owners.
std::optional<k8s::call> keep_owners(const json& object, json owners) {
  const auto path = path_of(object);
  if (!path)
    return std::nullopt;
  return k8s::json_patch(
    *path,
    json::array({json{{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid_of(object)}},
                 json{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", text_in(object, "/metadata/resourceVersion")}},
                 json{{"op", "add"}, {"path", "/metadata/ownerReferences"}, {"value", std::move(owners)}}}));
}

} // namespace

std::optional<k8s::call> without_finalizer(const nlohmann::json& object, const std::string& name) {
  const auto& finalizers = value_in(object, "/metadata/finalizers");
  if (!terminating(object) || !finalizers.is_array())
    return std::nullopt;
  auto at = std::find(finalizers.begin(), finalizers.end(), json(name));
  auto path = path_of(object);
  if (at == finalizers.end() || !path)
    return std::nullopt;
  auto where = "/metadata/finalizers/" + std::to_string(at - finalizers.begin());
  return k8s::json_patch(*path,
                         json::array({json{{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid_of(object)}},
                                      json{{"op", "test"}, {"path", where}, {"value", name}}, json{{"op", "remove"}, {"path", where}}}));
}

std::optional<std::string> path_of(const nlohmann::json& object) {
  return path_in(text_in(object, "/apiVersion"), text_in(object, "/kind"), namespace_of(object), name_of(object));
}

std::optional<std::string> path_of(const nlohmann::json& reference, const std::string& name_space) {
  return path_in(text_in(reference, "/apiVersion"), text_in(reference, "/kind"), name_space, text_in(reference, "/name"));
}

bool says_gone(const nlohmann::json& reference, unsigned status, const std::string& message) {
  return status == 404 && message.find("\"" + text_in(reference, "/name") + "\" not found") != std::string::npos;
}

std::optional<k8s::call> collect(const nlohmann::json& object, const owner_lookup& look, bool dependants) {
  const auto& owners = value_in(object, "/metadata/ownerReferences");
  if (!owners.is_array() || owners.empty() || terminating(object))
    return std::nullopt;
  auto waits = false;
  for (const auto& x : owners) {
    auto state = look(x, namespace_of(object));
    if (state != owner_state::gone && state != owner_state::waits)
      return std::nullopt;
    waits = waits || state == owner_state::waits;
  }
  auto path = path_of(object);
  if (!path)
    return std::nullopt;
  return k8s::remove(*path, json{{"apiVersion", "v1"},
                                 {"kind", "DeleteOptions"},
                                 {"propagationPolicy", waits && dependants ? "Foreground" : "Background"},
                                 {"preconditions", {{"uid", uid_of(object)}}}});
}

std::optional<k8s::call> let_go(const nlohmann::json& object, const owner_lookup& look) {
  const auto& owners = value_in(object, "/metadata/ownerReferences");
  if (!owners.is_array() || terminating(object))
    return std::nullopt;
  auto left = json::array();
  for (const auto& x : owners) {
    const auto state = look(x, namespace_of(object));
    if (state == owner_state::unknown)
      return std::nullopt;
    if (state == owner_state::stands)
      left.push_back(x);
  }
  return left.empty() || left.size() == owners.size() ? std::nullopt : keep_owners(object, std::move(left));
}

std::optional<k8s::call> end_foreground(const nlohmann::json& object, const std::vector<nlohmann::json>& dependants) {
  for (const auto& x : dependants)
    for (const auto& owner : value_in(x, "/metadata/ownerReferences"))
      if (text_in(owner, "/uid") == uid_of(object) && value_in(owner, "/blockOwnerDeletion") == json(true))
        return std::nullopt;
  return without_finalizer(object, foreground);
}

std::vector<k8s::call> orphan(const nlohmann::json& object, const std::vector<nlohmann::json>& dependants) {
  const auto last = without_finalizer(object, "orphan");
  if (!last)
    return {};
  std::vector<k8s::call> result;
  for (const auto& x : dependants) {
    auto left = value_in(x, "/metadata/ownerReferences");
    if (!left.is_array())
      continue;
    std::erase_if(left.get_ref<json::array_t&>(), [&](const json& owner) { return text_in(owner, "/uid") == uid_of(object); });
    if (auto patch = keep_owners(x, std::move(left)))
      result.push_back(std::move(*patch));
  }
  result.push_back(*last);
  return result;
}

} // namespace paddock::embedded
