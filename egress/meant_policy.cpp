#include "egress/meant_policy.hpp"

#include "egress/members.hpp"
#include "egress/named_object.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace paddock::egress {

result<meant_policy> meaning_of(const grant_target& whose, const std::vector<std::string>& allowed_hosts) {
  auto hosts = per_sandbox_hosts(whose.how, allowed_hosts);
  if (!hosts)
    return tl::unexpected{hosts.error()};
  auto out = meant_policy{};
  for (const auto& x : *hosts)
    out.allowed_hosts.push_back(x.text());
  if (hosts->empty())
    return out;
  auto object = per_sandbox_policy(whose.how, whose.name_space, whose.owner, whose.selector_value, *std::move(hosts));
  if (!object)
    return tl::unexpected{object.error()};
  out.object = *std::move(object);
  return out;
}

standing_policy judge_standing(const std::optional<meant_policy>& meant, const std::optional<nlohmann::json>& live) {
  using verdict = standing_policy::verdict;
  if (!meant)
    return {live ? verdict::never_meant : verdict::as_meant};
  if (!meant->object)
    return live ? standing_policy{verdict::differs, "it stands, and there was to be none"} : standing_policy{};
  if (!live)
    return {verdict::differs, "none stands"};
  if (auto why = difference_of(*meant->object, *live))
    return {verdict::differs, *std::move(why)};
  return {};
}

std::vector<std::string> hosts_of(const nlohmann::json& policy) {
  auto out = std::vector<std::string>{};
  const auto* spec = member(policy, "spec");
  const auto* rules = spec != nullptr ? member(*spec, "egress") : nullptr;
  if (rules == nullptr || !rules->is_array())
    return out;
  const auto add = [&out](std::string entry) {
    if (std::ranges::find(out, entry) == out.end())
      out.push_back(std::move(entry));
  };
  for (const auto& rule : *rules) {
    const auto* names = member(rule, "toFQDNs");
    if (names == nullptr || !names->is_array())
      continue;
    for (const auto& x : *names) {
      if (const auto name = text_of(member(x, "matchName")))
        add(std::string{*name});
      // A whole domain is written as its name and, after it, the pattern of everything below.
      const auto pattern = text_of(member(x, "matchPattern"));
      if (pattern && pattern->starts_with("*.")) {
        std::erase(out, std::string{pattern->substr(2)});
        add(std::string{pattern->substr(1)});
      } else if (pattern) {
        add(std::string{*pattern});
      }
    }
  }
  return out;
}

} // namespace paddock::egress
