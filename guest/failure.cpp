#include "guest/failure.hpp"

#include "guest/features.hpp"

#include <array>
#include <utility>

namespace paddock::guest {

namespace {

constexpr auto unsupported_names = std::array<std::pair<std::string_view, std::string_view>, 6>{{
  {feature::execution_attach, "ExecutionAttachUnsupported"},
  {feature::read_file_stream, "AgentReadFileStreamUnsupported"},
  {feature::sessions, "SessionsUnsupported"},
  {feature::quiesce, "QuiesceUnsupported"},
  {feature::quiesce_idle_only, "QuiesceUnsupported"},
  {feature::flush, "FlushUnsupported"},
}};

struct shown {
  std::string operator()(const dial_failed& x) const {
    return "could not connect to agent at " + x.host + ":" + std::to_string(x.port) + ": " + x.cause;
  }
  std::string operator()(const unauthorized&) const {
    return "the guest refused the token; nothing ran";
  }
  std::string operator()(const retiring&) const {
    return "the guest has fenced itself, because it cannot account for a process that a command left behind, and refuses new work; only a "
           "new pod clears that: suspend and resume the workspace";
  }
  std::string operator()(const frame_too_large& x) const {
    return "the request has " + std::to_string(x.size) + " bytes, more than the " + std::to_string(x.limit)
           + " that a guest accepts; nothing was sent";
  }
  std::string operator()(const refused& x) const {
    return x.text.empty() ? "the guest refused: " + x.code : "the guest refused: " + x.text;
  }
  std::string operator()(const command_failed& x) const {
    return "the command could not be run: " + x.text;
  }
  std::string operator()(const protocol_failure& x) const {
    return "the peer does not speak the guest protocol: " + x.text;
  }
  std::string operator()(const lost& x) const {
    return "the answer was lost: " + x.text;
  }
  std::string operator()(const result_incomplete& x) const {
    return "the command has ended (" + x.state + (x.started ? ", started" : ", not started")
           + "), but its output is not complete: " + x.text;
  }
  std::string operator()(const cancellation_unknown& x) const {
    return "the cancellation was not confirmed, so the command may still be running; do not retry it automatically: " + x.text;
  }
  std::string operator()(const withdrawn&) const {
    return "withdrawn by the caller before anything was started";
  }
  std::string operator()(const guest_mismatch&) const {
    return "another guest process answered than the pinned one; nothing ran";
  }
  std::string operator()(const unsupported& x) const {
    return "the guest does not advertise '" + x.feature + "'; nothing was sent";
  }
  std::string operator()(const invalid_argument& x) const {
    return x.text;
  }
  std::string operator()(const file_too_large& x) const {
    return "the file has " + std::to_string(x.size) + " bytes, and at most " + std::to_string(x.limit)
           + " can be written; nothing was sent";
  }
  std::string operator()(const address_unresolvable& x) const {
    return "the address of the guest, '" + x.host + "', does not resolve: " + x.text;
  }
  std::string operator()(const not_attachable& x) const {
    return "execution " + x.execution_id + " cannot be attached to: " + x.reason + (x.state ? " (" + *x.state + ")" : "");
  }
  std::string operator()(const execution_detached& x) const {
    return "stopped observing execution " + x.execution_id + " at byte " + std::to_string(x.output_offset)
           + " without cancelling it: " + x.text;
  }
  std::string operator()(const session_refused& x) const {
    return "session " + x.session_id + ": " + (x.text.empty() ? x.reason : x.text);
  }
  std::string operator()(const session_detached& x) const {
    return "the stream of the session ended and its program lives on: " + x.text;
  }
  std::string operator()(const quiesce_unconfirmed& x) const {
    const auto& text = x.text.empty() ? x.reason : x.text;
    return x.reason == "quiesce_not_idle" ? "something runs, and nothing was stopped: " + text : "the quiesce is not confirmed: " + text;
  }
  std::string operator()(const flush_unconfirmed& x) const {
    return "the flush is not confirmed: " + (x.text.empty() ? x.reason : x.text);
  }
};

struct named {
  std::string_view operator()(const dial_failed&) const {
    return "AgentDialFailed";
  }
  std::string_view operator()(const unauthorized&) const {
    return "AgentUnauthorized";
  }
  std::string_view operator()(const retiring&) const {
    return "AgentRetiring";
  }
  std::string_view operator()(const frame_too_large&) const {
    return "AgentPreauthFrameTooLarge";
  }
  std::string_view operator()(const refused&) const {
    return "RemoteRefused";
  }
  std::string_view operator()(const command_failed&) const {
    return "RemoteCommand";
  }
  std::string_view operator()(const protocol_failure&) const {
    return "RemoteProtocol";
  }
  std::string_view operator()(const lost&) const {
    return "RemoteLost";
  }
  std::string_view operator()(const result_incomplete&) const {
    return "RemoteResultIncomplete";
  }
  std::string_view operator()(const cancellation_unknown&) const {
    return "RemoteCancellationUnknown";
  }
  std::string_view operator()(const withdrawn&) const {
    return "Withdrawn";
  }
  std::string_view operator()(const guest_mismatch&) const {
    return "GuestMismatch";
  }
  std::string_view operator()(const unsupported& x) const {
    for (const auto& [what, name] : unsupported_names)
      if (what == x.feature)
        return name;
    return "GuestUnsupported";
  }
  std::string_view operator()(const invalid_argument&) const {
    return "InvalidArgument";
  }
  std::string_view operator()(const file_too_large&) const {
    return "AgentWriteFileTooLarge";
  }
  std::string_view operator()(const address_unresolvable&) const {
    return "AgentAddressUnresolvable";
  }
  std::string_view operator()(const not_attachable&) const {
    return "ExecutionNotAttachable";
  }
  std::string_view operator()(const execution_detached&) const {
    return "ExecutionDetached";
  }
  std::string_view operator()(const session_refused&) const {
    return "SessionRefused";
  }
  std::string_view operator()(const session_detached&) const {
    return "AgentSessionDetached";
  }
  std::string_view operator()(const quiesce_unconfirmed&) const {
    return "QuiesceUnconfirmed";
  }
  std::string_view operator()(const flush_unconfirmed&) const {
    return "FlushUnconfirmed";
  }
};

} // namespace

std::string to_string(const failure& x) {
  return std::visit(shown{}, x);
}

std::string_view reason_of(const failure& x) {
  return std::visit(named{}, x);
}

} // namespace paddock::guest
