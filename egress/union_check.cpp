#include "egress/union_check.hpp"

#include "egress/policy_reader.hpp"

#include <algorithm>
#include <utility>

namespace paddock::egress {

using nlohmann::json;

namespace {

std::string sentence(const unreadable& x) {
  return x.path.empty() ? x.detail : x.path + " " + x.detail;
}

} // namespace

union_check::union_check(allowance allowed, judged_pod pod) : allowed_(std::move(allowed)), pod_(std::move(pod)) {
}

void union_check::take(resource_kind kind, const json& object) {
  const auto policy = policy_name{kind, name_of_item(object, taken_of_.at(static_cast<std::size_t>(kind))++)};
  judge_documents(kind, object, allowed_, pod_, [&](document_verdict got) {
    enforced_ = enforced_ || got.is == egress_verdict::within;
    auto row = examined_policy<egress_verdict>{policy, got.is};
    if (got.is == egress_verdict::widens_egress || got.is == egress_verdict::not_evaluable) {
      row.detail = sentence(got.where);
      findings_.push_back({policy, taken_, got.is, got.reason, std::move(got.where.path), *row.detail});
    }
    examined_.push_back(std::move(row));
  });
  ++taken_;
}

std::optional<union_refused::cause> union_check::refusal() const {
  const auto wide = [](const finding& x) { return x.verdict == egress_verdict::widens_egress; };
  if (std::any_of(findings_.begin(), findings_.end(), wide))
    return union_refused::cause::policy_widens_egress;
  if (!findings_.empty())
    return union_refused::cause::not_evaluable;
  if (!enforced_ && !allowed_.permits_everything)
    return union_refused::cause::no_enforcing_policy;
  return std::nullopt;
}

result<void> union_check::verdict(std::string subject) const {
  if (const auto why = refusal())
    return tl::unexpected{egress_error{refused(*why, std::move(subject))}};
  return {};
}

union_refused union_check::unread(std::string subject, unread_collection what) const {
  auto got = refused(union_refused::cause::not_evaluable, std::move(subject));
  got.unread.push_back(std::move(what));
  return got;
}

union_refused union_check::refused(union_refused::cause why, std::string subject) const {
  return {why, std::move(subject), pod_.labels, allowed_.policy_kind, examined_, {}};
}

} // namespace paddock::egress
