#include "audit/render.hpp"

#include "documents/documents.hpp"
#include "egress/host_entry.hpp"

namespace paddock::audit {

tl::expected<egress::policy_owner, std::string> read_owner(std::string_view text) {
  constexpr std::string_view claim = "claim/";
  auto got = egress::policy_owner{};
  auto rest = text;
  if (rest.starts_with(claim)) {
    got.kind = egress::policy_owner::type::sandbox_claim;
    rest.remove_prefix(claim.size());
  }
  const auto equals = rest.find('=');
  if (equals != std::string_view::npos) {
    got.name = rest.substr(0, equals);
    got.uid = rest.substr(equals + 1);
  }
  if (!egress::is_dns_name(got.name) || !egress::is_dns_name(got.uid))
    return tl::unexpected{"\"" + std::string{text}
                          + "\" is not [claim/]NAME=UID: a policy selects by the name of its owner, and is called by its uid"};
  return got;
}

egress::result<std::vector<egress::policy_object>> render(const egress::egress_config& config, const render_question& asked) {
  auto named = egress::translate(config, asked.target, asked.resolved);
  if (!named)
    return tl::unexpected{named.error()};
  auto got = std::vector<egress::policy_object>{};
  got.push_back(std::move(*named));
  if (asked.owners.empty())
    return got;
  if (!config.per_sandbox)
    return tl::unexpected{egress::egress_error{egress::illegal_config{"perSandbox", "is missing: no policy is written for a sandbox"}}};
  const auto hosts = egress::per_sandbox_hosts(*config.per_sandbox, asked.granted);
  if (!hosts)
    return tl::unexpected{hosts.error()};
  for (const auto& owner : asked.owners) {
    auto one = egress::per_sandbox_policy(*config.per_sandbox, asked.target.name_space, owner, owner.name, *hosts);
    if (!one)
      return tl::unexpected{one.error()};
    got.push_back(std::move(*one));
  }
  return got;
}

std::string to_yaml(const std::vector<egress::policy_object>& all) {
  auto got = std::string{};
  for (const auto& x : all)
    got += (got.empty() ? "" : "---\n") + documents::to_yaml(x.manifest);
  return got;
}

nlohmann::json to_json(const std::vector<egress::policy_object>& all) {
  if (all.size() == 1)
    return all.front().manifest;
  auto items = nlohmann::json::array();
  for (const auto& x : all)
    items.push_back(x.manifest);
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

} // namespace paddock::audit
