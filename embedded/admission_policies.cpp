#include "embedded/admission_policies.hpp"

#include "embedded/admission_evaluation.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

constexpr std::string_view admission_group = "admissionregistration.k8s.io";
constexpr std::size_t most_warnings = 256; // more than an answer ever holds

const resource_kind& policy_kind() {
  static const auto* kind = find_kind(admission_group, "v1", "validatingadmissionpolicies");
  return *kind;
}

std::uint64_t generation_at(const json& object, std::initializer_list<std::string_view> path) {
  const auto* x = find(object, path);
  return x != nullptr && x->is_number_integer() ? x->get<std::uint64_t>() : 0;
}

unsigned code_of(const std::string& reason) {
  return reason == "Forbidden" ? 403 : reason == "RequestEntityTooLarge" ? 413 : 422;
}

std::string name_of(const admission_request& what) {
  const auto& named = what.object != nullptr ? *what.object : *what.old;
  return text_at(named, {"metadata", "name"});
}

api_status denial(const admission_request& what, const std::string& name, const std::string& why, const std::string& reason) {
  const auto& kind = what.kind;
  status_details details;
  details.name = name;
  details.group = kind.group;
  details.kind = kind.plural;
  details.causes.push_back({"", why, ""});
  const auto said = reason.empty() ? std::string{"Invalid"} : reason;
  return {code_of(said), said, kind.qualified_plural() + " " + in_quotes(name) + " is forbidden: " + why, std::move(details)};
}

/// Whether the labels that the match asks for are there, of the namespace and of the object.
bool has_labels(const write_match& match, const admission_request& what, const json* name_space) {
  const bool is_namespace = what.kind.kind == "Namespace" && what.kind.group.empty();
  const auto* labelled = is_namespace ? (what.object != nullptr ? what.object : what.old) : name_space;
  if (labelled != nullptr && !match.namespaces.matches(*labelled))
    return false;
  return (what.object != nullptr && match.objects.matches(*what.object)) || (what.old != nullptr && match.objects.matches(*what.old));
}

const resource_kind* served(const std::string& version, const std::string& name) {
  for (const auto& x : served_kinds())
    if (x.api_version() == version && x.kind == name && !x.asks)
      return &x;
  return nullptr;
}

/// Puts one write to policies, and keeps what they say.
class hearing {
public:
  hearing(const admission_request& what, const store& objects, std::vector<std::string>& warnings) :
    what_(what), objects_(objects), warnings_(warnings), name_(name_of(what)) {
    if (what.kind.namespaced)
      if (const auto found = objects.get(*served("v1", "Namespace"), "", what.what.name_space))
        home_ = *found;
  }

  [[nodiscard]] bool fits(const write_match& match) {
    return match.fits(what_.what, what_.operation, name_, what_.kind.namespaced) && has_labels(match, what_, name_space());
  }

  /// @pre the kind of its parameters is served, if it has one
  void ask(const admission_policy& policy, const admission_binding& binding, cel::budget& cost) {
    std::vector<object_ptr> params{nullptr};
    if (!policy.param_kind.empty() && binding.params) {
      auto chosen = params_of(policy, *binding.params);
      if (!chosen)
        return fail(policy, called(policy, binding), "failed to configure binding: " + chosen.error());
      params = std::move(*chosen);
    }
    if (request_.is_null())
      request_ = request_of(what_, name_);
    for (const auto& param : params) {
      const auto value = param ? param->value() : json{};
      const policy_input input{request_, what_.object, what_.old, param ? &value : nullptr, name_space()};
      for (const auto& verdict : evaluate_policy(policy, input, cost))
        judge(policy, binding, verdict);
      // Of the other parameters nothing more could be said.
      if (cost.used_up())
        return;
    }
  }

  /// The policy cannot even be asked, which refuses whatever the actions of its bindings are.
  void fail(const admission_policy& policy, const std::string& who, const std::string& why) {
    if (!policy.ignores_failures && !denied_)
      denied_ = denial(what_, name_, who + " denied request: " + why, "");
  }

  /// The first denial.
  [[nodiscard]] const std::optional<api_status>& denied() const {
    return denied_;
  }

private:
  [[nodiscard]] const json* name_space() {
    if (home_ && home_value_.is_null())
      home_value_ = home_->value();
    return home_ ? &home_value_ : nullptr;
  }

  static std::string called(const admission_policy& policy, const admission_binding& binding) {
    return "ValidatingAdmissionPolicy '" + policy.name + "' with binding '" + binding.name + "'";
  }

  void judge(const admission_policy& policy, const admission_binding& binding, const policy_verdict& verdict) {
    const auto of = called(policy, binding);
    if (binding.warns && warnings_.size() < most_warnings)
      warnings_.push_back("Validation failed for " + of + ": " + verdict.message);
    if (binding.denies && !denied_)
      denied_ = denial(what_, name_, of + " denied request: " + verdict.message, verdict.reason);
  }

  /// The parameters that a binding chooses; none when it may do without. @pre the kind is served
  tl::expected<std::vector<object_ptr>, std::string> params_of(const admission_policy& policy, const binding_params& ref) const {
    const auto& kind = *served(policy.param_version, policy.param_kind);
    const auto in = !kind.namespaced ? std::string{} : ref.name_space.empty() ? what_.what.name_space : ref.name_space;
    if (kind.namespaced && in.empty())
      return tl::unexpected{std::string{"cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"}};
    if (!kind.namespaced && !ref.name_space.empty())
      return tl::unexpected{std::string{"paramRef.namespace must not be provided for a cluster-scoped `paramKind`"}};
    std::vector<object_ptr> out;
    if (!ref.name.empty()) {
      if (const auto found = objects_.get(kind, in, ref.name))
        out.push_back(*found);
      else if (found.error().code != 404)
        return tl::unexpected{found.error().message};
    } else if (!ref.selector) {
      return tl::unexpected{std::string{"one of name or selector must be provided"}};
    } else if (!*ref.selector) {
      return tl::unexpected{ref.selector->error()};
    } else {
      selection chosen;
      chosen.labels = **ref.selector;
      out = objects_.list(kind, in, chosen);
    }
    if (out.empty() && ref.absent_denies)
      return tl::unexpected{std::string{"no params found for policy binding with `Deny` parameterNotFoundAction"}};
    return out;
  }

  const admission_request& what_;
  const store& objects_;
  std::vector<std::string>& warnings_;
  std::string name_;
  object_ptr home_; // the namespace of the object
  json home_value_; // its value, read for the first policy that asks
  json request_;    // made for the first policy that is asked
  std::optional<api_status> denied_;
};

} // namespace

// -- the index ----------------------------------------------------------------------------------------------------

bool admission_policies::take(const stored_object& object, bool deleted) {
  if (object.kind->group != admission_group)
    return false;
  const auto name = object.text_at({"metadata", "name"});
  const bool policy = object.kind->kind == "ValidatingAdmissionPolicy";
  if (deleted && policy)
    policies_.erase(name);
  else if (deleted)
    bindings_.erase(name);
  else if (policy)
    policies_.insert_or_assign(name, read_policy(object.value()));
  else
    bindings_.insert_or_assign(name, read_policy_binding(object.value()));
  return policy;
}

bool admission_policies::catch_up(const store& objects) {
  bool changed = false;
  if (seen_ == 0 || seen_ < objects.floor()) {
    policies_.clear();
    bindings_.clear();
    for (const auto& kind : served_kinds())
      if (kind.group == admission_group)
        for (const auto& x : objects.list(kind, "", {}))
          changed = take(*x, false) || changed;
  } else {
    for (const auto* event = objects.event_after(seen_); event != nullptr; event = objects.event_after(event->version))
      changed = take(*event->now, event->deleted) || changed;
  }
  seen_ = objects.version();
  return changed;
}

void admission_policies::write_status(store& objects) {
  for (const auto& [name, policy] : policies_) {
    const auto found = objects.get(policy_kind(), "", name);
    if (!found)
      continue;
    const auto stored = (*found)->value();
    const auto generation = generation_at(stored, {"metadata", "generation"});
    if (generation == generation_at(stored, {"status", "observedGeneration"}))
      continue;
    const auto said = type_checking(policy);
    const auto change = [&](const json& object) -> api_result<json> {
      auto out = object;
      out["status"]["observedGeneration"] = generation;
      out["status"]["typeChecking"] = said;
      return out;
    };
    // Refused only when the store is full; then the status stays behind and the policy counts all the same.
    [[maybe_unused]] const auto done = objects.update(policy_kind(), "", name, store::part::status, store::form::patch, change);
  }
}

// -- asking -------------------------------------------------------------------------------------------------------

api_result<void> admission_policies::admit(const admission_request& what, const store& objects, std::vector<std::string>& warnings) const {
  // A policy that refuses everything must be removable.
  if (what.kind.group == admission_group || bindings_.empty())
    return {};
  hearing all{what, objects, warnings};
  for (const auto& [policy_name, policy] : policies_) {
    if (!all.fits(policy.match))
      continue;
    cel::budget cost{policy_cost};
    for (const auto& [binding_name, binding] : bindings_) {
      if (binding.policy != policy_name || !all.fits(binding.match))
        continue;
      if (!policy.param_kind.empty() && served(policy.param_version, policy.param_kind) == nullptr) {
        all.fail(policy, "ValidatingAdmissionPolicy '" + policy.name + "'",
                 "failed to configure policy: failed to find resource referenced by paramKind: '" + policy.param_version
                   + ", Kind=" + policy.param_kind + "'");
        break;
      }
      all.ask(policy, binding, cost);
    }
  }
  if (all.denied())
    return tl::unexpected{*all.denied()};
  return {};
}

} // namespace paddock::embedded
