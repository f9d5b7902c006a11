#include "workspace/adopt_checks.hpp"

#include "k8s/objects.hpp"

namespace paddock::workspace {

namespace {

result<void> refuse(const std::string& name, std::string field, std::string expected, std::optional<std::string> actual) {
  return tl::unexpected{failure{mismatch{name, std::move(field), std::move(expected), std::move(actual)}}};
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
  if (wanted.egress_profile) {
    const auto& [key, value] = *wanted.egress_profile;
    const auto labels = sandbox.value("/spec/podTemplate/metadata/labels"_json_pointer, nlohmann::json::object());
    const auto found = labels.find(key);
    const auto actual = found != labels.end() && found->is_string() ? std::optional{found->get<std::string>()} : std::nullopt;
    if (actual != value)
      return refuse(sandbox_name, "egressProfile", key + "=" + value, actual ? std::optional{key + "=" + *actual} : std::nullopt);
  }
  // The per-sandbox label stands here once it is configured.
  auto runtime_class = k8s::text_at(sandbox, "/spec/podTemplate/spec/runtimeClassName");
  if (wanted.runtime_class && runtime_class != *wanted.runtime_class)
    return refuse(sandbox_name, "runtimeClassName", *wanted.runtime_class, runtime_class);
  return {};
}

} // namespace paddock::workspace
