#include "embedded/pod_happenings.hpp"

namespace paddock::embedded {

namespace {

using at = container_state::at;

void compare(const container_state& before, const container_state& after, bool init, std::vector<happening>& out) {
  const auto say = [&](bool warning, const char* reason, std::string message) {
    out.push_back({warning, reason, std::move(message), container_field(after.name, init)});
  };
  if (after.now == at::running && (before.now != at::running || before.restarts != after.restarts))
    say(false, "Started", "Container started");
  if (before.now == at::running && after.now == at::running && before.ready && !after.ready)
    say(true, "Unhealthy", "Readiness probe failed");
  if (after.now != at::waiting || (before.now == at::waiting && before.reason == after.reason && before.message == after.message))
    return;
  if (after.reason == "CrashLoopBackOff")
    say(true, "BackOff", "Back-off restarting failed container " + after.name);
  else if (after.reason.ends_with("Error"))
    say(true, "Failed", "Error: " + (after.message.empty() ? after.reason : after.message));
  else if (after.reason == "FailedMount")
    say(true, "FailedMount", after.message);
}

void compare(const std::vector<container_state>& before, const std::vector<container_state>& after, bool init,
             std::vector<happening>& out) {
  for (std::size_t i = 0; i < after.size(); ++i)
    compare(i < before.size() ? before[i] : container_state{}, after[i], init, out);
}

} // namespace

std::vector<happening> happenings_between(const pod_state& before, const pod_state& after) {
  std::vector<happening> out;
  compare(before.init, after.init, true, out);
  compare(before.containers, after.containers, false, out);
  return out;
}

std::string container_field(std::string_view name, bool init) {
  return std::string{init ? "spec.initContainers{" : "spec.containers{"} + std::string{name} + "}";
}

} // namespace paddock::embedded
