#include "workspace/bind_judge.hpp"

#include "k8s/objects.hpp"
#include "workspace/reads.hpp"

#include <algorithm>

namespace paddock::workspace {

namespace {

using json = nlohmann::json;

/// Whether the condition of this type says `wanted` in its member `key`.
bool condition_says(const json& object, const char* type, const char* key, const char* wanted) {
  const auto* all = find(object, {"status", "conditions"});
  if (all != nullptr && all->is_array())
    for (const auto& x : *all) {
      const auto* its_type = find(x, {"type"});
      const auto* value = find(x, {key});
      if (its_type != nullptr && *its_type == type && value != nullptr)
        return *value == wanted;
    }
  return false;
}

std::vector<std::string> claim_names(const json& claims) {
  auto got = std::vector<std::string>{};
  if (claims.is_array())
    for (const auto& x : claims)
      if (auto name = k8s::text_at(x, "/metadata/name"))
        got.push_back(*name);
  return got;
}

bool is_controlled(const k8s::pod& x) {
  return std::ranges::any_of(x.owners, &k8s::pod::owner::controller);
}

bool is_live(const pod_seen& x) {
  return x.what == pod_seen::kind::live;
}

constexpr const char* no_uid = "could not read a pod uid";

} // namespace

ready_sandbox read_for_bind(const json& object) {
  auto seen = k8s::read_sandbox(object);
  return {seen.uid, seen.service_fqdn, seen.pod_ips, seen.selector, claim_names(seen.volume_claim_templates)};
}

result<readiness> judge_readiness(const json& object, const id& which, const std::string& operation,
                                  const std::optional<sandbox_uid>& expected) {
  auto seen = k8s::read_sandbox(object);
  if (expected && seen.uid != expected)
    return tl::unexpected{failure{replaced{which.text(), which.sandbox_name(), expected, seen.uid}}};
  if (seen.mode == k8s::operating_mode::suspended)
    return tl::unexpected{failure{suspended{operation, which.text(), which.sandbox_name(), "transport"}}};
  if (!seen.ready)
    return readiness{not_ready{condition_says(object, "Ready", "reason", "PodSucceeded")
                               || condition_says(object, "Ready", "reason", "PodFailed")
                               || condition_says(object, "Finished", "status", "True")}};
  if (!seen.name)
    return tl::unexpected{failure{no_pod{which.sandbox_name(), "the Ready object has no name"}}};
  return readiness{read_for_bind(object)};
}

std::chrono::milliseconds pause_between_reads(watching how_far, std::chrono::milliseconds left, const settings& how) {
  if (how_far == watching::nothing)
    return how.ready_poll;
  const auto confirm = how_far == watching::behind ? how.ready_confirm / 5 : how.ready_confirm;
  return std::max(how.ready_poll, std::min(confirm, left / 2));
}

pod_seen see_pod(const json& object, const std::optional<sandbox_uid>& owner) {
  auto pod = k8s::read_pod(object);
  const auto* deleted_at = find(object, {"metadata", "deletionTimestamp"});
  auto got = pod_seen{};
  got.ip = pod.ip;
  got.labels = pod.labels;
  got.deleting = deleted_at != nullptr && !deleted_at->is_null();
  if (!pod.uid)
    return got;
  got.uid = pod_uid{pod.uid->reveal()};
  const auto belongs = !owner || pod.may_belong_to(*owner);
  got.owned = owner && belongs && is_controlled(pod);
  if (!belongs)
    got.what = pod_seen::kind::foreign;
  else if (pod.retired())
    got.what = pod_seen::kind::stopped;
  else
    got.what = pod.live() ? pod_seen::kind::live : pod_seen::kind::draining;
  return got;
}

std::optional<pod_uid> draining_uid(const json& pod) {
  auto seen = see_pod(pod, std::nullopt);
  return seen.deleting ? seen.uid : std::nullopt;
}

bool needs_list(const std::optional<pod_seen>& by_name) {
  return !by_name || !is_live(*by_name);
}

pod_choice choose_pod(const std::string& sandbox_name, const std::optional<pod_seen>& by_name, const std::vector<pod_seen>& listed,
                      const bind_policy& policy, settings::address how) {
  const pod_seen* chosen = nullptr;
  if (by_name && is_live(*by_name))
    chosen = &*by_name;
  auto owned = std::size_t{0};
  for (const auto& x : listed) {
    if (!is_live(x))
      continue;
    if (policy.retiring && x.uid == policy.retiring)
      return nothing_yet{"the pod that was suspended is still the bound one"};
    owned += x.owned ? 1u : 0u;
    if (chosen == nullptr)
      chosen = &x;
  }
  if (owned > 1)
    return ambiguous_pod{sandbox_name};
  if (chosen == nullptr) {
    const auto was_retired = by_name && policy.retiring && by_name->uid == policy.retiring;
    if (by_name && by_name->what == pod_seen::kind::stopped && !by_name->deleting && !was_retired)
      return nothing_yet{"its pod has ended and is not started again while the workspace is Running: suspend, then resume", true};
    if (by_name && by_name->what == pod_seen::kind::foreign)
      return nothing_yet{"the pod of this name belongs to another object"};
    return nothing_yet{no_uid, !policy.await_replacement};
  }
  if (policy.retiring && chosen->uid == policy.retiring)
    return nothing_yet{"the pod that was suspended is still the bound one"};
  if (how == settings::address::pod_ip && !chosen->ip)
    return nothing_yet{"its live pod has no address yet (status.podIP)", false, chosen->uid};
  return take_pod{*chosen->uid, chosen->ip, chosen->labels};
}

result<guest::endpoint> address_of(const ready_sandbox& from, const take_pod& pod, const std::string& sandbox_name, const settings& how) {
  auto host = std::string{};
  if (how.agent_address == settings::address::pod_ip)
    host = pod.ip.value_or("");
  else if (from.service_name)
    host = *from.service_name;
  else if (!from.pod_ips.empty())
    host = from.pod_ips.front();
  if (host.empty())
    return tl::unexpected{failure{no_pod{sandbox_name, "it publishes neither a service name nor a pod address"}}};
  return guest::endpoint{host, how.agent_port, secret{pod.uid.text()}};
}

no_pod out_of_time(const std::string& sandbox_name, const bind_policy& policy, const nothing_yet& last, std::chrono::milliseconds bound) {
  auto text = "no pod could be bound within " + std::to_string(bound.count()) + " ms: " + last.why;
  if (last.without_address)
    return no_pod{sandbox_name, std::move(text), last.without_address, last.why};
  if (policy.retiring)
    text += "; its previous pod is TERMINATING (see terminationGracePeriodSeconds of the pod and readyTimeoutMs of the host)";
  return no_pod{sandbox_name, std::move(text), policy.retiring, last.why};
}

} // namespace paddock::workspace
