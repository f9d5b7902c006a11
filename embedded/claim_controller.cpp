#include "embedded/claim_controller.hpp"

#include "base/hash.hpp"
#include "embedded/agent_keys.hpp"
#include "embedded/claim_metadata.hpp"
#include "embedded/object.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_blueprint.hpp"

#include <algorithm>
#include <map>

namespace paddock::embedded {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using wall = time_source::wall_clock::time_point;
using of = claim_write::of;

std::string claim_path(const json& claim) {
  return extension_path(claim, "sandboxclaims/" + name_of(claim));
}

bool holds(const json& claim, const json& sandbox) {
  return text_in(controller_of(sandbox), "/uid") == uid_of(claim);
}

/// The claim's Sandbox, once it really is the claim's.
const json* own_sandbox(const claim_view& seen) {
  return seen.sandbox && holds(seen.claim, *seen.sandbox) ? &*seen.sandbox : nullptr;
}

bool wants_its_own(const json& claim) {
  auto given = [&](const char* where) {
    const auto& list = value_in(claim, where);
    return list.is_array() && !list.empty();
  };
  return given("/spec/env") || given("/spec/volumeClaimTemplates");
}

claim_write annotate(const json& claim, const char* key, const std::string& value, of what, bool as_read) {
  auto metadata = json{{"annotations", {{key, value}}}};
  if (as_read)
    metadata["resourceVersion"] = text_in(claim, "/metadata/resourceVersion");
  return {what, k8s::merge_patch(claim_path(claim), json{{"metadata", metadata}})};
}

// -- expiry -------------------------------------------------------------------

bool expired(const claim_view& seen, wall now) {
  if (auto at = read_instant(text_in(seen.claim, "/spec/lifecycle/shutdownTime")); at && now >= *at)
    return true;
  auto ttl = number_in(seen.claim, "/spec/lifecycle/ttlSecondsAfterFinished");
  auto end = read_instant(text_in(condition_of(seen.claim, "Finished"), "/lastTransitionTime"));
  return ttl && end && std::chrono::floor<std::chrono::seconds>(now - *end).count() >= *ttl;
}

/// How long until `more` seconds after `at`, looking a day ahead at most: what a claim says may be more than a clock can tell.
std::chrono::milliseconds left_until(wall at, std::int64_t more, wall now) {
  using namespace std::chrono;
  const auto passed = floor<seconds>(now - at).count();
  if (more <= passed)
    return 1ms;
  if (more - passed > seconds{24h}.count())
    return 24h;
  return std::max(ceil<milliseconds>(at - now) + seconds{more}, milliseconds{1});
}

/// When the next expiry may come.
std::optional<std::chrono::milliseconds> until_expiry(const claim_view& seen, wall now) {
  std::optional<std::chrono::milliseconds> next;
  if (auto at = read_instant(text_in(seen.claim, "/spec/lifecycle/shutdownTime")))
    next = left_until(*at, 0, now);
  auto ttl = number_in(seen.claim, "/spec/lifecycle/ttlSecondsAfterFinished");
  if (auto end = read_instant(text_in(condition_of(seen.claim, "Finished"), "/lastTransitionTime")); ttl && end)
    next = std::min(next.value_or(24h), left_until(*end, *ttl, now));
  return next;
}

claim_step expire(const claim_view& seen) {
  auto state = claim_state{"ClaimExpired", "Claim expired. Sandbox cleanup initiated.", false, std::nullopt};
  if (text_in(condition_of(seen.claim, "Ready"), "/reason") != "ClaimExpired") {
    state.revisit = 1ms;
    return state;
  }
  auto policy = text_in(seen.claim, "/spec/lifecycle/shutdownPolicy");
  if (policy == "Delete" || policy == "DeleteForeground") {
    auto how = json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid_of(seen.claim)}}}};
    how["propagationPolicy"] = policy == "Delete" ? "Background" : "Foreground";
    return claim_write{of::end, k8s::remove(claim_path(seen.claim), how)};
  }
  if (const auto* sandbox = own_sandbox(seen); sandbox != nullptr && !terminating(*sandbox))
    return claim_write{
      of::release, k8s::remove(sandboxes_path(*sandbox) + "/" + name_of(*sandbox), json{{"preconditions", {{"uid", uid_of(*sandbox)}}}})};
  return state;
}

// -- what the pod template says -----------------------------------------------

/// The template's metadata, the claim's, and what names both; a claim that says otherwise than the template is an error.
std::variant<json, std::string> pod_metadata(const claim_view& seen) {
  auto result = json{{"labels", json::object()}, {"annotations", json::object()}};
  for (const auto* map : {"labels", "annotations"}) {
    if (const auto& own = value_in(*seen.sandbox_template, std::string{"/spec/podTemplate/metadata/"} + map); own.is_object())
      result[map] = own;
    if (const auto& more = value_in(seen.claim, std::string{"/spec/additionalPodMetadata/"} + map); more.is_object())
      for (const auto& [key, value] : more.items()) {
        if (result[map].contains(key) && result[map][key] != value)
          return std::string{map} + " \"" + key + "\": the claim and the template give it different values";
        result[map][key] = value;
      }
  }
  result["labels"][agent_keys::claim_uid] = uid_of(seen.claim);
  result["labels"][agent_keys::template_hash] = fnv1a_hex(name_of(*seen.sandbox_template));
  return result;
}

/// The merge patch that turns the maps of `now` into those of `wanted`; null when they are.
json difference(const json& now, const json& wanted) {
  auto result = json{};
  for (const auto& [map, values] : wanted.items()) {
    const auto& old = value_in(now, "/" + map);
    for (const auto& [key, value] : values.items())
      if (!old.is_object() || !old.contains(key) || old.at(key) != value)
        result[map][key] = value;
    if (old.is_object())
      for (const auto& [key, value] : old.items())
        if (!values.contains(key))
          result[map][key] = nullptr;
  }
  return result;
}

/// The merge patch that gives the Sandbox's pod template what the claim adds; null when it has it. What else the pod template
/// says stays as it was made.
json additions_missing(const json& claim, const json& sandbox) {
  auto result = json{};
  for (const auto* map : {"labels", "annotations"}) {
    const auto& now = value_in(sandbox, std::string{"/spec/podTemplate/metadata/"} + map);
    if (const auto& more = value_in(claim, std::string{"/spec/additionalPodMetadata/"} + map); more.is_object())
      for (const auto& [key, value] : more.items())
        if (!now.is_object() || !now.contains(key) || now.at(key) != value)
          result[map][key] = value;
  }
  return result;
}

// -- a member of the pool -----------------------------------------------------

/// The members that may be taken, the best first: Ready ones, then those whose node has most of them, then the oldest.
std::vector<const json*> candidates(const claim_view& seen) {
  std::vector<const json*> result;
  std::map<std::string, int> on_node;
  auto recreates = text_in(*seen.pool, "/spec/updateStrategy/type") == "Recreate";
  for (const auto& x : seen.members) {
    if (terminating(x) || label_of(x, agent_keys::pool_hash).empty() || label_of(x, agent_keys::template_hash).empty())
      continue;
    if (std::find(seen.lost.begin(), seen.lost.end(), name_of(x)) != seen.lost.end())
      continue;
    if (recreates && label_of(x, agent_keys::template_content) != template_content_of(*seen.sandbox_template))
      continue;
    result.push_back(&x);
    ++on_node[text_in(x, "/status/nodeName")];
  }
  std::stable_sort(result.begin(), result.end(), [&](const json* a, const json* b) {
    auto key = [&](const json& x) {
      return std::tuple{!sandbox_ready(x), -on_node[text_in(x, "/status/nodeName")], text_in(x, "/metadata/creationTimestamp"), name_of(x)};
    };
    return key(*a) < key(*b);
  });
  return result;
}

bool has_address(const json& sandbox) {
  const auto& ips = value_in(sandbox, "/status/podIPs");
  return ips.is_array() && !ips.empty();
}

claim_write adopt(const claim_view& seen, const json& member, const json& metadata) {
  auto labels = json{{agent_keys::claim_uid, uid_of(seen.claim)}, {agent_keys::launch_type, "warm"}};
  for (const auto* key : {agent_keys::created_by, agent_keys::pod_content, agent_keys::template_content, agent_keys::pool_hash})
    if (!label_of(member, key).empty())
      labels[key] = nullptr;
  auto own = json{{"labels", labels}, {"resourceVersion", text_in(member, "/metadata/resourceVersion")}};
  own["ownerReferences"] = json::array({controller_reference(seen.claim)});
  if (annotation_of(member, agent_keys::pod_name) != name_of(member))
    own["annotations"][agent_keys::pod_name] = name_of(member);
  auto patch = json{{"metadata", own}};
  if (auto change = difference(value_in(member, "/spec/podTemplate/metadata"), metadata); !change.is_null())
    patch["spec"]["podTemplate"]["metadata"] = change;
  return {of::adopt, k8s::merge_patch(sandboxes_path(member) + "/" + name_of(member), patch)};
}

// -- a Sandbox of its own -----------------------------------------------------

/// Puts the claim's variables into `spec`; a text: the template does not allow it.
std::string inject(const claim_view& seen, json& spec) {
  const auto& all = value_in(seen.claim, "/spec/env");
  if (!all.is_array() || all.empty())
    return {};
  auto policy = text_in(*seen.sandbox_template, "/spec/envVarsInjectionPolicy");
  if (policy != "Allowed" && policy != "Overrides")
    return "environment variable injection is not allowed by the template policy";
  for (const auto& x : all) {
    auto wanted = text_in(x, "/containerName");
    auto placed = false;
    for (auto& container : spec["podTemplate"]["spec"]["containers"]) {
      if (placed || (!wanted.empty() && text_in(container, "/name") != wanted))
        continue;
      auto& env = container["env"];
      auto same = std::find_if(env.begin(), env.end(), [&](const json& y) { return text_in(y, "/name") == text_in(x, "/name"); });
      if (same != env.end() && policy == "Allowed")
        return "the template sets the variable \"" + text_in(x, "/name") + "\" and does not allow to override it";
      auto value = json{{"name", text_in(x, "/name")}, {"value", text_in(x, "/value")}};
      if (same != env.end())
        *same = value;
      else
        env.push_back(value);
      placed = true;
    }
    if (!placed)
      return "the template has no container \"" + wanted + "\"";
  }
  return {};
}

claim_step create(const claim_view& seen, const json& metadata) {
  auto spec = sandbox_spec_of(*seen.sandbox_template);
  spec["podTemplate"]["metadata"] = metadata;
  if (auto why = inject(seen, spec); !why.empty())
    return claim_state{"EnvVarsInjectionRejected", "environment variable injection rejected: " + why, false, std::nullopt};
  if (const auto& disks = value_in(seen.claim, "/spec/volumeClaimTemplates"); disks.is_array() && !disks.empty()) {
    auto policy = text_in(*seen.sandbox_template, "/spec/volumeClaimTemplatesPolicy");
    if (policy != "Allowed" && policy != "Overrides")
      return claim_state{"VolumeClaimTemplatesError", "volume claim templates are not allowed by the template policy", false, std::nullopt};
    spec["volumeClaimTemplates"] = disks;
  }
  auto own = json{{"name", name_of(seen.claim)}, {"namespace", namespace_of(seen.claim)}};
  own["labels"] = json{{agent_keys::claim_uid, uid_of(seen.claim)},
                       {agent_keys::launch_type, "cold"},
                       {agent_keys::template_hash, fnv1a_hex(name_of(*seen.sandbox_template))}};
  own["annotations"][agent_keys::template_name] = name_of(*seen.sandbox_template);
  own["ownerReferences"] = json::array({controller_reference(seen.claim)});
  return claim_write{of::create,
                     k8s::post(sandboxes_path(seen.claim),
                               json{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"metadata", own}, {"spec", spec}})};
}

/// The step of a claim that has no Sandbox.
claim_step acquire(const claim_view& seen, wall now) {
  if (!seen.pool)
    return claim_state{"WarmPoolNotFound", "SandboxWarmPool \"" + text_in(seen.claim, "/spec/warmPoolRef/name") + "\" not found", false,
                       1min};
  if (!seen.sandbox_template)
    return claim_state{"TemplateNotFound", "SandboxTemplate \"" + text_in(*seen.pool, "/spec/sandboxTemplateRef/name") + "\" not found",
                       false, 1min};
  if (auto why = template_fault(*seen.sandbox_template))
    return claim_state{"ReconcilerError", "Error seen: " + *why, false, std::nullopt};
  auto metadata = pod_metadata(seen);
  if (const auto* why = std::get_if<std::string>(&metadata))
    return claim_state{"ReconcilerError", "Error seen: " + *why, false, std::nullopt};
  if (!wants_its_own(seen.claim)) {
    if (seen.lost.size() >= adoption_attempts)
      return claim_state{"AdoptionConflict", "the Sandboxes of the pool were taken by other claims", false, 100ms};
    auto all = candidates(seen);
    // The one that the claim names already was perhaps taken by a write whose answer was lost: no other before it.
    std::stable_partition(all.begin(), all.end(),
                          [&](const json* x) { return name_of(*x) == annotation_of(seen.claim, agent_keys::sandbox_name); });
    for (const auto* member : all)
      if (has_address(*member)) {
        if (annotation_of(seen.claim, agent_keys::sandbox_name) != name_of(*member))
          return annotate(seen.claim, agent_keys::sandbox_name, name_of(*member), of::assign, true);
        return adopt(seen, *member, std::get<json>(metadata));
      }
    // Whole seconds, as creationTimestamp has them.
    auto born = read_instant(text_in(seen.claim, "/metadata/creationTimestamp"));
    if (!all.empty() && born && now - *born < 2s)
      return claim_state{"", "", true, 500ms};
  }
  return create(seen, std::get<json>(metadata));
}

} // namespace

std::optional<nlohmann::json> given_sandbox(const nlohmann::json& claim, const std::vector<nlohmann::json>& near) {
  const auto named = annotation_of(claim, agent_keys::sandbox_name);
  auto key = [&](const json& x) {
    const auto its = holds(claim, x);
    return std::tuple{its, its && !terminating(x), name_of(x) == named, name_of(x) == name_of(claim)};
  };
  auto best = std::max_element(near.begin(), near.end(), [&](const json& a, const json& b) { return key(a) < key(b); });
  return best == near.end() ? std::nullopt : std::optional{*best};
}

claim_outcome judge_outcome(const claim_view& seen, const claim_write& write, unsigned status, const std::optional<nlohmann::json>& now) {
  if (now && holds(seen.claim, *now))
    return claim_outcome::landed;
  // The server refused it: somebody wrote the member since it was read, or it is gone.
  const auto refused = status == 409 || status == 404;
  if (write.what != of::adopt || !refused)
    return claim_outcome::again;
  const auto of_pool = now && seen.pool && !terminating(*now) && text_in(controller_of(*now), "/uid") == uid_of(*seen.pool);
  return of_pool ? claim_outcome::moved : claim_outcome::lost;
}

claim_step next_step(const claim_view& seen, time_source::wall_clock::time_point now) {
  if (terminating(seen.claim))
    return claim_state{"", "", true, std::nullopt};
  if (annotation_of(seen.claim, agent_keys::first_observed).empty())
    return annotate(seen.claim, agent_keys::first_observed, rfc3339_millis(now), of::stamp, false);
  if (expired(seen, now))
    return expire(seen);
  if (auto why = metadata_fault(seen.claim, seen.label_domains))
    return claim_state{"InvalidMetadata", "invalid additionalPodMetadata: " + *why, false, until_expiry(seen, now)};
  const auto* sandbox = own_sandbox(seen);
  if (sandbox == nullptr) {
    if (seen.sandbox && name_of(*seen.sandbox) == name_of(seen.claim))
      return claim_state{"ReconcilerError", "Error seen: Sandbox \"" + name_of(seen.claim) + "\" is not controlled by this claim", false,
                         1s};
    auto step = acquire(seen, now);
    if (auto* state = std::get_if<claim_state>(&step); state != nullptr && !state->revisit)
      state->revisit = until_expiry(seen, now);
    return step;
  }
  if (seen.sandbox_template && !terminating(*sandbox)) {
    auto metadata = pod_metadata(seen);
    if (const auto* why = std::get_if<std::string>(&metadata))
      return claim_state{"ReconcilerError", "Error seen: " + *why, false, until_expiry(seen, now)};
    if (auto patch = additions_missing(seen.claim, *sandbox); !patch.is_null())
      return claim_write{of::sync, k8s::merge_patch(sandboxes_path(*sandbox) + "/" + name_of(*sandbox),
                                                    json{{"spec", {{"podTemplate", {{"metadata", patch}}}}}})};
  }
  return claim_state{"", "", false, until_expiry(seen, now)};
}

void apply_answer(claim_view& seen, const claim_write& write, const nlohmann::json& answer) {
  switch (write.what) {
    case of::stamp:
    case of::assign: seen.claim = answer; break;
    case of::adopt:
    case of::create:
    case of::sync: seen.sandbox = answer; break;
    case of::release: seen.sandbox.reset(); break;
    case of::end: seen.claim["metadata"]["deletionTimestamp"] = "now"; break;
  }
}

std::optional<k8s::call> report_claim(const claim_view& seen, const claim_state& state, time_source::wall_clock::time_point now) {
  const auto& claim = seen.claim;
  const auto* sandbox = own_sandbox(seen);
  auto before = value_in(claim, "/status");
  if (!before.is_object())
    before = json::object();
  // Ready: the Sandbox's own word where nothing else is to be said.
  auto ready = json{{"type", "Ready"}, {"status", "False"}, {"reason", state.reason}, {"message", state.message}};
  ready["observedGeneration"] = value_in(claim, "/metadata/generation");
  const auto told = sandbox == nullptr ? json{} : condition_of(*sandbox, "Ready");
  if (state.reason.empty() && !told.is_null()) {
    ready = told;
  } else {
    if (state.reason.empty()) {
      ready["reason"] = sandbox == nullptr ? "SandboxMissing" : "SandboxNotReady";
      ready["message"] = sandbox == nullptr ? "Sandbox does not exist" : "Sandbox is not ready";
    }
    const auto& old = condition_of(claim, "Ready");
    ready["lastTransitionTime"] = text_in(old, "/status") == "False" ? value_in(old, "/lastTransitionTime") : json(rfc3339_seconds(now));
  }
  auto conditions = json::array();
  if (sandbox != nullptr)
    if (const auto& finished = condition_of(*sandbox, "Finished"); !finished.is_null())
      conditions.push_back(finished);
  conditions.push_back(ready);
  // The Sandbox.
  auto bound = json::object();
  if (sandbox != nullptr) {
    bound["name"] = name_of(*sandbox);
    if (has_address(*sandbox))
      bound["podIPs"] = value_in(*sandbox, "/status/podIPs");
  }
  auto patch = json::object();
  if (value_in(before, "/conditions") != conditions)
    patch["conditions"] = conditions;
  if (value_in(before, "/sandbox") != bound) {
    for (const auto* key : {"name", "podIPs"})
      if (!value_in(before, std::string{"/sandbox/"} + key).is_null() && !bound.contains(key))
        bound[key] = nullptr;
    patch["sandbox"] = bound;
  }
  if (patch.empty())
    return std::nullopt;
  return k8s::merge_patch(claim_path(claim) + "/status",
                          json{{"metadata", {{"resourceVersion", text_in(claim, "/metadata/resourceVersion")}}}, {"status", patch}});
}

std::optional<k8s::call> stamp_first_ready(const nlohmann::json& claim, time_source::wall_clock::time_point now) {
  if (!sandbox_ready(claim) || !annotation_of(claim, agent_keys::first_ready).empty())
    return std::nullopt;
  return annotate(claim, agent_keys::first_ready, rfc3339_millis(now), of::stamp, false).call;
}

std::optional<happening> happening_of(const claim_view& seen, const claim_write& write) {
  const auto sandbox = [&] { return in_quotes(seen.sandbox ? name_of(*seen.sandbox) : name_of(seen.claim)); };
  switch (write.what) {
    case claim_write::of::adopt: return happening{false, "SandboxAdopted", "Adopted warm pool Sandbox " + sandbox(), "", "Adoption"};
    case claim_write::of::create: return happening{false, "SandboxProvisioned", "Created Sandbox " + sandbox(), "", "Provisioning"};
    case claim_write::of::end:
      return happening{false, "ClaimExpired",
                       "Deleting Claim (ShutdownPolicy=" + text_in(seen.claim, "/spec/lifecycle/shutdownPolicy") + ")", "", "Deleting"};
    default: return std::nullopt;
  }
}

std::optional<happening> happening_of(const claim_state& state) {
  if (state.reason.empty())
    return std::nullopt;
  if (state.reason == "ClaimExpired")
    return happening{false, state.reason, "Claim expired", "", "Claim Expired"};
  return happening{true, state.reason, state.message, "", "Reconciling"};
}

} // namespace paddock::embedded
