#include "embedded/namespace_end.hpp"

#include "embedded/pod_facts.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using nlohmann::json;

constexpr auto finalizer = "kubernetes";

bool has(const json& list, const char* what) {
  return list.is_array() && std::find(list.begin(), list.end(), json(what)) != list.end();
}

} // namespace

bool waits_for_content(const nlohmann::json& name_space) {
  return terminating(name_space) && has(value_in(name_space, "/spec/finalizers"), finalizer);
}

std::vector<std::string> group_paths(const nlohmann::json& groups) {
  auto result = std::vector<std::string>{"/api/v1"};
  if (const auto& all = value_in(groups, "/groups"); all.is_array())
    for (const auto& x : all)
      if (auto version = text_in(x, "/preferredVersion/groupVersion"); !version.empty())
        result.push_back("/apis/" + version);
  return result;
}

std::vector<std::string> removable_resources(const nlohmann::json& resources) {
  std::vector<std::string> result;
  if (const auto& all = value_in(resources, "/resources"); all.is_array())
    for (const auto& x : all) {
      auto name = text_in(x, "/name");
      const auto& verbs = value_in(x, "/verbs");
      if (value_in(x, "/namespaced") == json(true) && name.find('/') == std::string::npos && has(verbs, "list") && has(verbs, "delete"))
        result.push_back(name);
    }
  return result;
}

k8s::call remove_content(const std::string& path, const nlohmann::json& item) {
  return k8s::remove(
    path + "/" + name_of(item),
    json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}, {"preconditions", {{"uid", uid_of(item)}}}});
}

k8s::call finalize_namespace(const nlohmann::json& name_space) {
  auto body = name_space;
  std::erase(body["spec"]["finalizers"].get_ref<json::array_t&>(), json(finalizer));
  return {"PUT", "/api/v1/namespaces/" + name_of(name_space) + "/finalize", k8s::call::content::json, std::move(body)};
}

} // namespace paddock::embedded
