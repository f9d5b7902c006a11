#include "embedded/rbac_authorizer.hpp"

#include <algorithm>
#include <array>

namespace paddock::embedded {

namespace {

constexpr auto masters = "system:masters";
constexpr std::string_view account_prefix = "system:serviceaccount:";

std::string key_of(const std::string& name_space, const std::string& name) {
  return name_space + "/" + name;
}

bool is_binding(const resource_kind& kind) {
  return kind.kind == "RoleBinding" || kind.kind == "ClusterRoleBinding";
}

/// How the index knows a subject, and how a reason calls it; nothing for one that can never ask.
std::optional<std::pair<std::string, std::string>> subject_of(const json& x, const std::string& binding_space) {
  const auto kind = text_at(x, {"kind"});
  const auto name = text_at(x, {"name"});
  if (kind == "User" || kind == "Group")
    return std::pair{kind + ":" + name, kind + " " + in_quotes(name)};
  const auto given = text_at(x, {"namespace"});
  const auto name_space = given.empty() ? binding_space : given;
  if (kind != "ServiceAccount" || name_space.empty())
    return std::nullopt;
  return std::pair{"User:" + std::string{account_prefix} + name_space + ":" + name, "ServiceAccount " + in_quotes(name + "/" + given)};
}

} // namespace

template <class Visit>
void rbac_authorizer::each_binding(const user_info& who, const std::string& name_space, Visit visit) const {
  std::vector<std::string> subjects{"User:" + who.name};
  for (const auto& x : who.groups)
    subjects.push_back("Group:" + x);
  for (const auto& scope : name_space.empty() ? std::vector<std::string>{""} : std::vector<std::string>{"", name_space}) {
    for (const auto& subject : subjects) {
      const auto found = by_subject_.find(key_of(scope, subject));
      if (found == by_subject_.end())
        continue;
      for (const auto& key : found->second)
        if (visit(bindings_.at(key), subject))
          return;
    }
  }
}

const std::vector<policy_rule>* rbac_authorizer::role(const binding& of) const {
  const auto found = roles_.find(key_of(of.role_kind == "ClusterRole" ? "" : of.name_space, of.role_name));
  return found == roles_.end() ? nullptr : found->second.get();
}

access_verdict rbac_authorizer::decide(const user_info& who, const access_attributes& what) const {
  if (std::find(who.groups.begin(), who.groups.end(), masters) != who.groups.end())
    return {true, {}};
  access_verdict out;
  each_binding(who, what.on_resource ? what.name_space : std::string{}, [&](const binding& one, const std::string& subject) {
    const auto* rules = role(one);
    if (rules == nullptr || std::none_of(rules->begin(), rules->end(), [&](const auto& x) { return allows(x, what); }))
      return false;
    const auto called = std::find_if(one.subjects.begin(), one.subjects.end(), [&](const auto& x) { return x.first == subject; });
    const auto name = one.name_space.empty() ? one.name : one.name + "/" + one.name_space;
    out = {true, "RBAC: allowed by " + std::string{one.name_space.empty() ? "ClusterRoleBinding " : "RoleBinding "} + in_quotes(name)
                   + " of " + one.role_kind + " " + in_quotes(one.role_name) + " to " + called->second};
    return true;
  });
  return out;
}

std::vector<policy_rule> rbac_authorizer::rules_of(const user_info& who, const std::string& name_space) const {
  std::vector<policy_rule> out;
  each_binding(who, name_space, [&](const binding& one, const std::string&) {
    if (const auto* rules = role(one))
      out.insert(out.end(), rules->begin(), rules->end());
    return false;
  });
  return out;
}

std::optional<std::vector<policy_rule>> rbac_authorizer::rules_of_role(std::string_view kind, const std::string& name_space,
                                                                       const std::string& name) const {
  const auto found = roles_.find(key_of(kind == "ClusterRole" ? std::string{} : name_space, name));
  return found == roles_.end() ? std::nullopt : std::optional{*found->second};
}

// -- the index ----------------------------------------------------------------------------------------------------

void rbac_authorizer::drop_binding(const std::string& key) {
  const auto found = bindings_.find(key);
  if (found == bindings_.end())
    return;
  for (const auto& [subject, called] : found->second.subjects) {
    const auto at = by_subject_.find(key_of(found->second.name_space, subject));
    std::erase(at->second, key);
    if (at->second.empty())
      by_subject_.erase(at);
  }
  bindings_.erase(found);
}

void rbac_authorizer::take(const stored_object& object, bool deleted) {
  const auto& kind = *object.kind;
  if (kind.group != rbac_group)
    return;
  const auto value = object.value();
  const auto name_space = text_at(value, {"metadata", "namespace"});
  const auto name = text_at(value, {"metadata", "name"});
  const auto key = key_of(name_space, name);
  if (is_role(kind)) {
    if (deleted)
      roles_.erase(key);
    else
      roles_[key] = std::make_shared<const std::vector<policy_rule>>(read_rules(value));
    return;
  }
  if (!is_binding(kind))
    return;
  drop_binding(key);
  if (deleted)
    return;
  binding made{name_space, name, text_at(value, {"roleRef", "kind"}), text_at(value, {"roleRef", "name"}), {}};
  if (const auto* subjects = member(value, "subjects"); subjects != nullptr && subjects->is_array()) {
    for (const auto& x : *subjects) {
      auto subject = subject_of(x, name_space);
      const auto known = [&](const auto& y) { return y.first == subject->first; };
      if (subject && std::none_of(made.subjects.begin(), made.subjects.end(), known))
        made.subjects.push_back(std::move(*subject));
    }
  }
  for (const auto& [subject, called] : made.subjects)
    by_subject_[key_of(name_space, subject)].push_back(key);
  bindings_.emplace(key, std::move(made));
}

void rbac_authorizer::rebuild(const store& objects) {
  roles_.clear();
  bindings_.clear();
  by_subject_.clear();
  for (const auto& kind : served_kinds())
    if (kind.group == rbac_group)
      for (const auto& x : objects.list(kind, "", {}))
        take(*x, false);
}

bool rbac_authorizer::catch_up(const store& objects) {
  bool roles_changed = false;
  if (seen_ < objects.floor() || seen_ == 0) {
    rebuild(objects);
    roles_changed = true;
  } else {
    for (const auto* event = objects.event_after(seen_); event != nullptr; event = objects.event_after(event->version)) {
      take(*event->now, event->deleted);
      roles_changed = roles_changed || event->now->kind->kind == "ClusterRole";
    }
  }
  seen_ = objects.version();
  return roles_changed;
}

} // namespace paddock::embedded
