#include "guest/dispatch.hpp"

#include "guest/replies.hpp"

#include <array>
#include <utility>

namespace paddock::guest {

namespace {

constexpr auto names = std::array<std::pair<std::string_view, op>, 16>{{
  {"healthz", op::healthz},
  {"reserve-execution", op::reserve_execution},
  {"execute", op::execute},
  {"cancel-execution", op::cancel_execution},
  {"attach-execution", op::attach_execution},
  {"read-file", op::read_file},
  {"read-file-stream", op::read_file_stream},
  {"write-file", op::write_file},
  {"terminal", op::terminal},
  {"attach-session", op::attach_session},
  {"start-detached", op::start_detached},
  {"list-sessions", op::list_sessions},
  {"kill-session", op::kill_session},
  {"tcp-connect", op::tcp_connect},
  {"quiesce", op::quiesce},
  {"flush", op::flush},
}};

bool attaches(op x) {
  return x == op::attach_execution || x == op::attach_session;
}

// The three shapes of a refusal ([G] 26.1): a reply, an event with the terminator, an event without it.
stop shaped(op x, std::string_view error, const guest_boot_id* boot) {
  auto event = false;
  auto terminated = false;
  switch (x) {
    case op::execute:
    case op::attach_execution:
    case op::attach_session:
    case op::read_file_stream:
      event = true;
      terminated = true;
      break;
    case op::terminal:
    case op::tcp_connect: event = true; break;
    default: break;
  }
  auto payload = nlohmann::ordered_json{};
  if (event)
    payload["type"] = "error";
  else
    payload["ok"] = false;
  payload["error"] = error;
  if (boot != nullptr)
    payload["guestBootId"] = boot->text();
  return {to_text(payload), terminated};
}

} // namespace

op op_of(const envelope& x) {
  if (x.has_op)
    for (const auto& [name, which] : names)
      if (name == x.op)
        return which;
  return op::unknown;
}

std::optional<stop> refuse(const envelope& x, const standing& now) {
  auto which = op_of(x);
  if (which == op::healthz)
    return std::nullopt;
  if (const auto& pin = x.expected_guest_boot_id) {
    if (!pin->is_string() || pin->get_ref<const std::string&>().empty())
      return shaped(which, "invalid_expected_guest_boot_id", nullptr);
    if (pin->get_ref<const std::string&>() != now.boot.text())
      return shaped(which, "guest_mismatch", &now.boot);
  }
  if (which == op::cancel_execution)
    return std::nullopt;
  // Every op but the two attach ops learns of the fence by a bare reply, stream ops included.
  if (now.retiring)
    return shaped(attaches(which) ? which : op::unknown, "agent_retiring", &now.boot);
  if (!now.quiescing)
    return std::nullopt;
  switch (which) {
    case op::execute:
    case op::terminal:
    case op::attach_execution:
    case op::attach_session: return stop{error_event("quiesce_in_progress"), true};
    case op::reserve_execution:
    case op::start_detached:
    case op::kill_session:
    case op::quiesce:
    case op::flush: return stop{refusal("quiesce_in_progress"), false};
    default: return std::nullopt;
  }
}

} // namespace paddock::guest
