#pragma once

#include "guest/identity.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace paddock::guest {

// The host classes of [G] 26.2. None carries the token.

/// No connection was established: the proof that nothing was sent.
struct dial_failed {
  std::string host;
  std::uint16_t port = 0;
  std::string cause;
  bool unresolved = false; // at last, the name of the host had no address
};

/// The guest refused the token: nothing ran.
struct unauthorized {};

/// The guest has fenced itself: nothing ran, and only a new pod clears it.
struct retiring {};

/// The request is larger than a guest accepts before it knows its peer; refused here, nothing was sent.
struct frame_too_large {
  std::uint64_t size = 0;
  std::uint64_t limit = 0;
};

/// The guest answered and refused: the wire code, and its text.
struct refused {
  std::string code;
  std::string text;
};

/// The guest reports that the command failed to run (no such program, …).
struct command_failed {
  std::string text;
};

/// The peer does not speak the protocol.
struct protocol_failure {
  std::string text;
};

/// The connection ended, or the time was up, before the answer; `text` says where.
struct lost {
  std::string text;
};

/// The end of the command is confirmed, its output is not complete.
struct result_incomplete {
  std::string state; // cancelled, completed or failed
  bool started = false;
  std::string text;
};

/// The command may still be running. Never retried.
struct cancellation_unknown {
  std::string text;
  std::optional<pod_uid> pod; // the guest that accepted the reservation
  std::optional<guest_boot_id> boot;
};

/// The caller withdrew before anything was started.
struct withdrawn {};

/// Another agent process answered than the pinned one: nothing ran.
struct guest_mismatch {
  std::optional<guest_boot_id> boot; // of the one that answered
};

/// The guest lacks what the call needs; the call was not sent. `feature` is the string of [G] 3.2 that it does not advertise.
struct unsupported {
  std::string feature;
};

/// An argument that no guest would take; nothing was dialled.
struct invalid_argument {
  std::string text;
};

/// The file is larger than this host writes, or its path leaves no room for content; nothing was dialled.
struct file_too_large {
  std::uint64_t size = 0;
  std::uint64_t limit = 0;
};

/// The name of the endpoint does not resolve.
struct address_unresolvable {
  std::string host;
  std::string text;
};

/// An attach or a cancel of an execution was refused. `reason` is one of [G] 19.2, `state` what the guest says of it.
struct not_attachable {
  std::string execution_id;
  std::string reason;
  std::optional<std::string> state;
};

/// The host stopped observing an execution and did not cancel it: attach at `output_offset` to go on.
struct execution_detached {
  std::string execution_id;
  std::uint64_t output_offset = 0;
  std::string text;
  bool left = false; // it was running, and the caller asked to leave it so: no failure
};

/// A session call was refused; `reason` is one of [G] 19.4.
struct session_refused {
  std::string session_id;
  std::string reason;
  std::string text;
};

/// The stream of a session ended while its program lives. The next attach goes on at `next_offset`.
struct session_detached {
  std::optional<std::uint64_t> next_offset;
  std::string text;
};

/// What was asked is not confirmed: some process may still run.
struct quiesce_unconfirmed {
  std::string reason;
  std::string text;
};

/// What was asked is not confirmed: some bytes may not be on the disk.
struct flush_unconfirmed {
  std::string reason;
  std::string text;
};

using failure =
  std::variant<dial_failed, unauthorized, retiring, frame_too_large, refused, command_failed, protocol_failure, lost, result_incomplete,
               cancellation_unknown, withdrawn, guest_mismatch, unsupported, invalid_argument, file_too_large, address_unresolvable,
               not_attachable, execution_detached, session_refused, session_detached, quiesce_unconfirmed, flush_unconfirmed>;

template <class T>
using result = tl::expected<T, failure>;

[[nodiscard]] std::string to_string(const failure& x);

/// The public reason: `AgentDialFailed`, `AgentUnauthorized`, `AgentRetiring`, `AgentPreauthFrameTooLarge`, `RemoteRefused`,
/// `RemoteCommand`, `RemoteProtocol`, `RemoteLost`, `RemoteResultIncomplete`, `RemoteCancellationUnknown`, `Withdrawn`, `GuestMismatch`,
/// `InvalidArgument`, `AgentWriteFileTooLarge`, `AgentAddressUnresolvable`, `ExecutionNotAttachable`, `ExecutionDetached`,
/// `SessionRefused`, `AgentSessionDetached`, `QuiesceUnconfirmed`, `FlushUnconfirmed`; and by the feature that is missing
/// `ExecutionAttachUnsupported`, `AgentReadFileStreamUnsupported`, `SessionsUnsupported`, `QuiesceUnsupported`, `FlushUnsupported`, else
/// `GuestUnsupported`.
[[nodiscard]] std::string_view reason_of(const failure& x);

} // namespace paddock::guest
