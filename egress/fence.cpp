#include "egress/fence.hpp"

#include "egress/fence_checks.hpp"
#include "egress/members.hpp"
#include "k8s/paths.hpp"

#include <array>

namespace paddock::egress {

using nlohmann::json;

namespace {

constexpr std::string_view policy_word = "ValidatingAdmissionPolicy";
constexpr std::string_view binding_word = "ValidatingAdmissionPolicyBinding";

fence_object policy_object_of(const std::string& name) {
  return {std::string{policy_word}, name, k8s::admission_policy_path(name)};
}

fence_object binding_object_of(const std::string& name) {
  return {std::string{binding_word}, name, k8s::admission_binding_path(name)};
}

result<void> refuse(const fence_object& object, std::string_view problem, std::string reason) {
  return tl::unexpected{egress_error{fence_not_enforcing{object, std::string{problem}, std::move(reason)}}};
}

/// The spec of an object, or an empty one: whoever looks for a member of it misses it.
const json& spec_of(const json& object) {
  static const auto none = json::object();
  const auto* spec = member(object, "spec");
  return spec != nullptr ? *spec : none;
}

struct check {
  std::string_view problem;
  fence_complaint (*of)(const json& spec, const fence_demand& what);
};

constexpr auto policy_checks = std::array{
  check{"failure-policy", check_failure_policy},
  check{"match-constraints", check_match_constraints},
  check{"validations", check_validations},
};

constexpr auto binding_checks = std::array{
  check{"policy-name", check_policy_name},
  check{"validation-actions", check_validation_actions},
  check{"match-resources", check_match_resources},
  check{"param-ref", check_missing_param},
};

result<void> judge(const fence_object& object, const json& body, const fence_demand& what, std::span<const check> checks) {
  if (auto no = check_readable(body))
    return refuse(object, "unreadable-object", std::move(*no));
  for (const auto& x : checks)
    if (auto no = x.of(spec_of(body), what))
      return refuse(object, x.problem, std::move(*no));
  return {};
}

} // namespace

std::vector<fence_object> fence_objects(const per_sandbox_egress& how) {
  auto got = std::vector{policy_object_of(how.admission_policy_name), binding_object_of(how.binding_name())};
  if (how.permitted_hosts_param) {
    const auto companion = how.admission_policy_name + "-hosts";
    got.push_back(policy_object_of(companion));
    got.push_back(binding_object_of(companion + "-binding"));
  }
  return got;
}

egress_error unread(const fence_object& which, const k8s::failure& why) {
  if (std::holds_alternative<k8s::already_gone>(why))
    return fence_missing{which};
  if (std::holds_alternative<k8s::credential_failure>(why))
    return fence_unreadable{which, why};
  return why;
}

result<void> judge_fence(const fence_question& asked, std::span<const json> bodies) {
  const auto objects = fence_objects(asked.how);
  const auto has_companion = objects.size() > 2;
  if (asked.how.host_identity)
    for (auto i = std::size_t{0}; i < objects.size(); i += 2)
      if (auto no = check_identity(spec_of(bodies[i]), *asked.how.host_identity))
        return refuse(objects[i], "host-identity", std::move(*no));
  if (has_companion) {
    if (auto no = check_param_kind(spec_of(bodies[2])))
      return refuse(objects[2], "param-kind", std::move(*no));
    if (auto no = check_policy_name(spec_of(bodies[3]), {objects[2].name, asked.name_space, {}}))
      return refuse(objects[3], "policy-name", std::move(*no));
    if (auto no = check_param_ref(spec_of(bodies[3]), *asked.how.permitted_hosts_param))
      return refuse(objects[3], "param-ref", std::move(*no));
  }
  if (!asked.structural_checks)
    return {};
  // What the companion bounds is what is written; a DELETE grants nothing.
  for (auto i = std::size_t{0}; i < objects.size(); i += 2) {
    auto what = fence_demand{objects[i].name, asked.name_space, {"CREATE", "UPDATE"}};
    if (i == 0)
      what.operations.emplace_back("DELETE");
    if (auto ok = judge(objects[i], bodies[i], what, policy_checks); !ok)
      return ok;
    if (auto ok = judge(objects[i + 1], bodies[i + 1], what, binding_checks); !ok)
      return ok;
  }
  return {};
}

} // namespace paddock::egress
