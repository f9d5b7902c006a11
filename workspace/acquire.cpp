#include "workspace/acquire.hpp"

#include "k8s/objects.hpp"
#include "workspace/reads.hpp"

#include <algorithm>

namespace paddock::workspace {

namespace {

using json = nlohmann::json;

constexpr auto image_reasons =
  std::array<std::string_view, 4>{"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable"};

const json* condition(const json& object, std::string_view type) {
  const auto* all = find(object, {"status", "conditions"});
  if (all == nullptr || !all->is_array())
    return nullptr;
  const auto found = std::ranges::find_if(*all, [&](const auto& x) { return text_at(x, {"type"}) == type; });
  return found == all->end() ? nullptr : &*found;
}

std::vector<std::string> texts_at(const json& object, std::initializer_list<const char*> path) {
  auto got = std::vector<std::string>{};
  if (const auto* all = find(object, path); all != nullptr && all->is_array())
    for (const auto& x : *all)
      if (x.is_string() && !x.get_ref<const std::string&>().empty())
        got.push_back(x);
  return got;
}

failure rejected(const settings& how, const task_plan& plan, const json& ready) {
  auto got = acquire_failed{};
  got.why = acquire_reason::claim_rejected;
  got.controller_reason = text_at(ready, {"reason"});
  got.controller_message = text_at(ready, {"message"}).value_or("");
  if (got.controller_reason == "InvalidMetadata" && !plan.requested.empty())
    got.cause = tell(egress_refused{egress::labels_rejected{plan.requested, plan.what.name, how.name_space, *got.controller_reason,
                                                            *got.controller_message, plan.profile}});
  return got;
}

result<task_readiness> judge_claim(const settings& how, const task_plan& plan, const json& object) {
  const auto* ready = condition(object, "Ready");
  const auto status = ready != nullptr ? text_at(*ready, {"status"}) : std::nullopt;
  const auto reason = ready != nullptr ? text_at(*ready, {"reason"}) : std::nullopt;
  if (status == "False" && reason && std::ranges::find(terminal_claim_reasons, *reason) != terminal_claim_reasons.end())
    return tl::unexpected{rejected(how, plan, *ready)};
  auto name = text_at(object, {"status", "sandbox", "name"});
  if (status != "True")
    return task_readiness{unready_task{std::move(name)}};
  if (!name)
    return tl::unexpected{failure{no_pod{plan.what.name, "the claim is Ready and names no Sandbox (status.sandbox.name)"}}};
  auto facts = ready_sandbox{};
  facts.service_name = text_at(object, {"status", "sandbox", "serviceFQDN"});
  facts.pod_ips = texts_at(object, {"status", "sandbox", "podIPs"});
  return task_readiness{ready_task{std::move(*name), std::move(facts)}};
}

bool is_unschedulable(const json& pod) {
  const auto* scheduled = condition(pod, "PodScheduled");
  return scheduled != nullptr && text_at(*scheduled, {"status"}) == "False" && text_at(*scheduled, {"reason"}) == "Unschedulable";
}

bool waits_for_image(const json& container) {
  const auto why = text_at(container, {"state", "waiting", "reason"});
  return why && std::ranges::find(image_reasons, *why) != image_reasons.end();
}

failure as_acquire(acquire_reason why, const failure& cause) {
  auto got = acquire_failed{};
  got.why = why;
  got.cause = tell(cause);
  return got;
}

std::optional<acquire_reason> reason_for(const k8s::failure& x) {
  const auto* api = std::get_if<k8s::api_failure>(&x);
  return acquire_reason_for(k8s::reason_of(x), api != nullptr ? api->status : std::nullopt);
}

} // namespace

result<task_readiness> judge_task(const settings& how, const task_plan& plan, const json& object) {
  if (plan.what.kind == owned_object::type::claim)
    return judge_claim(how, plan, object);
  if (!k8s::read_sandbox(object).ready)
    return task_readiness{unready_task{plan.what.name}};
  return task_readiness{ready_task{plan.what.name, read_for_bind(object)}};
}

std::optional<acquire_reason> acquire_reason_for(std::string_view reason, std::optional<unsigned> status) {
  if (reason == "Credential")
    return acquire_reason::forbidden;
  if (reason == "ApiTimeout")
    return acquire_reason::api_timeout;
  if (reason == "Api" && (!status || *status == 429 || *status >= 500))
    return acquire_reason::api_unreachable;
  if (reason == "OutOfTime")
    return acquire_reason::not_ready;
  return std::nullopt;
}

bool worth_retrying(const k8s::failure& x) {
  const auto why = reason_for(x);
  return why && retryable(*why);
}

std::chrono::milliseconds pause_after(const k8s::failure& x, std::chrono::milliseconds interval) {
  constexpr auto longest = std::chrono::milliseconds{2'147'483'647};
  const auto* api = std::get_if<k8s::api_failure>(&x);
  const auto asked = api != nullptr ? api->retry_after.value_or(interval) : interval;
  return std::min(longest, std::max(asked, interval));
}

std::optional<acquire_reason> diagnose(const json& pod) {
  if (is_unschedulable(pod))
    return acquire_reason::capacity;
  const auto* containers = find(pod, {"status", "containerStatuses"});
  if (containers != nullptr && containers->is_array() && std::ranges::any_of(*containers, waits_for_image))
    return acquire_reason::image_pull;
  return std::nullopt;
}

failure classify(failure x, std::optional<acquire_reason> diagnosis) {
  if (const auto* api = std::get_if<k8s::failure>(&x)) {
    const auto why = reason_for(*api);
    return why ? as_acquire(*why, x) : std::move(x);
  }
  if (const auto* late = std::get_if<readiness_timeout>(&x)) {
    const auto of_last = late->last ? reason_for(*late->last) : std::nullopt;
    return as_acquire(diagnosis.value_or(of_last.value_or(acquire_reason::not_ready)), x);
  }
  return x;
}

} // namespace paddock::workspace
