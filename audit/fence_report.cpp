#include "audit/fence_report.hpp"

#include "audit/answer.hpp"
#include "audit/words.hpp"
#include "egress/manifest_objects.hpp"
#include "egress/permitted_hosts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::audit {

using nlohmann::json;

namespace {

constexpr auto kinds = std::to_array<egress::object_kind>({
  {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", false},
  {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", false},
  {"", "v1", "ConfigMap", true},
});
constexpr auto kind_names = std::to_array<std::string_view>({kinds[0].kind, kinds[1].kind, kinds[2].kind});

// What deploy/egress says.
constexpr std::string_view shipped_policy = "namzu-per-sandbox-egress";
constexpr std::string_view shipped_identity = "system:serviceaccount:namzu-sandboxes:namzu-sandbox-host";
const auto shipped_param = egress::object_reference{"sandbox-permitted-hosts", "platform"};

const egress::found_object* find(const egress::found_objects& in, std::string_view kind, std::string_view name_space,
                                 std::string_view name) {
  const auto at = std::ranges::find_if(
    in.all, [&](const egress::found_object& x) { return x.kind == kind && x.name == name && x.name_space == name_space; });
  return at == in.all.end() ? nullptr : &*at;
}

std::optional<egress::egress_error> missing_in(const egress::found_objects& in, const egress::fence_question& asked) {
  auto bodies = std::vector<json>{};
  for (const auto& x : egress::fence_objects(asked.how)) {
    const auto* there = find(in, x.kind, {}, x.name);
    if (there == nullptr)
      return egress::fence_missing{x};
    bodies.push_back(*there->object);
  }
  if (auto ok = egress::judge_fence(asked, bodies); !ok)
    return ok.error();
  if (!asked.how.permitted_hosts_param)
    return std::nullopt;
  const auto& param = *asked.how.permitted_hosts_param;
  const auto* there = find(in, "ConfigMap", param.name_space, param.name);
  if (there == nullptr)
    return egress::permitted_hosts_unavailable{param, egress::path_of(param), "missing", "no file has it", std::nullopt};
  if (auto ok = egress::read_permitted_hosts(param, *there->object); !ok)
    return ok.error();
  return std::nullopt;
}

/// The object that the error is about.
const egress::fence_object* object_of(const egress::egress_error& x) {
  if (const auto* missing = std::get_if<egress::fence_missing>(&x))
    return &missing->object;
  if (const auto* idle = std::get_if<egress::fence_not_enforcing>(&x))
    return &idle->object;
  return nullptr;
}

bool is_of_companion(const egress::fence_object& x, const egress::fence_question& asked) {
  const auto all = egress::fence_objects(asked.how);
  return std::ranges::any_of(all.begin() + 2, all.end(), [&](const auto& y) { return y.kind == x.kind && y.name == x.name; });
}

/// What of deploy/egress this configuration has otherwise.
std::vector<adaptation> adaptations(const egress::fence_question& asked) {
  auto got = std::vector<adaptation>{{std::string{shipped_policy}, asked.how.admission_policy_name}};
  const auto binding = asked.how.admission_policy_name + "-binding";
  got.push_back({binding, asked.how.binding_name()});
  if (asked.how.host_identity)
    got.push_back({std::string{shipped_identity}, *asked.how.host_identity});
  got.push_back({std::string{shipped_namespace}, asked.name_space});
  got.push_back({std::string{egress::default_per_sandbox_label_key}, asked.how.label_key});
  if (asked.how.permitted_hosts_param) {
    got.push_back({shipped_param.name, asked.how.permitted_hosts_param->name});
    got.push_back({shipped_param.name_space, asked.how.permitted_hosts_param->name_space});
  }
  return got;
}

} // namespace

tl::expected<fence_report, egress::manifests_refused> check_fence_in(const std::vector<source>& files,
                                                                     const egress::fence_question& asked) {
  const auto manifests = read_manifests(files, kind_names);
  if (!manifests)
    return tl::unexpected{manifests.error()};
  auto found = egress::find_objects(*manifests, kinds, asked.name_space);
  if (!found)
    return tl::unexpected{found.error()};
  return fence_report{missing_in(*found, asked), std::move(found->ignored)};
}

std::vector<std::string> remedy_of(const fence_report& x, const egress::fence_question& asked) {
  constexpr auto fence = "deploy/egress/fence.yaml";
  constexpr auto permitted = "deploy/egress/permitted-hosts.yaml";
  constexpr auto rights = "deploy/egress/rbac-per-sandbox-egress.yaml";
  if (!x.missing)
    return {};
  if (const auto* object = object_of(*x.missing))
    return apply_shipped(is_of_companion(*object, asked) ? permitted : fence, adaptations(asked));
  if (const auto* hosts = std::get_if<egress::permitted_hosts_unavailable>(&*x.missing))
    return apply_shipped(hosts->problem == "unreadable" ? rights : permitted, adaptations(asked));
  if (std::holds_alternative<egress::fence_unreadable>(*x.missing))
    return apply_shipped(rights, adaptations(asked));
  return {};
}

json to_json(const fence_report& x, const egress::fence_question& asked) {
  auto got = json{{"proved", !x.missing}, {"objects", json::array()}, {"ignored", to_json(x.ignored)}};
  for (const auto& object : egress::fence_objects(asked.how))
    got["objects"].push_back({{"kind", object.kind}, {"name", object.name}, {"path", object.path}});
  if (x.missing)
    add_refusal(got, *x.missing, remedy_of(x, asked));
  return got;
}

std::string to_text(const fence_report& x, const egress::fence_question& asked) {
  auto got = std::string{x.missing ? "not proved\n" : "proved\n"};
  if (!x.missing)
    for (const auto& object : egress::fence_objects(asked.how))
      got += one_line(object.kind + " " + object.name) + "\n";
  append_lines(got, x.ignored, remedy_of(x, asked));
  return got;
}

} // namespace paddock::audit
