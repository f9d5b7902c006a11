#include "egress/enumeration.hpp"

#include "egress/members.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"

#include <utility>

namespace paddock::egress {

using nlohmann::json;

std::vector<policy_collection> policy_collections(std::string_view name_space, policy_engine engine) {
  auto got = std::vector<policy_collection>{{resource_kind::network_policy, "networkpolicies", k8s::network_policies_path(name_space)}};
  if (engine == policy_engine::cilium)
    got.push_back({resource_kind::cilium_network_policy, "ciliumnetworkpolicies", k8s::cilium_policies_path(name_space)});
  return got;
}

k8s::call page_request(const policy_collection& of, std::string_view more) {
  return k8s::to_call(k8s::list_request{{of.path}, policies_per_page, std::string{more}});
}

policy_page read_policy_page(std::optional<json> answer) {
  auto got = policy_page{};
  if (!answer || !answer->is_object())
    return got;
  if (const auto items = answer->find("items"); items != answer->end() && items->is_array())
    got.items = std::move(items->get_ref<json::array_t&>());
  got.more = k8s::text_at(*answer, "/metadata/continue").value_or("");
  return got;
}

std::optional<unread_collection> unread_of(const policy_collection& of, const k8s::failure& why) {
  using cause = unread_collection::cause;
  if (std::holds_alternative<k8s::already_gone>(why))
    return unread_collection{of.resource, of.path, cause::absent, to_string(why)};
  if (std::holds_alternative<k8s::credential_failure>(why))
    return unread_collection{of.resource, of.path, cause::forbidden, to_string(why)};
  return std::nullopt;
}

} // namespace paddock::egress
