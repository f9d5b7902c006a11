#pragma once

#include "embedded/authentication.hpp"
#include "embedded/rbac.hpp"
#include "embedded/store.hpp"

#include <memory>
#include <unordered_map>

namespace paddock::embedded {

struct access_verdict {
  bool allowed = false;
  std::string reason; // which binding allows it; empty for `system:masters` and when nothing does
};

/// Decides by the roles and bindings of a store, of which it keeps an index by subject: what other subjects are bound to
/// costs nothing. Nobody may do what no rule allows, but for the group `system:masters`, which may do everything.
class rbac_authorizer {
public:
  /// Takes in what was written since the last call, or everything. Answers whether a ClusterRole may have been among it.
  bool catch_up(const store& objects);
  /// What was taken in has been undone: the next `catch_up` reads everything.
  void start_over() noexcept {
    seen_ = 0;
  }

  [[nodiscard]] access_verdict decide(const user_info& who, const access_attributes& what) const;
  /// Every rule that holds for the user in the namespace, cluster-wide ones first.
  [[nodiscard]] std::vector<policy_rule> rules_of(const user_info& who, const std::string& name_space) const;
  /// The rules of the role that a binding in `name_space` refers to; nothing when there is no such role.
  [[nodiscard]] std::optional<std::vector<policy_rule>> rules_of_role(std::string_view kind, const std::string& name_space,
                                                                      const std::string& name) const;

private:
  struct binding {
    std::string name_space; // empty: a ClusterRoleBinding
    std::string name;
    std::string role_kind;
    std::string role_name;
    std::vector<std::pair<std::string, std::string>> subjects; // key in the index, and how reasons call it
  };
  using rules_ptr = std::shared_ptr<const std::vector<policy_rule>>;

  void take(const stored_object& object, bool deleted);
  void rebuild(const store& objects);
  void drop_binding(const std::string& key);
  [[nodiscard]] const std::vector<policy_rule>* role(const binding& of) const;
  /// Visits the bindings of the user that hold in `name_space`; stops when `visit` answers true.
  template <class Visit>
  void each_binding(const user_info& who, const std::string& name_space, Visit visit) const;

  std::uint64_t seen_ = 0;
  std::unordered_map<std::string, rules_ptr> roles_; // by namespace, `/` and name
  std::unordered_map<std::string, binding> bindings_;
  std::unordered_map<std::string, std::vector<std::string>> by_subject_; // namespace, `/` and subject to keys of bindings
};

} // namespace paddock::embedded
