#include "egress/read_per_sandbox.hpp"

#include "egress/config_members.hpp"
#include "egress/labels.hpp"
#include "egress/read_narrowing.hpp"

#include <algorithm>

namespace paddock::egress {

namespace {

using json = nlohmann::json;

tl::unexpected<egress_error> refuse(std::string field, const json* value, std::string problem) {
  auto text = value == nullptr && field == "admissionPolicyName" ? std::string{} : shown(value);
  return tl::unexpected<egress_error>{illegal_per_sandbox{std::move(field), std::move(text), std::move(problem)}};
}

bool is_space(char x) {
  return std::string_view{" \t\n\v\f\r"}.find(x) != std::string_view::npos;
}

/// A string that says something and has no spaces around it.
bool is_bare_text(const json* x) {
  if (x == nullptr || !x->is_string())
    return false;
  const auto& text = x->get_ref<const std::string&>();
  return !text.empty() && !is_space(text.front()) && !is_space(text.back());
}

constexpr auto not_bare = "must be a string that is not empty and has no spaces around it";

result<narrowing> read_lowered(const json& object) {
  auto got = read_narrowing(object, "perSandbox.narrowing");
  if (!got)
    return got;
  // Entries are looked up in lower case: another key would leave its host without the restriction that it states.
  for (const auto& [entry, ports] : got->host_ports)
    if (std::any_of(entry.begin(), entry.end(), [](char x) { return x >= 'A' && x <= 'Z'; }))
      return illegal("perSandbox.narrowing.hostPorts[\"" + entry + "\"]",
                     "must be in lower case, as the hosts are that it is compared with");
  return got;
}

/// A member that may be missing, but not be anything else than a bare text.
result<std::optional<std::string>> read_optional(const json& object, const char* name) {
  const auto* value = configured(object, name);
  if (value == nullptr)
    return std::optional<std::string>{};
  if (!is_bare_text(value))
    return refuse(name, value, not_bare);
  return value->get<std::string>();
}

result<object_reference> read_param(const json& object) {
  if (auto ok = check_members(object, "perSandbox.permittedHostsParam", {"name", "namespace"}); !ok)
    return tl::unexpected{ok.error()};
  for (const auto* name : {"name", "namespace"})
    if (!is_bare_text(configured(object, name)))
      return refuse(below("permittedHostsParam", name), configured(object, name), not_bare);
  return object_reference{object["name"], object["namespace"]};
}

result<std::string> read_label_key(const json& object, const std::optional<std::string>& profile_key) {
  const auto preset = json(default_per_sandbox_label_key);
  const auto* value = configured(object, "labelKey");
  if (value == nullptr)
    value = &preset;
  auto key = shown(value);
  if (!value->is_string() || !is_label_key(key))
    return refuse("labelKey", value, "is no label key");
  if (key == template_label_key)
    return refuse("labelKey", value, "is the key that names the template of a pod");
  if (key == profile_key)
    return refuse("labelKey", value, "is the key of the profile too");
  return key;
}

} // namespace

result<per_sandbox_egress> read_per_sandbox(const json& object, const std::optional<std::string>& profile_key) {
  if (auto ok = check_members(
        object, "perSandbox",
        {"engine", "admissionPolicyName", "admissionPolicyBindingName", "labelKey", "narrowing", "hostIdentity", "permittedHostsParam"});
      !ok)
    return tl::unexpected{ok.error()};
  if (const auto* engine = configured(object, "engine"); engine == nullptr || *engine != "cilium")
    return refuse("engine", engine, "must be 'cilium': a list of hosts takes a CiliumNetworkPolicy");
  auto got = per_sandbox_egress{};
  const auto* policy = configured(object, "admissionPolicyName");
  if (policy == nullptr)
    return refuse("admissionPolicyName", policy, "is missing: name the ValidatingAdmissionPolicy that bounds what this host writes");
  if (!is_bare_text(policy))
    return refuse("admissionPolicyName", policy, not_bare);
  got.admission_policy_name = policy->get<std::string>();
  auto binding = read_optional(object, "admissionPolicyBindingName");
  if (!binding)
    return tl::unexpected{binding.error()};
  got.admission_policy_binding_name = *std::move(binding);
  if (const auto* narrowed = configured(object, "narrowing")) {
    auto how = read_lowered(*narrowed);
    if (!how)
      return tl::unexpected{how.error()};
    got.narrowing = *std::move(how);
  }
  auto identity = read_optional(object, "hostIdentity");
  if (!identity)
    return tl::unexpected{identity.error()};
  got.host_identity = *std::move(identity);
  if (const auto* param = configured(object, "permittedHostsParam")) {
    auto reference = read_param(*param);
    if (!reference)
      return tl::unexpected{reference.error()};
    got.permitted_hosts_param = *std::move(reference);
  }
  auto key = read_label_key(object, profile_key);
  if (!key)
    return tl::unexpected{key.error()};
  got.label_key = *std::move(key);
  return got;
}

} // namespace paddock::egress
