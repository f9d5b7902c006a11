#pragma once

#include "embedded/object.hpp"
#include "embedded/resource.hpp"
#include "embedded/status.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

inline constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";

// -- what is asked ------------------------------------------------------------------------------------------------

/// What a request does, as rights are written: a verb on a resource, or on a path that is none.
struct access_attributes {
  std::string verb;
  bool on_resource = false;
  std::string group;
  std::string version;
  std::string resource; // plural
  std::string subresource;
  std::string name_space; // empty: cluster scope
  std::string name;
  std::string path; // of a request that is on no resource
};

/// Reads them off method and target alone, whether such a resource is served or not: who may not ask shall not learn it.
[[nodiscard]] access_attributes read_attributes(std::string_view method, const request_target& target);

/// The 403 for a user without the right.
[[nodiscard]] api_status access_denied(const access_attributes& what, std::string_view user);

// -- what is granted ----------------------------------------------------------------------------------------------

/// One rule of a role.
struct policy_rule {
  std::vector<std::string> verbs;
  std::vector<std::string> groups;
  std::vector<std::string> resources;
  std::vector<std::string> names; // empty: every name
  std::vector<std::string> urls;
  friend bool operator==(const policy_rule&, const policy_rule&) = default;
};

[[nodiscard]] bool is_role(const resource_kind& kind);

/// Whether the rules of the role are those of others that it selects.
[[nodiscard]] bool aggregates(const json& role);

/// The rules of a role as stored; what cannot be read grants nothing.
[[nodiscard]] std::vector<policy_rule> read_rules(const json& role);
[[nodiscard]] json to_json(const policy_rule& x);

[[nodiscard]] bool allows(const policy_rule& rule, const access_attributes& what);

/// How much work `not_covered` may be, counted in rights to compare; long names count for more than one.
inline constexpr double most_rights = 100'000;
/// And in entries of the lists of `held` to look at.
inline constexpr double most_comparisons = 100'000'000;
/// Whether the rules of a role, taken apart into one right for each verb, group, resource and name, are more than that.
[[nodiscard]] bool too_many(std::span<const policy_rule> held, std::span<const policy_rule> wanted);

/// The rights of `wanted` that none of `held` covers, taken apart, joined by verb again and sorted; none: all are held.
/// @pre not `too_many`
[[nodiscard]] std::vector<policy_rule> not_covered(std::span<const policy_rule> held, std::span<const policy_rule> wanted);

/// `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`
[[nodiscard]] std::string describe(const policy_rule& x);

} // namespace paddock::embedded
