#include "audit/egress_report.hpp"

#include "audit/words.hpp"
#include "egress/allowance.hpp"

#include <array>

namespace paddock::audit {

using nlohmann::json;

namespace {

constexpr auto policy_kinds = std::to_array<std::string_view>({"NetworkPolicy", "CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"});

std::string_view union_word(const egress_report& x) {
  return x.judged.refusal ? to_string(*x.judged.refusal) : "passes";
}

/// `a.yaml:12: `; nothing in a cluster.
std::string at(const egress::manifest_place& x) {
  return x.file.empty() ? "" : to_string(x) + ": ";
}

json placed(json x, const egress::manifest_place& place) {
  if (place.file.empty())
    return x;
  x["file"] = place.file;
  x["line"] = place.line;
  if (!place.item.empty())
    x["item"] = place.item;
  return x;
}

} // namespace

tl::expected<egress_report, egress::manifests_refused> judge_files(const std::vector<source>& files, const egress_question& asked) {
  const auto manifests = read_manifests(files, policy_kinds);
  if (!manifests)
    return tl::unexpected{manifests.error()};
  auto judged = egress::judge_manifests(*manifests, egress::allowance_of(asked.named), asked.pod);
  if (!judged)
    return tl::unexpected{judged.error()};
  point_at_lines(judged->findings, files);
  return egress_report{std::move(*judged), {}};
}

std::optional<egress::egress_error> refusal_of(const egress_report& x, const egress_question& asked) {
  using state = egress::named_manifest::state;
  const auto& named = x.judged.named;
  if (named.is == state::not_applied)
    return egress::policy_not_applied{asked.named.kind, asked.named.path()};
  if (named.is == state::drifted)
    return egress::policy_mismatch{asked.named.kind, asked.named.path(), named.difference.value_or("")};
  if (!x.judged.refusal)
    return std::nullopt;
  return egress::union_refused{*x.judged.refusal, "the pod", asked.pod.labels, asked.named.policy_kind, x.judged.examined, x.unread};
}

json to_json(const egress_report& x) {
  auto got = json{{"within", x.within()},      {"named", to_string(x.judged.named.is)},
                  {"union", union_word(x)},    {"findings", json::array()},
                  {"examined", json::array()}, {"unread", json::array()},
                  {"ignored", json::array()}};
  if (x.judged.named.difference)
    got["difference"] = *x.judged.named.difference;
  for (const auto& [place, what] : x.judged.findings)
    got["findings"].push_back(placed({{"policy", what.policy.name},
                                      {"kind", to_string(what.policy.kind)},
                                      {"path", what.path},
                                      {"verdict", to_string(what.verdict)},
                                      {"reason", to_string(what.reason)},
                                      {"detail", what.detail}},
                                     place));
  for (const auto& row : x.judged.examined)
    got["examined"].push_back({{"policy", row.policy.name}, {"kind", to_string(row.policy.kind)}, {"verdict", to_string(row.verdict)}});
  for (const auto& of : x.unread)
    got["unread"].push_back({{"resource", of.resource}, {"path", of.path}, {"why", to_string(of.why)}, {"reason", of.reason}});
  for (const auto& of : x.judged.ignored)
    got["ignored"].push_back(placed({{"kind", of.kind}, {"name", of.name}, {"reason", of.why}}, of.place));
  return got;
}

std::string to_text(const egress_report& x, const egress_question& asked) {
  auto got = std::string{};
  const auto line = [&](const std::string& text) { got += one_line(text) + "\n"; };
  line(x.within() ? "within" : "not within");
  line("named object: " + std::string{to_string(asked.named.kind)} + " " + asked.named.name + ": "
       + std::string{to_string(x.judged.named.is)} + (x.judged.named.difference ? ": " + *x.judged.named.difference : ""));
  line("union: " + std::string{union_word(x)});
  for (const auto& [place, what] : x.judged.findings)
    line(at(place) + std::string{to_string(what.policy.kind)} + " " + what.policy.name + ": " + std::string{to_string(what.verdict)} + " ("
         + std::string{to_string(what.reason)} + "): " + what.detail);
  for (const auto& of : x.unread)
    line("not read: " + of.resource + " (" + of.path + "): " + of.reason);
  for (const auto& of : x.judged.ignored)
    line(at(of.place) + "ignored: " + of.kind + " " + of.name + ": " + of.why);
  return got;
}

} // namespace paddock::audit
