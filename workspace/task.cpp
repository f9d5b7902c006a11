#include "workspace/task.hpp"

#include "egress/labels.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/pod_template.hpp"
#include "workspace/reads.hpp"

#include <algorithm>

namespace paddock::workspace {

namespace {

using json = nlohmann::json;

failure refused_argument(std::string text) {
  return illegal_argument{std::move(text)};
}

/// A count as a controller reports it; what is none reads as zero.
std::uint64_t count_at(const json& object, std::initializer_list<const char*> path) {
  const auto* got = find(object, path);
  return got != nullptr && got->is_number_integer() && *got >= 0 ? got->get<std::uint64_t>() : 0;
}

} // namespace

std::string_view to_string(owned_object::type x) {
  return x == owned_object::type::claim ? "SandboxClaim" : "Sandbox";
}

std::string task_name(std::string_view uuid) {
  return "namzu-task-" + std::string{uuid};
}

task_request completed(const settings& how, const task_settings& tasks, task_request what) {
  if (what.template_name.empty()) {
    what.template_name = how.template_name;
    if (!what.pool)
      what.pool = tasks.pool;
  }
  return what;
}

result<void> check_task(const settings& how, const task_settings& tasks, const task_request& what) {
  if (auto usable = check(how); !usable)
    return usable;
  if (what.template_name.empty())
    return tl::unexpected{refused_argument("no SandboxTemplate is named and none is configured")};
  if (what.pool && how.runtime_class)
    return tl::unexpected{
      refused_argument("the pods of pool " + *what.pool + " run already: their runtime class cannot be set to " + *how.runtime_class)};
  if (how.egress && what.template_name != how.template_name)
    return tl::unexpected{
      refused_argument("this host verifies the egress of SandboxTemplate " + how.template_name + " alone, not of " + what.template_name)};
  if (tasks.lease <= std::chrono::seconds::zero())
    return tl::unexpected{
      refused_argument("the lease of " + what.name + " is " + std::to_string(tasks.lease.count()) + " s: it cannot be renewed")};
  return {};
}

result<egress::label_map> requested_labels(const settings& how, const std::string& name) {
  if (!how.egress)
    return egress::label_map{};
  auto got = egress::pod_labels(*how.egress, egress::per_sandbox_labels(*how.egress, name));
  if (!got)
    return tl::unexpected{of_egress(std::move(got.error()))};
  return *got;
}

std::optional<std::pair<std::string, std::string>> missing_label(const egress::label_map& requested, const egress::label_map& observed) {
  const auto missing = std::ranges::find_if(requested, [&](const auto& x) {
    const auto found = observed.find(x.first);
    return found == observed.end() || found->second != x.second;
  });
  return missing == requested.end() ? std::nullopt : std::optional{std::pair{missing->first, missing->second}};
}

std::string path_of(const settings& how, const owned_object& what) {
  return what.kind == owned_object::type::claim ? k8s::claims_path(how.name_space, what.name)
                                                : k8s::sandboxes_path(how.name_space, what.name);
}

std::string collection_of(const settings& how, owned_object::type kind) {
  return kind == owned_object::type::claim ? k8s::claims_path(how.name_space) : k8s::sandboxes_path(how.name_space);
}

json claim_body(const settings& how, const task_settings& tasks, const task_request& what, const egress::label_map& requested,
                const std::string& dies_at) {
  auto metadata = json{{"name", what.name}, {"namespace", how.name_space}};
  if (!tasks.claim_labels.empty())
    metadata["labels"] = tasks.claim_labels;
  auto spec =
    json{{"warmPoolRef", {{"name", what.pool.value_or("")}}}, {"lifecycle", {{"shutdownTime", dies_at}, {"shutdownPolicy", "Delete"}}}};
  if (!requested.empty())
    spec["additionalPodMetadata"] = {{"labels", requested}};
  return {{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
          {"kind", "SandboxClaim"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

result<json> task_sandbox_body(const settings& how, const task_request& what, const egress::label_map& requested,
                               const json& sandbox_template, const std::string& dies_at) {
  auto from = read_template(sandbox_template, overlay{what.template_name, how.runtime_class, requested});
  if (!from)
    return tl::unexpected{from.error()};
  auto spec = json{{"operatingMode", "Running"},
                   {"service", true},
                   {"shutdownTime", dies_at},
                   {"shutdownPolicy", "Delete"},
                   {"podTemplate", std::move(from->pod_template)}};
  if (!from->claims.is_null())
    spec["volumeClaimTemplates"] = std::move(from->claims);
  return json{{"apiVersion", "agents.x-k8s.io/v1beta1"},
              {"kind", "Sandbox"},
              {"metadata", {{"name", what.name}, {"namespace", how.name_space}}},
              {"spec", std::move(spec)}};
}

json renewal_body(owned_object::type kind, const std::string& dies_at) {
  auto expiry = json{{"shutdownTime", dies_at}};
  return {{"spec", kind == owned_object::type::claim ? json{{"lifecycle", std::move(expiry)}} : std::move(expiry)}};
}

std::string subject_of(const settings& how, const owned_object& what) {
  return "task sandbox of " + std::string{to_string(what.kind)} + " " + what.name + " in namespace " + how.name_space;
}

task_capacity capacity_of(const std::string& pool, const json& warm_pool, const json& claims, const json& pods) {
  auto got = task_capacity{};
  got.ready = count_at(warm_pool, {"status", "readyReplicas"});
  got.desired = count_at(warm_pool, {"spec", "replicas"});
  got.active_claims = static_cast<std::uint64_t>(std::ranges::count_if(k8s::items_of(claims), [&](const auto& x) {
    return text_at(x, {"spec", "warmPoolRef", "name"}) == pool;
  }));
  got.pending_pods = static_cast<std::uint64_t>(std::ranges::count_if(k8s::items_of(pods), [](const auto& x) {
    return text_at(x, {"status", "phase"}) == "Pending";
  }));
  return got;
}

} // namespace paddock::workspace
