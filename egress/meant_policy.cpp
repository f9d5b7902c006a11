#include "egress/meant_policy.hpp"

#include "egress/named_object.hpp"

#include <nlohmann/json.hpp>

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

} // namespace paddock::egress
