#include "embedded/admission_evaluation.hpp"

#include "base/random.hpp"

namespace paddock::embedded {

namespace {

constexpr std::size_t longest_message = 5 * 1024;
constexpr auto out_of_budget = "validation failed due to running out of cost budget, no further validation rules will be run";

std::string trimmed(std::string text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

/// The names of one evaluation. Each variable is evaluated once, when it is first used, and sees those before it only.
class policy_scope final : public cel::scope {
public:
  policy_scope(const admission_policy& policy, const policy_input& input) : policy_(policy), input_(input) {
  }

  cel::evaluated find(std::string_view name) const override {
    if (name == "request")
      return cel::value::of(input_.request);
    const auto* found = name == "object"      ? input_.object
                        : name == "oldObject" ? input_.old
                        : name == "params"    ? input_.params
                                              : input_.name_space;
    return found == nullptr ? cel::value{} : cel::value::of(*found);
  }

  cel::evaluated variable(std::string_view name, cel::budget& cost) const override {
    return variable_before(policy_.variables.size(), name, cost);
  }

private:
  /// What the expression of variable number `end` sees.
  class earlier final : public cel::scope {
  public:
    earlier(const policy_scope& all, std::size_t end) : all_(all), end_(end) {
    }
    cel::evaluated find(std::string_view name) const override {
      return all_.find(name);
    }
    cel::evaluated variable(std::string_view name, cel::budget& cost) const override {
      return all_.variable_before(end_, name, cost);
    }

  private:
    const policy_scope& all_;
    std::size_t end_;
  };

  cel::evaluated variable_before(std::size_t end, std::string_view name, cel::budget& cost) const {
    const auto which = policy_.variable_before(end, name);
    if (!which)
      return tl::unexpected{"no such key: " + std::string{name}};
    if (const auto found = known_.find(*which); found != known_.end())
      return found->second;
    return known_.emplace(*which, evaluate(*which, cost)).first->second;
  }

  cel::evaluated evaluate(std::size_t which, cel::budget& cost) const {
    const auto& x = policy_.variables[which];
    if (!x.expression.compiled)
      return tl::unexpected{"composited variable " + in_quotes(x.name) + " fails to compile: " + x.expression.compiled.error().text};
    auto out = x.expression.compiled->run(earlier{*this, which}, cost);
    if (!out)
      return tl::unexpected{"composited variable " + in_quotes(x.name) + " fails to evaluate: " + out.error()};
    return out;
  }

  const admission_policy& policy_;
  policy_input input_;
  mutable std::map<std::size_t, cel::evaluated> known_; // by their number
};

cel::evaluated run(const policy_expression& x, const cel::scope& names, cel::budget& cost) {
  if (!x.compiled)
    return tl::unexpected{"compilation error: compilation failed: " + x.compiled.error().text};
  return x.compiled->run(names, cost);
}

/// True, false, or why neither.
tl::expected<bool, std::string> holds(const policy_expression& x, const cel::scope& names, cel::budget& cost) {
  const auto got = run(x, names, cost);
  if (!got)
    return tl::unexpected{"expression '" + x.text + "' resulted in error: " + got.error()};
  const auto* yes = got->as<bool>();
  return yes != nullptr && *yes;
}

std::string message_of(const admission_policy::validation& x, const cel::scope& names, cel::budget& cost) {
  if (x.message_expression) {
    const auto got = run(*x.message_expression, names, cost);
    const auto* text = got ? got->as<std::string>() : nullptr;
    if (const auto said = text == nullptr ? std::string{} : trimmed(*text);
        !said.empty() && said.size() <= longest_message && said.find('\n') == std::string::npos)
      return said;
  }
  const auto said = trimmed(x.message);
  return said.empty() ? "failed expression: " + trimmed(x.expression.text) : said;
}

} // namespace

json request_of(const admission_request& what, const std::string& name) {
  const auto& kind = what.kind;
  const json its_kind{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
  const json its_resource{{"group", kind.group}, {"version", kind.version}, {"resource", kind.plural}};
  json out{{"uid", new_uuid()},
           {"kind", its_kind},
           {"resource", its_resource},
           {"requestKind", its_kind},
           {"requestResource", its_resource},
           {"operation", what.operation},
           {"userInfo", to_json(what.who)},
           {"dryRun", what.dry_run}};
  if (!what.what.subresource.empty())
    out["subResource"] = out["requestSubResource"] = what.what.subresource;
  if (!name.empty())
    out["name"] = name;
  if (!what.what.name_space.empty())
    out["namespace"] = what.what.name_space;
  const auto* options = what.operation == "CREATE" ? "CreateOptions" : what.operation == "UPDATE" ? "UpdateOptions" : "DeleteOptions";
  out["options"] = {{"kind", options}, {"apiVersion", "meta.k8s.io/v1"}};
  return out;
}

std::vector<policy_verdict> evaluate_policy(const admission_policy& policy, const policy_input& input, cel::budget& cost) {
  const policy_scope names{policy, input};
  // Conditions are asked before the namespace is read.
  const policy_scope early{policy, {input.request, input.object, input.old, input.params, nullptr}};
  std::vector<policy_verdict> out;
  // A condition that is false decides, whatever becomes of the others.
  std::vector<std::string> failed;
  for (const auto& condition : policy.conditions) {
    const auto got = holds(condition, early, cost);
    if (got && !*got)
      return out;
    if (!got)
      failed.push_back(got.error());
  }
  if (!failed.empty()) {
    std::string all;
    for (const auto& x : failed)
      all += (all.empty() ? "" : ", ") + x;
    if (!policy.ignores_failures)
      out.push_back({failed.size() == 1 ? all : "[" + all + "]", ""});
    return out;
  }
  for (const auto& validation : policy.validations) {
    const auto got = holds(validation.expression, names, cost);
    if (cost.used_up()) {
      if (!policy.ignores_failures)
        out.push_back({out_of_budget, ""});
      return out;
    }
    if (!got && !policy.ignores_failures)
      out.push_back({got.error(), validation.reason});
    else if (got && !*got)
      out.push_back({message_of(validation, names, cost), validation.reason});
  }
  return out;
}

} // namespace paddock::embedded
