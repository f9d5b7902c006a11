#include "embedded/rbac_escalation.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

/// Without what a garbage collector may change.
json substance(json object) {
  auto& metadata = object_at(object, "metadata");
  for (const auto* field : {"ownerReferences", "finalizers", "resourceVersion", "managedFields", "generation"})
    metadata.erase(field);
  return object;
}

api_status refused(const resource_kind& kind, const std::string& name, const std::string& why) {
  status_details details;
  details.name = name;
  details.group = kind.group;
  details.kind = kind.plural;
  return {403, "Forbidden", kind.qualified_plural() + " " + in_quotes(name) + " is forbidden: " + why, std::move(details)};
}

std::string groups_of(const user_info& who) {
  std::string out;
  for (const auto& x : who.groups)
    out += (out.empty() ? "" : " ") + in_quotes(x);
  return "[" + out + "]";
}

/// The refusal that lists what of `wanted` the user lacks, or says that this cannot be told; nothing when it holds everything.
std::optional<std::string> lacking(const rbac_authorizer& rights, const user_info& who, const std::string& name_space,
                                   const std::vector<policy_rule>& wanted) {
  const auto held = rights.rules_of(who, name_space);
  if (too_many(held, wanted))
    return "its rules name more combinations of verb, group, resource and name than can be compared with the permissions of user "
           + in_quotes(who.name) + " (" + std::to_string(static_cast<int>(most_rights)) + ")";
  const auto missing = not_covered(held, wanted);
  if (missing.empty())
    return std::nullopt;
  std::vector<std::string> lines;
  for (const auto& x : missing)
    lines.push_back(describe(x));
  std::sort(lines.begin(), lines.end());
  auto out = "user " + in_quotes(who.name) + " (groups=" + groups_of(who) + ") is attempting to grant RBAC permissions not currently held:";
  for (const auto& x : lines)
    out += "\n" + x;
  return out;
}

bool may(const rbac_authorizer& rights, const user_info& who, const char* verb, const std::string& resource, const std::string& name_space,
         const std::string& name) {
  access_attributes asked;
  asked.verb = verb;
  asked.on_resource = true;
  asked.group = rbac_group;
  asked.version = "v1";
  asked.resource = resource;
  asked.name_space = name_space;
  asked.name = name;
  return rights.decide(who, asked).allowed;
}

} // namespace

api_result<void> check_grant(const rbac_authorizer& rights, const user_info& who, const access_attributes& what, const resource_kind& kind,
                             const json& object, const json* old) {
  if (kind.group != rbac_group || std::find(who.groups.begin(), who.groups.end(), "system:masters") != who.groups.end())
    return {};
  if (old != nullptr && substance(object) == substance(*old))
    return {};
  const auto name = text_at(object, {"metadata", "name"});
  if (is_role(kind)) {
    if (may(rights, who, "escalate", std::string{kind.plural}, what.name_space, what.name))
      return {};
    if (kind.kind == "ClusterRole" && (aggregates(object) || (old != nullptr && aggregates(*old)))) {
      const std::vector<policy_rule> everything{{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
      if (!not_covered(rights.rules_of(who, ""), everything).empty())
        return tl::unexpected{refused(kind, name, "must have cluster-admin privileges to use the aggregationRule")};
    }
    if (const auto why = lacking(rights, who, what.name_space, read_rules(object)))
      return tl::unexpected{refused(kind, name, *why)};
    return {};
  }
  const auto role_kind = text_at(object, {"roleRef", "kind"});
  const auto role_name = text_at(object, {"roleRef", "name"});
  if (may(rights, who, "bind", role_kind == "ClusterRole" ? "clusterroles" : "roles", what.name_space, role_name))
    return {};
  const auto bound = rights.rules_of_role(role_kind, what.name_space, role_name);
  if (!bound)
    return tl::unexpected{not_found(kind, role_name)};
  if (const auto why = lacking(rights, who, what.name_space, *bound))
    return tl::unexpected{refused(kind, name, *why)};
  return {};
}

} // namespace paddock::embedded
