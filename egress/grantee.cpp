#include "egress/grantee.hpp"

#include "k8s/objects.hpp"

#include <nlohmann/json.hpp>

namespace paddock::egress {

namespace {

label_map labels_of_pods(const nlohmann::json& sandbox) {
  auto out = label_map{};
  const auto at = nlohmann::json::json_pointer{"/spec/podTemplate/metadata/labels"};
  if (!sandbox.contains(at) || !sandbox.at(at).is_object())
    return out;
  for (const auto& [key, value] : sandbox.at(at).items())
    if (value.is_string())
      out.emplace(key, value.get<std::string>());
  return out;
}

} // namespace

result<grantee> grantee_of(const per_sandbox_egress& how, std::string name_space, std::string sandbox_name, const nlohmann::json& sandbox) {
  auto uid = k8s::text_at(sandbox, "/metadata/uid");
  if (!uid)
    return tl::unexpected{egress_error{owner_uid_missing{std::move(sandbox_name), std::move(name_space)}}};
  auto owner = policy_owner{policy_owner::type::sandbox, sandbox_name, *std::move(uid)};
  return grantee{{how, std::move(name_space), std::move(owner), std::move(sandbox_name), true}, labels_of_pods(sandbox)};
}

} // namespace paddock::egress
