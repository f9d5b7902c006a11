#include "embedded/pod_status.hpp"

#include "embedded/pod_facts.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using nlohmann::json;
using at = container_state::at;

constexpr auto killed = process_end{0, 9};
constexpr auto most_restarts = 1'000'000'000; // that are believed

const json& named(const json& list, const std::string& name) {
  static const json none;
  for (const auto& x : list)
    if (text_in(x, "/name") == name)
      return x;
  return none;
}

const json& named_type(const json& list, const std::string& type) {
  static const json none;
  for (const auto& x : list)
    if (text_in(x, "/type") == type)
      return x;
  return none;
}

bool stays(const json& pod, const std::string& init) {
  return text_in(named(array_in(pod, "/spec/initContainers"), init), "/restartPolicy") == "Always";
}

bool well(const container_state& x) {
  return x.now == at::terminated && x.last && *x.last == process_end{};
}

/// How a reported container ended: a code above 128 stands for a signal where one is named.
process_end read_end(const json& terminated) {
  if (auto signal = number_in(terminated, "/signal"))
    return {0, static_cast<int>(*signal)};
  return {static_cast<int>(number_in(terminated, "/exitCode").value_or(0)), 0};
}

std::vector<container_state> found_containers(const json& pod, const char* specs, const char* statuses, bool init) {
  std::vector<container_state> result;
  for (const auto& spec : array_in(pod, specs)) {
    container_state x;
    x.name = text_in(spec, "/name");
    x.image = text_in(spec, "/image");
    x.reason = "PodInitializing";
    const auto& before = named(array_in(pod, statuses), x.name);
    x.restarts = static_cast<int>(std::clamp<std::int64_t>(number_in(before, "/restartCount").value_or(0), 0, most_restarts));
    const auto& ended = value_in(before, "/state/terminated");
    auto ran = value_in(before, "/state/running").is_object();
    auto again = init ? stays(pod, x.name) || text_in(pod, "/spec/restartPolicy") != "Never"
                      : starts_again(pod, ended.is_object() ? read_end(ended) : killed);
    if (ran || ended.is_object()) {
      if (again) {
        x.restarts += init ? 0 : 1;
      } else {
        x.now = at::terminated;
        x.reason.clear();
        x.last = ended.is_object() ? read_end(ended) : killed;
      }
    }
    result.push_back(std::move(x));
  }
  return result;
}

// -- what is written ----------------------------------------------------------

json condition(const json& pod, const std::string& type, bool holds, const std::string& now, const char* reason,
               const std::string& message) {
  auto result = json{{"type", type}, {"status", holds ? "True" : "False"}, {"lastProbeTime", nullptr}, {"lastTransitionTime", now}};
  if (reason != nullptr)
    result["reason"] = reason;
  if (!message.empty())
    result["message"] = message;
  const auto& before = condition_of(pod, type);
  if (text_in(before, "/status") == text_in(result, "/status") && before.contains("lastTransitionTime"))
    result["lastTransitionTime"] = before["lastTransitionTime"];
  return result;
}

json terminated(const container_state& state) {
  // A process that a signal ended reports 128 + n, as a shell does.
  auto result = json{{"exitCode", state.last->signal != 0 ? 128 + state.last->signal : state.last->code},
                     {"reason", *state.last == process_end{} ? "Completed" : "Error"}};
  if (state.last->signal != 0)
    result["signal"] = state.last->signal;
  if (state.last_began)
    result["startedAt"] = rfc3339_seconds(*state.last_began);
  if (state.last_ended)
    result["finishedAt"] = rfc3339_seconds(*state.last_ended);
  return json{{"terminated", result}};
}

json container_status(const container_state& state) {
  auto now = json::object();
  if (state.now == at::running) {
    now["running"] = json::object();
    if (state.began)
      now["running"]["startedAt"] = rfc3339_seconds(*state.began);
  } else if (state.now == at::terminated && state.last) {
    now = terminated(state);
  } else {
    now["waiting"] = json{{"reason", state.reason}};
    if (!state.message.empty())
      now["waiting"]["message"] = state.message;
  }
  auto before = state.last && state.now != at::terminated ? terminated(state) : json::object();
  return json{{"name", state.name},       {"image", state.image},           {"imageID", ""}, {"ready", state.ready},
              {"started", state.started}, {"restartCount", state.restarts}, {"state", now},  {"lastState", before}};
}

json statuses(const std::vector<container_state>& all) {
  auto result = json::array();
  for (const auto& x : all)
    result.push_back(container_status(x));
  return result;
}

std::string names_of(const std::vector<const container_state*>& all) {
  std::string result;
  for (const auto* x : all)
    result += (result.empty() ? "" : " ") + x->name;
  return "[" + result + "]";
}

json conditions(const json& pod, const pod_state& state, const std::string& phase, const std::string& now) {
  std::vector<const container_state*> uninitialized;
  std::vector<const container_state*> unready;
  for (const auto& x : state.init) {
    if (!init_done(pod, x))
      uninitialized.push_back(&x);
    if (stays(pod, x.name) && !x.ready)
      unready.push_back(&x);
  }
  for (const auto& x : state.containers)
    if (!x.ready)
      unready.push_back(&x);
  auto over = phase == "Succeeded" || phase == "Failed";
  auto initialized = uninitialized.empty() || phase == "Succeeded";
  auto ready = unready.empty() && initialized && !over;
  const auto* why = ready ? nullptr : phase == "Succeeded" ? "PodCompleted" : over ? "PodFailed" : "ContainersNotReady";
  auto text = ready || over ? std::string{} : "containers with unready status: " + names_of(unready);
  auto result = json::array({condition(pod, "PodReadyToStartContainers", !state.address.empty() && !over, now, nullptr, ""),
                             condition(pod, "Initialized", initialized, now, initialized ? nullptr : "ContainersNotInitialized",
                                       initialized ? std::string{} : "containers with incomplete status: " + names_of(uninitialized)),
                             condition(pod, "Ready", ready, now, why, text), condition(pod, "ContainersReady", ready, now, why, text),
                             condition(pod, "PodScheduled", true, now, nullptr, "")});
  // Those of others stay.
  for (const auto& x : array_in(pod, "/status/conditions"))
    if (named_type(result, text_in(x, "/type")).is_null())
      result.push_back(x);
  return result;
}

} // namespace

pod_state found_state(const nlohmann::json& pod) {
  return {found_containers(pod, "/spec/initContainers", "/status/initContainerStatuses", true),
          found_containers(pod, "/spec/containers", "/status/containerStatuses", false),
          {},
          {}};
}

bool starts_again(const nlohmann::json& pod, const process_end& end) {
  auto policy = text_in(pod, "/spec/restartPolicy");
  return policy != "Never" && !(policy == "OnFailure" && end == process_end{});
}

bool init_done(const nlohmann::json& pod, const container_state& state) {
  return stays(pod, state.name) ? state.started : well(state);
}

std::string phase_of_state(const nlohmann::json& pod, const pod_state& state) {
  for (const auto& x : state.init)
    if (x.now == at::terminated && !well(x) && !stays(pod, x.name))
      return "Failed";
  auto all = [&](auto holds) { return std::all_of(state.containers.begin(), state.containers.end(), holds); };
  auto any = [&](auto holds) { return std::any_of(state.containers.begin(), state.containers.end(), holds); };
  // One that waits and never ran keeps the pod pending, whatever runs beside it.
  if (any([](const auto& x) { return x.now == at::waiting && !x.last && x.restarts == 0; }))
    return "Pending";
  if (!all([](const auto& x) { return x.now == at::terminated; }))
    return "Running";
  return all(well) ? "Succeeded" : "Failed";
}

k8s::call report_pod(const nlohmann::json& pod, const pod_state& state, time_source::wall_clock::time_point now) {
  auto instant = rfc3339_seconds(now);
  auto phase = phase_of_state(pod, state);
  auto status = json{{"phase", phase},
                     {"conditions", conditions(pod, state, phase, instant)},
                     {"containerStatuses", statuses(state.containers)},
                     {"hostIP", state.host_address},
                     {"hostIPs", json::array({json{{"ip", state.host_address}}})}};
  if (!state.init.empty())
    status["initContainerStatuses"] = statuses(state.init);
  if (text_in(pod, "/status/startTime").empty())
    status["startTime"] = instant;
  if (!state.address.empty()) {
    status["podIP"] = state.address;
    status["podIPs"] = json::array({json{{"ip", state.address}}});
  }
  return k8s::merge_patch("/api/v1/namespaces/" + namespace_of(pod) + "/pods/" + name_of(pod) + "/status",
                          json{{"metadata", {{"uid", uid_of(pod)}}}, {"status", status}});
}

} // namespace paddock::embedded
