#pragma once

#include <cstddef>
#include <string_view>

namespace paddock::guest {

/// The wire version, carried by `healthz` and by reservations; there is no negotiation ([G] 1.8).
inline constexpr int protocol_version = 2;

/// What a guest may advertise ([G] 3.2).
namespace feature {

inline constexpr std::string_view write_file_parts = "write-file-parts";
inline constexpr std::string_view execution_attach = "execution-attach";
inline constexpr std::string_view stream_heartbeat = "stream-heartbeat";
inline constexpr std::string_view read_file_stream = "read-file-stream";
inline constexpr std::string_view sessions = "sessions";
inline constexpr std::string_view quiesce = "quiesce";
inline constexpr std::string_view flush = "flush";
inline constexpr std::string_view guest_boot_id = "guest-boot-id";
inline constexpr std::string_view pinned_guest = "pinned-guest";
inline constexpr std::string_view quiesce_idle_only = "quiesce-idle-only";

/// Ours, and additive: the body of `execute` may carry two more fields. [G] carries text only and has no flow control
/// toward a command; with these, binary output and large input survive. Without them the wire is exactly [G].
///
/// `"outputEncoding":"base64"`: the deltas carry `"data"` as base64 of the raw bytes, and `"encoding":"base64"`. While
/// more than 256 KiB are unsent on the connection the guest does not read the command's pipes. Once the connection is
/// lost, it reads on and discards. With `retainOutput` there is no such back-pressure: the log takes everything, and a
/// connection of which more is unsent than the log holds is dropped, as an attached reader. The body of `attach-execution`
/// takes the same field, each connection for itself.
///
/// `"outputEncoding":"base64"` in the body of `attach-execution` likewise: the deltas of that attach, replayed and live,
/// carry base64 of the raw bytes and `"encoding":"base64"`. `offset` and `nextOffset` count raw bytes, as before, and each
/// reader chooses for itself. With `retainOutput` both hold: the log keeps raw bytes, and the live deltas are base64.
///
/// `"stdinStream":true` (instead of `stdin`): the command's stdin is a pipe, fed by later frames on the same connection,
/// `{"type":"stdin","data":<base64 of at most 64 KiB>}` and at last `{"type":"stdin_end"}`. Frames may follow the request
/// at once. A frame of these that is larger or not base64 destroys the connection; other types are ignored. While more
/// than 256 KiB wait for the pipe the guest does not read the connection. When the connection is lost before
/// `stdin_end`, the pipe is closed after what had arrived. Input is discarded once the command has closed its stdin.
inline constexpr std::string_view exec_bytes = "exec-bytes";

/// Ours, and additive: the body of `terminal` and `attach-session` may carry `"encoding":"base64"`. [G] carries text only;
/// with this, what a terminal or a session prints and what is typed into it survive as they are.
///
/// A guest that agrees echoes `"encoding":"base64"` in `ready`. Then `data` of every `data` frame (those before `ready`
/// included) and of every `input` frame is base64 of raw bytes, at most `stream_bytes_piece` of them a frame; everything else
/// is as in [G] 8 and 9. An `input` frame that is not base64 is ignored, as one that is no string. Without the echo, both
/// directions are text.
inline constexpr std::string_view stream_bytes = "stream-bytes";

} // namespace feature

/// The bound of both directions of `exec-bytes`, and of one decoded piece of input.
inline constexpr std::size_t exec_bytes_window = 256 * 1024;
inline constexpr std::size_t exec_bytes_piece = 64 * 1024;

/// The bound of the raw bytes in one frame of `stream-bytes`, for who sends it. A receiver takes larger ones.
inline constexpr std::size_t stream_bytes_piece = 64 * 1024;

} // namespace paddock::guest
