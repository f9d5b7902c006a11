#include "embedded/pool_controller.hpp"

#include "base/hash.hpp"
#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_blueprint.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using wall = time_source::wall_clock::time_point;

constexpr auto patience = std::chrono::minutes{5};

json new_member(const pool_view& seen) {
  const auto& from = *seen.sandbox_template;
  auto labels = json{{agent_keys::pool_hash, fnv1a_hex(name_of(seen.pool))},
                     {agent_keys::template_hash, fnv1a_hex(name_of(from))},
                     {agent_keys::pod_content, pod_content_of(from)},
                     {agent_keys::template_content, template_content_of(from)}};
  auto spec = sandbox_spec_of(from);
  spec["podTemplate"]["metadata"]["labels"].update(labels);
  spec["podTemplate"]["metadata"]["annotations"][agent_keys::safe_to_evict] = "true";
  labels[agent_keys::launch_type] = "warm";
  labels[agent_keys::created_by] = "controller";
  auto metadata = json{{"generateName", name_of(seen.pool) + "-"}, {"namespace", namespace_of(seen.pool)}, {"labels", labels}};
  metadata["annotations"][agent_keys::template_name] = name_of(from);
  metadata["ownerReferences"] = json::array({controller_reference(seen.pool)});
  return {{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"metadata", metadata}, {"spec", spec}};
}

k8s::call remove_member(const json& member) {
  return k8s::remove(sandboxes_path(member) + "/" + name_of(member), json{{"preconditions", {{"uid", uid_of(member)}}}});
}

bool outdated(const pool_view& seen, const json& member) {
  return seen.sandbox_template && text_in(seen.pool, "/spec/updateStrategy/type") == "Recreate"
         && label_of(member, agent_keys::template_content) != template_content_of(*seen.sandbox_template);
}

/// Since when the member is not ready; nothing while it is.
std::optional<wall> not_ready_since(const json& member) {
  if (sandbox_ready(member))
    return std::nullopt;
  auto told = read_instant(text_in(condition_of(member, "Ready"), "/lastTransitionTime"));
  return told ? told : read_instant(text_in(member, "/metadata/creationTimestamp"));
}

bool without_node(const json& member) {
  return text_in(condition_of(member, "PodScheduled"), "/reason") == "Unschedulable";
}

/// Takes out of `active` those that are to be replaced.
void replace_members(const pool_view& seen, std::vector<const json*>& active, wall now, pool_plan& plan) {
  std::erase_if(active, [&](const json* member) {
    auto since = not_ready_since(*member);
    auto late = since && now - *since >= patience;
    if (late && without_node(*member))
      plan.revisit = std::min<std::chrono::milliseconds>(plan.revisit.value_or(1min), 1min);
    else if (since && !late)
      plan.revisit = std::min(plan.revisit.value_or(24h), patience - std::chrono::floor<std::chrono::milliseconds>(now - *since));
    if (!outdated(seen, *member) && !(late && !without_node(*member)))
      return false;
    plan.writes.push_back(remove_member(*member));
    return true;
  });
}

std::optional<k8s::call> report_pool(const pool_view& seen, const std::vector<const json*>& active) {
  auto ready = std::count_if(active.begin(), active.end(), [](const json* x) { return sandbox_ready(*x); });
  auto after = json{{"selector", std::string{agent_keys::pool_hash} + "=" + fnv1a_hex(name_of(seen.pool))},
                    {"observedGeneration", value_in(seen.pool, "/metadata/generation")}};
  // A number that is nought stands as absent.
  if (!active.empty())
    after["replicas"] = active.size();
  if (ready > 0)
    after["readyReplicas"] = ready;
  auto before = value_in(seen.pool, "/status");
  auto patch = json::object();
  for (const auto* key : {"selector", "observedGeneration", "replicas", "readyReplicas"}) {
    const auto& now = value_in(after, std::string{"/"} + key);
    if (value_in(before, std::string{"/"} + key) != now)
      patch[key] = now;
  }
  if (patch.empty())
    return std::nullopt;
  return k8s::merge_patch(extension_path(seen.pool, "sandboxwarmpools/" + name_of(seen.pool) + "/status"), json{{"status", patch}});
}

} // namespace

pool_plan plan_pool(const pool_view& seen, time_source::wall_clock::time_point now) {
  pool_plan plan;
  if (terminating(seen.pool))
    return plan;
  std::vector<const json*> active;
  std::size_t leaving = 0;
  for (const auto& x : seen.members)
    if (terminating(x))
      ++leaving;
    else
      active.push_back(&x);
  plan.report = report_pool(seen, active);
  replace_members(seen, active, now, plan);
  leaving += plan.writes.size();
  auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(number_in(seen.pool, "/spec/replicas").value_or(1), 0));
  // Whoever goes first stands last.
  std::stable_sort(active.begin(), active.end(), [](const json* a, const json* b) {
    auto key = [](const json& x) { return std::pair{!sandbox_ready(x), text_in(x, "/metadata/creationTimestamp")}; };
    return key(*a) < key(*b);
  });
  for (; active.size() > wanted; active.pop_back())
    plan.writes.push_back(remove_member(*active.back()));
  auto there = active.size() + leaving;
  if (!seen.sandbox_template || there >= wanted)
    return plan;
  if (auto why = template_fault(*seen.sandbox_template)) {
    plan.fault = *why;
    return plan;
  }
  const auto missing = std::min(wanted - there, most_new_members);
  plan.writes.insert(plan.writes.end(), missing, k8s::post(sandboxes_path(seen.pool), new_member(seen)));
  if (wanted - there > missing)
    plan.revisit = 100ms;
  return plan;
}

} // namespace paddock::embedded
