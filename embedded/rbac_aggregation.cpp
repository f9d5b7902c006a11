#include "embedded/rbac_aggregation.hpp"

#include "embedded/admission_selector.hpp"
#include "embedded/rbac.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

const resource_kind& cluster_roles() {
  static const auto* kind = find_kind(rbac_group, "v1", "clusterroles");
  return *kind;
}

/// The rules that `role` shall have, of the roles that its selectors choose; those said twice once.
json aggregated(const json& role, const std::vector<object_ptr>& all) {
  auto out = json::array();
  const auto* selectors = find(role, {"aggregationRule", "clusterRoleSelectors"});
  if (selectors == nullptr || !selectors->is_array())
    return out;
  for (const auto& selector : *selectors) {
    const auto chosen = read_label_selector(selector);
    for (const auto& other : all) {
      if (text_at(other->value, {"metadata", "name"}) == text_at(role, {"metadata", "name"}) || !chosen || !chosen->matches(other->value))
        continue;
      const auto* rules = member(other->value, "rules");
      if (rules == nullptr || !rules->is_array())
        continue;
      for (const auto& rule : *rules)
        if (std::find(out.begin(), out.end(), rule) == out.end())
          out.push_back(rule);
    }
  }
  return out;
}

} // namespace

bool aggregate_roles(store& objects) {
  bool wrote = false;
  const auto all = objects.list(cluster_roles(), "", {});
  for (const auto& one : all) {
    if (find(one->value, {"aggregationRule"}) == nullptr)
      continue;
    auto wanted = aggregated(one->value, all);
    const auto* had = member(one->value, "rules");
    if (had != nullptr && (*had == wanted || (had->is_null() && wanted.empty())))
      continue;
    const auto change = [&](const json& object) -> api_result<json> {
      auto out = object;
      out["rules"] = wanted;
      return out;
    };
    const auto done =
      objects.update(cluster_roles(), "", text_at(one->value, {"metadata", "name"}), store::part::main, store::form::patch, change);
    wrote = wrote || done.has_value();
  }
  return wrote;
}

} // namespace paddock::embedded
