#include "workspace/evidence.hpp"

namespace paddock::workspace {

std::string_view to_string(evidence x) {
  switch (x) {
    case evidence::unknown: return "unknown";
    case evidence::pod_gone: return "pod-gone";
    case evidence::pod_replaced: return "pod-replaced";
    case evidence::container_restarted: return "container-restarted";
    case evidence::same_guest: return "same-guest";
  }
  return "unknown";
}

std::string_view to_string(agent_health x) {
  switch (x) {
    case agent_health::ok: return "ok";
    case agent_health::retiring: return "retiring";
    case agent_health::unreachable: return "unreachable";
  }
  return "unreachable";
}

evidence weigh(const guest_look& seen, const identity& accepted, const identity& now) {
  const auto restarted = accepted.boot && now.boot && now.pod == accepted.pod && accepted.boot != now.boot;
  switch (seen.what) {
    case guest_look::found::stranger: return evidence::unknown;
    case guest_look::found::no_pod: return evidence::pod_gone;
    case guest_look::found::failed: return restarted ? evidence::container_restarted : evidence::unknown;
    case guest_look::found::pod: break;
  }
  if (seen.pod != accepted.pod)
    return evidence::pod_replaced;
  return restarted ? evidence::container_restarted : evidence::same_guest;
}

bool is_gone_for_sure(evidence x) {
  return x != evidence::unknown && x != evidence::same_guest;
}

} // namespace paddock::workspace
