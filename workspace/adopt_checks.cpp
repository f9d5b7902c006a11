#include "workspace/adopt_checks.hpp"

#include "k8s/objects.hpp"

namespace paddock::workspace {

namespace {

result<void> refuse(const std::string& name, std::string field, std::string expected, std::optional<std::string> actual) {
  return tl::unexpected{failure{mismatch{name, std::move(field), std::move(expected), std::move(actual)}}};
}

result<void> check_label(const egress::label_map& carried, const std::string& sandbox_name, const char* field,
                         const std::optional<std::pair<std::string, std::string>>& wanted) {
  if (!wanted)
    return {};
  const auto& [key, value] = *wanted;
  const auto found = carried.find(key);
  if (found != carried.end() && found->second == value)
    return {};
  return refuse(sandbox_name, field, key + "=" + value, found != carried.end() ? std::optional{key + "=" + found->second} : std::nullopt);
}

} // namespace

std::optional<std::string> template_of(const nlohmann::json& sandbox) {
  return k8s::text_at(sandbox, "/spec/podTemplate/metadata/labels/sandbox.namzu.ai~1template");
}

result<void> check_configuration(const nlohmann::json& sandbox, const std::string& sandbox_name, const overlay& wanted, bool refreshing) {
  auto from = template_of(sandbox);
  if (from != wanted.template_name)
    return refuse(sandbox_name, "sandboxTemplateName", wanted.template_name, from);
  if (refreshing)
    return {};
  const auto carried = labels_of(sandbox.value("/spec/podTemplate"_json_pointer, nlohmann::json::object()));
  for (const auto& [field, label] : {std::pair{"egressProfile", wanted.egress_profile}, std::pair{"perSandboxLabel", wanted.per_sandbox}})
    if (auto ok = check_label(carried, sandbox_name, field, label); !ok)
      return ok;
  auto runtime_class = k8s::text_at(sandbox, "/spec/podTemplate/spec/runtimeClassName");
  if (wanted.runtime_class && runtime_class != *wanted.runtime_class)
    return refuse(sandbox_name, "runtimeClassName", *wanted.runtime_class, runtime_class);
  return {};
}

} // namespace paddock::workspace
