#pragma once

#include "embedded/admission_selector.hpp"
#include "embedded/cel.hpp"
#include "embedded/rbac.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// An expression of a policy. One that is outside the subset stays, and fails whenever it is asked.
struct policy_expression {
  std::string text;
  std::string field; // `spec.validations[0].expression`
  tl::expected<cel::program, cel::compile_failure> compiled;
};

/// Which writes a policy or binding is about.
struct write_match {
  struct rule {
    std::vector<std::string> operations;
    std::vector<std::string> groups;
    std::vector<std::string> versions;
    std::vector<std::string> resources; // `pods`, `pods/status`, `pods/*`, `*`, `*/status`, `*/*`
    std::vector<std::string> names;     // empty: every name
    std::string scope;                  // `*`, `Cluster` or `Namespaced`
  };
  std::vector<rule> rules;
  std::vector<rule> excluded;
  label_selector namespaces;
  label_selector objects;

  /// Whether one of the rules fits and none that excludes does; no rules at all fit everything.
  [[nodiscard]] bool fits(const access_attributes& what, std::string_view operation, std::string_view name, bool namespaced) const;
};

/// A ValidatingAdmissionPolicy, ready to be asked.
struct admission_policy {
  struct validation {
    policy_expression expression;
    std::string message;
    std::optional<policy_expression> message_expression;
    std::string reason; // empty: Invalid
  };
  struct variable {
    std::string name;
    policy_expression expression;
  };
  std::string name;
  bool ignores_failures = false;
  write_match match;
  std::string param_version; // both empty: no parameters
  std::string param_kind;
  std::vector<variable> variables;
  std::vector<policy_expression> conditions;
  std::vector<validation> validations;
  std::vector<policy_expression> annotations; // of the audit log, which nobody keeps: only checked
  /// Where the variables of each name stand, in their order.
  std::map<std::string, std::vector<std::size_t>, std::less<>> variables_named;

  /// What the name stands for in the expression of variable number `end`: the last of that name before it.
  [[nodiscard]] std::optional<std::size_t> variable_before(std::size_t end, std::string_view of_name) const;
};

/// Which objects a binding takes the parameters of its policy from.
struct binding_params {
  std::string name; // empty: by selector
  std::string name_space;
  std::optional<tl::expected<label_selector, std::string>> selector; // absent: by name; an error: it cannot be read
  bool absent_denies = true;
};

/// A ValidatingAdmissionPolicyBinding.
struct admission_binding {
  std::string name;
  std::string policy;
  bool denies = false;
  bool warns = false;
  write_match match;
  std::optional<binding_params> params;
};

/// Reads what a schema check has let through. What cannot be read is as if it were absent.
[[nodiscard]] admission_policy read_policy(const json& object);
[[nodiscard]] admission_binding read_policy_binding(const json& object);

/// All expressions, in the order of the fields, with the results that each may have (`bool`).
struct expected_result {
  const policy_expression* expression;
  std::vector<std::string_view> types; // empty: any
};
[[nodiscard]] std::vector<expected_result> expressions_of(const admission_policy& x);

/// What the status says of the expressions that are outside the subset.
[[nodiscard]] json type_checking(const admission_policy& x);

} // namespace paddock::embedded
