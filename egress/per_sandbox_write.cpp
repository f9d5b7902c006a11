#include "egress/per_sandbox_write.hpp"

#include "egress/members.hpp"
#include "egress/selectors.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace paddock::egress {

using nlohmann::json;

namespace {

bool selects_name(const json& item, const grant_target& whose) {
  const auto* spec = member(item, "spec");
  const auto* selector = spec != nullptr ? member(*spec, "endpointSelector") : nullptr;
  const auto* labels = selector != nullptr ? member(*selector, "matchLabels") : nullptr;
  if (labels == nullptr || !labels->is_object())
    return false;
  return std::ranges::any_of(
    labels->items(), [&](const auto& x) { return cilium_key(x.key()) == whose.how.label_key && x.value() == whose.selector_value; });
}

std::string kind_of(const policy_owner& x) {
  return x.kind == policy_owner::type::sandbox ? "Sandbox" : "SandboxClaim";
}

bool is_owned(const json& item, const std::string& name, const grant_target& whose) {
  if (name != per_sandbox_policy_name(whose.owner.uid))
    return false;
  const auto* metadata = member(item, "metadata");
  const auto* owners = metadata != nullptr ? member(*metadata, "ownerReferences") : nullptr;
  return owners != nullptr && owners->is_array() && std::ranges::any_of(*owners, [&](const json& x) {
           return k8s::text_at(x, "/kind") == kind_of(whose.owner) && k8s::text_at(x, "/uid") == whose.owner.uid;
         });
}

} // namespace

k8s::call create_policy(const policy_object& what) {
  return k8s::post(k8s::cilium_policies_path(what.name_space), what.manifest);
}

k8s::call replace_policy(const policy_object& what) {
  return k8s::merge_patch(what.path(), what.manifest);
}

k8s::call remove_policy(const grant_target& whose) {
  return k8s::remove(k8s::cilium_policies_path(whose.name_space, per_sandbox_policy_name(whose.owner.uid)));
}

k8s::call take_back_policy(const policy_object& what, const std::string& uid_of_policy) {
  return k8s::remove(what.path(), json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid_of_policy}}}});
}

k8s::call read_owner(const grant_target& whose) {
  return k8s::get(whose.owner.kind == policy_owner::type::sandbox ? k8s::sandboxes_path(whose.name_space, whose.owner.name)
                                                                  : k8s::claims_path(whose.name_space, whose.owner.name));
}

egress_error of_write(const k8s::call& what, const k8s::failure& why) {
  if (k8s::outcome_unknown(why))
    return policy_write_unknown{what.method, what.path, why};
  return why;
}

bool is_of_predecessor(const json& item, const grant_target& whose) {
  const auto name = k8s::text_at(item, "/metadata/name").value_or("");
  return name.starts_with(per_sandbox_name_prefix) && selects_name(item, whose) && !is_owned(item, name, whose);
}

} // namespace paddock::egress
