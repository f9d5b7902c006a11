#include "audit/ingress_report.hpp"

#include "audit/answer.hpp"
#include "audit/words.hpp"
#include "egress/manifest_objects.hpp"

#include <algorithm>
#include <array>

namespace paddock::audit {

using egress::resource_kind;
using nlohmann::json;

namespace {

constexpr auto kinds = std::to_array<egress::object_kind>({
  {"networking.k8s.io", "v1", "NetworkPolicy", true},
  {"cilium.io", "v2", "CiliumNetworkPolicy", true},
});
constexpr auto kind_names = std::to_array<std::string_view>({kinds[0].kind, kinds[1].kind});

egress::result<void> judge(const egress::found_objects& in, egress::policy_engine engine, const egress::ingress_question& asked) {
  auto judge = egress::ingress_judge{asked};
  for (const auto& x : in.all) {
    const auto kind = x.kind == kinds[0].kind ? resource_kind::network_policy : resource_kind::cilium_network_policy;
    if (kind == resource_kind::network_policy || engine == egress::policy_engine::cilium)
      judge.take(kind, *x.object);
  }
  return judge.verdict();
}

/// The first policy of that verdict.
const egress::policy_name* first_of(const egress::ingress_refused& x, egress::ingress_verdict verdict) {
  const auto at = std::ranges::find(x.examined, verdict, &egress::examined_policy<egress::ingress_verdict>::verdict);
  return at == x.examined.end() ? nullptr : &at->policy;
}

} // namespace

tl::expected<ingress_report, egress::manifests_refused> check_ingress_in(const std::vector<source>& files, egress::policy_engine engine,
                                                                         const egress::ingress_question& asked) {
  const auto manifests = read_manifests(files, kind_names);
  if (!manifests)
    return tl::unexpected{manifests.error()};
  auto found = egress::find_objects(*manifests, kinds, asked.name_space);
  if (!found)
    return tl::unexpected{found.error()};
  std::erase_if(found->all, [&](const egress::found_object& x) {
    if (x.name_space == asked.name_space)
      return false;
    found->ignored.push_back({x.place, std::string{x.kind}, x.name, "of the namespace " + x.name_space});
    return true;
  });
  auto ok = judge(*found, engine, asked);
  if (ok)
    ok = judge(*found, egress::policy_engine::cilium, asked);
  return ingress_report{ok ? std::nullopt : std::optional{ok.error()}, std::move(found->ignored)};
}

std::vector<std::string> remedy_of(const ingress_report& x, const egress::ingress_question& asked) {
  const auto* why = x.refused ? std::get_if<egress::ingress_refused>(&*x.refused) : nullptr;
  if (why == nullptr)
    return {};
  const auto in_namespace = " -n " + shell_word(asked.name_space);
  const auto apply = [&](const std::string& file) { return apply_shipped(file, {{std::string{shipped_namespace}, asked.name_space}}); };
  if (!why->unread.empty() && why->unread.front().why == egress::unread_collection::cause::forbidden)
    return apply("deploy/egress/rbac.yaml");
  if (!why->unread.empty())
    return {"# the cluster does not serve " + why->unread.front().resource + ": check with --engine core"};
  if (why->refusal == egress::ingress_refused::cause::no_covering_policy)
    return apply("deploy/egress/baseline.yaml");
  const auto open = why->refusal == egress::ingress_refused::cause::port_open;
  const auto* which = first_of(*why, open ? egress::ingress_verdict::opens_agent_port : egress::ingress_verdict::not_evaluable);
  if (which == nullptr)
    return {};
  const auto resource = which->kind == resource_kind::network_policy ? " networkpolicy " : " ciliumnetworkpolicy ";
  return {"kubectl edit" + in_namespace + resource + shell_word(which->name)};
}

json to_json(const ingress_report& x, const egress::ingress_question& asked) {
  auto got = json{{"closed", !x.refused}, {"agentPort", asked.agent_port}, {"ignored", to_json(x.ignored)}};
  if (x.refused)
    add_refusal(got, *x.refused, remedy_of(x, asked));
  return got;
}

std::string to_text(const ingress_report& x, const egress::ingress_question& asked) {
  auto got = std::string{};
  const auto line = [&](const std::string& text) { got += one_line(text) + "\n"; };
  line((x.refused ? "not closed: TCP " : "closed: TCP ") + std::to_string(asked.agent_port));
  if (const auto* why = x.refused ? std::get_if<egress::ingress_refused>(&*x.refused) : nullptr)
    for (const auto& row : why->examined)
      line(std::string{to_string(row.policy.kind)} + " " + row.policy.name + ": " + std::string{to_string(row.verdict)}
           + (row.detail ? ": " + *row.detail : ""));
  append_lines(got, x.ignored, remedy_of(x, asked));
  return got;
}

} // namespace paddock::audit
