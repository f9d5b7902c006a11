#include "embedded/rbac_aggregation.hpp"

#include "embedded/admission_selector.hpp"
#include "embedded/rbac.hpp"

#include <algorithm>
#include <set>

namespace paddock::embedded {

namespace {

const resource_kind& cluster_roles() {
  static const auto* kind = find_kind(rbac_group, "v1", "clusterroles");
  return *kind;
}

/// The rules that roles which aggregate shall have.
class collector {
public:
  explicit collector(const std::vector<json>& all) : all_(all) {
  }

  json rules_for(const json& role) {
    rules_ = json::array();
    visited_ = {&role};
    collect(role);
    return std::move(rules_);
  }

private:
  /// Adds the rules of the roles that the selectors of `role` choose; those said twice once.
  void collect(const json& role) {
    const auto* rule = member(role, "aggregationRule");
    for (const auto& selector : list_at(*rule, "clusterRoleSelectors")) {
      const auto chosen = read_label_selector(selector);
      for (const auto& other : all_) {
        if (!chosen || !chosen->matches(other) || !visited_.insert(&other).second)
          continue;
        // Of a role that aggregates itself the rules count that it shall have, and not those that it has.
        if (aggregates(other))
          collect(other);
        else
          add(list_at(other, "rules"));
      }
    }
  }

  void add(const json& rules) {
    for (const auto& one : rules)
      if (std::find(rules_.begin(), rules_.end(), one) == rules_.end())
        rules_.push_back(one);
  }

  const std::vector<json>& all_;
  std::set<const json*> visited_;
  json rules_;
};

} // namespace

bool aggregate_roles(store& objects) {
  bool wrote = false;
  std::vector<json> all;
  for (const auto& x : objects.list(cluster_roles(), "", {}))
    all.push_back(x->value());
  for (const auto& one : all) {
    if (!aggregates(one))
      continue;
    auto wanted = collector{all}.rules_for(one);
    const auto* had = member(one, "rules");
    if (had != nullptr && (*had == wanted || (had->is_null() && wanted.empty())))
      continue;
    const auto change = [&](const json& object) -> api_result<json> {
      auto out = object;
      out["rules"] = wanted;
      return out;
    };
    const auto done =
      objects.update(cluster_roles(), "", text_at(one, {"metadata", "name"}), store::part::main, store::form::patch, change);
    wrote = wrote || done.has_value();
  }
  return wrote;
}

} // namespace paddock::embedded
