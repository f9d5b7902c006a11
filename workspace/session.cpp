#include "workspace/session.hpp"

namespace paddock::workspace {

std::string_view to_string(state x) {
  switch (x) {
    case state::unknown: return "unknown";
    case state::running: return "running";
    case state::suspending: return "suspending";
    case state::resuming: return "resuming";
    case state::suspended: return "suspended";
    case state::deleted: return "deleted";
  }
  return "unknown";
}

std::string_view to_string(origin x) {
  switch (x) {
    case origin::created: return "created";
    case origin::adopted_running: return "adopted-running";
    case origin::resumed: return "resumed";
  }
  return "adopted-running";
}

} // namespace paddock::workspace
