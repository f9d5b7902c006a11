#include "embedded/human_age.hpp"
#include "embedded/table_cells.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using instant = time_source::wall_clock::time_point;

constexpr auto none = "<none>";

const json& list_at(const json& object, std::initializer_list<std::string_view> path) {
  static const json empty = json::array();
  const auto* x = find(object, path);
  return x != nullptr && x->is_array() ? *x : empty;
}

std::int64_t number_of(const json& object, std::string_view key) {
  const auto* x = member(object, key);
  return x != nullptr && x->is_number_integer() ? x->get<std::int64_t>() : 0;
}

bool is_true(const json& object, std::string_view key) {
  const auto* x = member(object, key);
  return x != nullptr && *x == true;
}

bool holds(const json& pod, const char* condition) {
  const auto& all = list_at(pod, {"status", "conditions"});
  return std::any_of(all.begin(), all.end(),
                     [&](const json& x) { return text_at(x, {"type"}) == condition && text_at(x, {"status"}) == "True"; });
}

bool restarts_always(const json& pod, const std::string& init_container) {
  const auto& all = list_at(pod, {"spec", "initContainers"});
  return std::any_of(all.begin(), all.end(),
                     [&](const json& x) { return text_at(x, {"name"}) == init_container && text_at(x, {"restartPolicy"}) == "Always"; });
}

/// How a container ended: its reason, or its signal or code.
std::string ending(const json& terminated) {
  if (auto reason = text_at(terminated, {"reason"}); !reason.empty())
    return reason;
  if (const auto signal = number_of(terminated, "signal"); signal != 0)
    return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(number_of(terminated, "exitCode"));
}

/// What the statuses of a pod's containers amount to.
class pod_summary {
public:
  explicit pod_summary(const json& pod) : pod_(pod) {
    total_ = list_at(pod, {"spec", "containers"}).size();
    for (const auto& x : list_at(pod, {"spec", "initContainers"}))
      total_ += text_at(x, {"restartPolicy"}) == "Always" ? 1u : 0u;
    reason = text_or(pod, {"status", "reason"}, text_at(pod, {"status", "phase"}));
    const bool initializing = look_at_init();
    if (!initializing || holds(pod, "Initialized"))
      look_at_containers();
    look_at_deletion();
  }

  [[nodiscard]] std::string ready() const {
    return std::to_string(ready_) + "/" + std::to_string(total_);
  }
  [[nodiscard]] std::string restarts(instant now) const {
    const auto count = std::to_string(restarts_);
    return restarts_ == 0 || restarted_.empty() ? count : count + " (" + human_age(restarted_, now) + " ago)";
  }

  std::string reason;

private:
  void count(const json& status) {
    restarts_ += number_of(status, "restartCount");
    restarted_ = std::max(restarted_, text_at(status, {"lastState", "terminated", "finishedAt"}));
  }

  /// Answers whether an init container holds up the others.
  bool look_at_init() {
    const auto& all = list_at(pod_, {"status", "initContainerStatuses"});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& one = all[i];
      count(one);
      const auto* terminated = find(one, {"state", "terminated"});
      if (terminated != nullptr && number_of(*terminated, "exitCode") == 0)
        continue;
      if (restarts_always(pod_, text_at(one, {"name"})) && is_true(one, "started")) {
        ready_ += is_true(one, "ready") ? 1u : 0u;
        continue;
      }
      const auto waiting = text_at(one, {"state", "waiting", "reason"});
      if (terminated != nullptr)
        reason = "Init:" + ending(*terminated);
      else if (!waiting.empty() && waiting != "PodInitializing")
        reason = "Init:" + waiting;
      else
        reason = "Init:" + std::to_string(i) + "/" + std::to_string(list_at(pod_, {"spec", "initContainers"}).size());
      return true;
    }
    return false;
  }

  void look_at_containers() {
    restarts_ = 0;
    restarted_.clear();
    for (const auto& x : list_at(pod_, {"status", "initContainerStatuses"}))
      if (restarts_always(pod_, text_at(x, {"name"})))
        count(x);
    bool running = false;
    const auto& all = list_at(pod_, {"status", "containerStatuses"});
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      count(*it);
      const auto* terminated = find(*it, {"state", "terminated"});
      if (const auto waiting = text_at(*it, {"state", "waiting", "reason"}); !waiting.empty()) {
        reason = waiting;
      } else if (terminated != nullptr) {
        reason = ending(*terminated);
      } else if (is_true(*it, "ready") && find(*it, {"state", "running"}) != nullptr) {
        running = true;
        ++ready_;
      }
    }
    if (reason == "Completed" && running)
      reason = holds(pod_, "Ready") ? "Running" : "NotReady";
  }

  void look_at_deletion() {
    if (find(pod_, {"metadata", "deletionTimestamp"}) == nullptr)
      return;
    const auto phase = text_at(pod_, {"status", "phase"});
    if (text_at(pod_, {"status", "reason"}) == "NodeLost")
      reason = "Unknown";
    else if (phase != "Succeeded" && phase != "Failed")
      reason = "Terminating";
  }

  const json& pod_;
  std::size_t total_ = 0;
  std::size_t ready_ = 0;
  std::int64_t restarts_ = 0;
  std::string restarted_; // the latest, as an instant
};

std::string gates(const json& pod) {
  const auto& all = list_at(pod, {"spec", "readinessGates"});
  if (all.empty())
    return none;
  const auto open = std::count_if(all.begin(), all.end(), [&](const json& x) { return holds(pod, text_at(x, {"conditionType"}).c_str()); });
  return std::to_string(open) + "/" + std::to_string(all.size());
}

} // namespace

json pod_cells(const json& pod, instant now) {
  const pod_summary all{pod};
  return json::array({all.ready(), all.reason, all.restarts(now), human_age(text_at(pod, {"metadata", "creationTimestamp"}), now),
                      text_or(pod, {"status", "podIP"}, none), text_or(pod, {"spec", "nodeName"}, none),
                      text_or(pod, {"status", "nominatedNodeName"}, none), gates(pod)});
}

} // namespace paddock::embedded
