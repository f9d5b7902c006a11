#include "embedded/rbac_schema.hpp"

#include "embedded/rbac.hpp"
#include "embedded/selector.hpp"

#include <array>

namespace paddock::embedded::schema {

namespace {

bool is_filled(const json& object, const char* key) {
  const auto* x = member(object, key);
  return x != nullptr && x->is_array() && !x->empty();
}

std::optional<std::string> not_texts(const json& object, const char* key, const std::string& where) {
  const auto* all = member(object, key);
  if (all == nullptr || all->is_null())
    return std::nullopt;
  if (all->is_array() && std::all_of(all->begin(), all->end(), [](const json& x) { return x.is_string(); }))
    return std::nullopt;
  return "json: cannot unmarshal " + std::string{all->is_array() ? "value" : all->type_name()} + " into Go struct field " + where + "."
         + key + " of type string";
}

/// A list of objects below `key`, each of which `visit` may find fault with.
template <class Visit>
std::optional<std::string> each_object(const json& object, const char* key, const std::string& where, Visit visit) {
  const auto* all = member(object, key);
  if (all == nullptr || all->is_null())
    return std::nullopt;
  if (!all->is_array())
    return "json: cannot unmarshal " + std::string{all->type_name()} + " into Go struct field " + where + "." + key;
  for (const auto& x : *all) {
    if (!x.is_object())
      return "json: cannot unmarshal " + std::string{x.type_name()} + " into Go struct field " + where + "." + key;
    if (auto why = visit(x))
      return why;
  }
  return std::nullopt;
}

std::optional<std::string> not_text(const json& object, std::initializer_list<const char*> keys, const std::string& where) {
  for (const auto* key : keys)
    if (const auto* x = member(object, key); x != nullptr && !x->is_null() && !x->is_string())
      return "json: cannot unmarshal " + std::string{x->type_name()} + " into Go struct field " + where + "." + key + " of type string";
  return std::nullopt;
}

void check_rule(const resource_kind& kind, const json& rule, const std::string& at, std::vector<status_cause>& out) {
  if (!is_filled(rule, "verbs"))
    out.push_back(field_required(at + ".verbs", "verbs must contain at least one value"));
  if (is_filled(rule, "nonResourceURLs")) {
    const auto urls = rule["nonResourceURLs"].dump();
    if (kind.namespaced)
      out.push_back(field_invalid(at + ".nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs"));
    if (is_filled(rule, "apiGroups") || is_filled(rule, "resources") || is_filled(rule, "resourceNames"))
      out.push_back(field_invalid(at + ".nonResourceURLs", urls, "rules cannot apply to both regular resources and non-resource URLs"));
    return;
  }
  if (!is_filled(rule, "apiGroups"))
    out.push_back(field_required(at + ".apiGroups", "resource rules must supply at least one api group"));
  if (!is_filled(rule, "resources"))
    out.push_back(field_required(at + ".resources", "resource rules must supply at least one resource"));
}

std::vector<status_cause> check_role(const resource_kind& kind, const json& object) {
  std::vector<status_cause> out;
  if (const auto* rules = member(object, "rules"); rules != nullptr && rules->is_array())
    for (std::size_t i = 0; i < rules->size(); ++i)
      check_rule(kind, (*rules)[i], "rules[" + std::to_string(i) + "]", out);
  if (const auto* aggregation = member(object, "aggregationRule"); aggregation != nullptr && aggregation->is_object())
    if (!is_filled(*aggregation, "clusterRoleSelectors"))
      out.push_back(
        field_required("aggregationRule.clusterRoleSelectors", "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  return out;
}

void check_subject(const resource_kind& kind, const json& subject, const std::string& at, std::vector<status_cause>& out) {
  const auto name = text_at(subject, {"name"});
  const auto group = text_at(subject, {"apiGroup"});
  const auto what = text_at(subject, {"kind"});
  if (name.empty())
    out.push_back(field_required(at + ".name"));
  if (what == "ServiceAccount") {
    if (!name.empty() && !is_dns_subdomain(name))
      out.push_back(field_invalid(at + ".name", in_quotes(name), "a lowercase RFC 1123 subdomain is required"));
    if (!group.empty())
      out.push_back(field_unsupported(at + ".apiGroup", in_quotes(group), {""}));
    if (!kind.namespaced && text_at(subject, {"namespace"}).empty())
      out.push_back(field_required(at + ".namespace"));
  } else if (what == "User" || what == "Group") {
    if (group != rbac_group)
      out.push_back(field_unsupported(at + ".apiGroup", in_quotes(group), {std::string{rbac_group}}));
  } else {
    out.push_back(field_unsupported(at + ".kind", in_quotes(what), {"ServiceAccount", "User", "Group"}));
  }
}

std::vector<status_cause> check_binding(const resource_kind& kind, const json* before, const json& after) {
  std::vector<status_cause> out;
  const auto group = text_at(after, {"roleRef", "apiGroup"});
  const auto what = text_at(after, {"roleRef", "kind"});
  const auto name = text_at(after, {"roleRef", "name"});
  if (group != rbac_group)
    out.push_back(field_unsupported("roleRef.apiGroup", in_quotes(group), {std::string{rbac_group}}));
  const bool known = what == "ClusterRole" || (kind.namespaced && what == "Role");
  if (!known)
    out.push_back(
      field_unsupported("roleRef.kind", in_quotes(what),
                        kind.namespaced ? std::vector<std::string>{"Role", "ClusterRole"} : std::vector<std::string>{"ClusterRole"}));
  if (name.empty())
    out.push_back(field_required("roleRef.name"));
  if (const auto* subjects = member(after, "subjects"); subjects != nullptr && subjects->is_array())
    for (std::size_t i = 0; i < subjects->size(); ++i)
      check_subject(kind, (*subjects)[i], "subjects[" + std::to_string(i) + "]", out);
  if (before != nullptr && (*before)["roleRef"] != after["roleRef"])
    out.push_back(field_invalid(
      "roleRef", R"({"APIGroup":)" + in_quotes(group) + R"(,"Kind":)" + in_quotes(what) + R"(,"Name":)" + in_quotes(name) + "}",
      "cannot change roleRef"));
  return out;
}

} // namespace

std::optional<std::string> misshapen_rbac(const resource_kind& kind, const json& object) {
  const std::string where{kind.kind};
  if (is_role(kind)) {
    if (const auto* x = member(object, "aggregationRule"); x != nullptr && !x->is_null() && !x->is_object())
      return "json: cannot unmarshal " + std::string{x->type_name()} + " into Go struct field " + where + ".aggregationRule";
    return each_object(object, "rules", where, [&](const json& rule) -> std::optional<std::string> {
      for (const auto* key : {"verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"})
        if (auto why = not_texts(rule, key, where + ".rules"))
          return why;
      return std::nullopt;
    });
  }
  if (const auto* x = member(object, "roleRef"); x != nullptr && !x->is_null()) {
    if (!x->is_object())
      return "json: cannot unmarshal " + std::string{x->type_name()} + " into Go struct field " + where + ".roleRef";
    if (auto why = not_text(*x, {"apiGroup", "kind", "name"}, where + ".roleRef"))
      return why;
  }
  return each_object(object, "subjects", where, [&](const json& x) {
    return not_text(x, {"apiGroup", "kind", "name", "namespace"}, where + ".subjects");
  });
}

void default_rbac(const resource_kind& kind, json& object) {
  if (is_role(kind)) {
    // Null is none, and takes no rules away.
    if (!aggregates(object))
      object.erase("aggregationRule");
    if (!is_filled(object, "rules"))
      object["rules"] = nullptr;
    return;
  }
  auto& role = object_at(object, "roleRef");
  if (text_at(role, {"apiGroup"}).empty())
    role["apiGroup"] = rbac_group;
  for (const auto* key : {"kind", "name"})
    if (!role.contains(key))
      role[key] = "";
  if (!is_filled(object, "subjects")) {
    object.erase("subjects");
    return;
  }
  for (auto& x : object["subjects"]) {
    const auto what = text_at(x, {"kind"});
    if ((what == "User" || what == "Group") && text_at(x, {"apiGroup"}).empty())
      x["apiGroup"] = rbac_group;
  }
}

std::vector<status_cause> check_rbac(const resource_kind& kind, const json* before, const json& after) {
  return is_role(kind) ? check_role(kind, after) : check_binding(kind, before, after);
}

} // namespace paddock::embedded::schema
