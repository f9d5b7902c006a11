#include "embedded/sandbox_controller.hpp"

#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_children.hpp"
#include "embedded/sandbox_facts.hpp"

#include <algorithm>

namespace paddock::embedded {

using namespace sandbox_children;
using namespace sandbox_facts;

namespace {

using nlohmann::json;
using wall = time_source::wall_clock::time_point;

constexpr auto by = "?fieldManager=sandbox-controller";

// -- disks --------------------------------------------------------------------

void plan_claims(const sandbox_view& seen, sandbox_plan& plan) {
  const auto& entries = value_in(seen.sandbox, "/spec/volumeClaimTemplates");
  if (!entries.is_array())
    return;
  for (const auto& entry : entries) {
    auto name = claim_name(seen.sandbox, entry);
    auto there = seen.claims.find(name);
    if (there == seen.claims.end()) {
      auto metadata = child_metadata(seen.sandbox, name);
      if (const auto& own = value_in(entry, "/metadata/labels"); own.is_object())
        metadata["labels"].insert(own.begin(), own.end());
      if (const auto& own = value_in(entry, "/metadata/annotations"); own.is_object() && !own.empty())
        metadata["annotations"] = own;
      plan.writes.push_back(
        {sandbox_write::of::claim,
         k8s::post(core_path(seen.sandbox, "persistentvolumeclaims") + by,
                   {{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}, {"metadata", metadata}, {"spec", value_in(entry, "/spec")}})});
    } else if (auto why = taken(seen.sandbox, there->second, "PVC")) {
      plan.errors.push_back(*why);
    } else if (!controls(seen.sandbox, there->second)) {
      plan.writes.push_back({sandbox_write::of::claim, k8s::merge_patch(core_path(seen.sandbox, "persistentvolumeclaims/" + name),
                                                                        adoption(seen.sandbox, there->second))});
    }
  }
}

// -- the pod ------------------------------------------------------------------

sandbox_write annotate(const json& sandbox, const json& pod_name) {
  return {sandbox_write::of::annotation,
          k8s::merge_patch(sandbox_path(sandbox), {{"metadata", {{"annotations", {{agent_keys::pod_name, pod_name}}}}}})};
}

void plan_pod(const sandbox_view& seen, sandbox_plan& plan) {
  const auto& sandbox = seen.sandbox;
  auto own = own_pods(seen);
  auto annotated = annotation_of(sandbox, agent_keys::pod_name);
  auto path = core_path(sandbox, "pods");
  if (suspended(sandbox)) {
    if (own.size() == 1 && !terminating(*own[0]))
      plan.writes.push_back(
        {sandbox_write::of::pod,
         k8s::remove(path + "/" + name_of(*own[0]),
                     json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid_of(*own[0])}}}})});
    if (own.empty() && !annotated.empty())
      plan.writes.push_back(annotate(sandbox, nullptr));
    return;
  }
  auto* pod = own.empty() ? pod_named(seen, pod_name_of(sandbox)) : own[0];
  if (pod == nullptr && !annotated.empty()) {
    plan.writes.push_back(annotate(sandbox, nullptr));
    annotated.clear();
    pod = pod_named(seen, name_of(sandbox));
  }
  if (pod == nullptr) {
    plan.writes.push_back({sandbox_write::of::pod, k8s::post(path + by, new_pod(sandbox))});
    plan.writes.push_back(annotate(sandbox, name_of(sandbox)));
    return;
  }
  if (auto why = taken(sandbox, *pod, "pod")) {
    plan.errors.push_back(*why);
    return;
  }
  if (auto patch = pod_metadata_patch(sandbox, *pod); !patch.is_null())
    plan.writes.push_back({sandbox_write::of::pod, k8s::merge_patch(path + "/" + name_of(*pod), patch)});
  if (annotated != name_of(*pod))
    plan.writes.push_back(annotate(sandbox, name_of(*pod)));
}

// -- the Service --------------------------------------------------------------

void plan_service(const sandbox_view& seen, sandbox_plan& plan) {
  const auto& sandbox = seen.sandbox;
  auto path = core_path(sandbox, "services");
  auto one = path + "/" + name_of(sandbox);
  if (service_off(sandbox)) {
    if (seen.service && controls(sandbox, *seen.service) && !terminating(*seen.service))
      plan.writes.push_back({sandbox_write::of::service, k8s::remove(one)});
    return;
  }
  auto selector = json{{agent_keys::name_hash, hash_of(sandbox)}};
  auto ports = service_ports(sandbox);
  if (!seen.service) {
    if (!service_on(sandbox))
      return;
    auto spec = json{{"clusterIP", "None"}, {"selector", selector}};
    if (!ports.empty())
      spec["ports"] = ports;
    plan.writes.push_back(
      {sandbox_write::of::service,
       k8s::post(path + by,
                 {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", child_metadata(sandbox, name_of(sandbox))}, {"spec", spec}})});
    return;
  }
  if (auto why = taken(sandbox, *seen.service, "Service")) {
    if (service_on(sandbox))
      plan.errors.push_back(*why);
    return;
  }
  auto patch = controls(sandbox, *seen.service) ? json::object() : adoption(sandbox, *seen.service);
  if (controls(sandbox, *seen.service) && label_of(*seen.service, agent_keys::name_hash) != hash_of(sandbox))
    patch["metadata"]["labels"][agent_keys::name_hash] = hash_of(sandbox);
  if (value_in(*seen.service, "/spec/selector") != selector)
    patch["spec"]["selector"] = selector;
  auto now = value_in(*seen.service, "/spec/ports");
  if ((now.is_array() ? now : json::array()) != ports)
    patch["spec"]["ports"] = ports.empty() ? json{} : ports;
  if (!patch.empty())
    plan.writes.push_back({sandbox_write::of::service, k8s::merge_patch(one, patch)});
}

// -- expiry -------------------------------------------------------------------

void plan_expiry(const sandbox_view& seen, sandbox_plan& plan) {
  using namespace std::chrono_literals;
  if (!reported_expired(seen.sandbox)) {
    plan.revisit = 1ms;
    return;
  }
  for (auto* pod : own_pods(seen))
    if (!terminating(*pod))
      plan.writes.push_back({sandbox_write::of::pod, k8s::remove(core_path(seen.sandbox, "pods/" + name_of(*pod)))});
  if (seen.service && controls(seen.sandbox, *seen.service) && !terminating(*seen.service))
    plan.writes.push_back({sandbox_write::of::service, k8s::remove(core_path(seen.sandbox, "services/" + name_of(seen.sandbox)))});
  if (text_in(seen.sandbox, "/spec/shutdownPolicy") == "Delete") {
    plan.writes.push_back({sandbox_write::of::sandbox, k8s::remove(sandbox_path(seen.sandbox))});
    plan.report = false;
  }
}

} // namespace

sandbox_plan plan_sandbox(const sandbox_view& seen, time_source::wall_clock::time_point now) {
  sandbox_plan plan;
  if (terminating(seen.sandbox)) {
    plan.report = false;
    return plan;
  }
  if (expired(seen.sandbox, now)) {
    plan_expiry(seen, plan);
    return plan;
  }
  if (auto at = shutdown_time(seen.sandbox))
    plan.revisit = std::max(std::chrono::ceil<std::chrono::milliseconds>(*at - now), std::chrono::milliseconds{2000});
  plan_claims(seen, plan);
  if (own_pods(seen).size() > 1)
    return plan;
  plan_pod(seen, plan);
  plan_service(seen, plan);
  return plan;
}

void apply_answer(sandbox_view& seen, const sandbox_write& write, const nlohmann::json& answer) {
  // The answer to a DELETE says what was asked; that it has happened is seen later.
  if (!answer.is_object() || write.call.method == "DELETE" || text_in(answer, "/kind") == "Status")
    return;
  switch (write.what) {
    case sandbox_write::of::claim: seen.claims[name_of(answer)] = answer; break;
    case sandbox_write::of::pod: {
      auto same = std::find_if(seen.pods.begin(), seen.pods.end(), [&](const auto& x) { return name_of(x) == name_of(answer); });
      if (same == seen.pods.end())
        seen.pods.push_back(answer);
      else
        *same = answer;
      break;
    }
    case sandbox_write::of::service: seen.service = answer; break;
    case sandbox_write::of::annotation:
    case sandbox_write::of::sandbox: seen.sandbox = answer; break;
  }
}

} // namespace paddock::embedded
