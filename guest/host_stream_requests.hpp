#pragma once

#include "guest/calls.hpp"
#include "guest/failure.hpp"
#include "guest/identity.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace paddock::guest {

// What a host sends to open a stream, and on it ([G] 8, 9.3, 9.4, 10, 11). An open is the whole frame to send, or says why there
// is none: `invalid_argument` for what no guest would take, `refused` with a code in `_not_text` for a text that is not UTF-8,
// `frame_too_large`. In each case nothing was sent.

/// What is asked of every open beside what the caller wants.
struct stream_form {
  bool bytes = false;                     // the guest has `stream-bytes`
  std::chrono::milliseconds heartbeat{0}; // 0 or less: none is asked
};

/// Columns and rows in [1, 1000] ([G] 8.1).
[[nodiscard]] bool is_window(const window_size& size);

/// The id syntax of [G] 9.1.
[[nodiscard]] bool is_session_id(std::string_view text);

/// A session id makes the terminal persistent. Never one without the other ([G] 19.4): an empty id is `invalid_argument`.
[[nodiscard]] result<std::string> terminal_frame(const endpoint& where, const terminal_request& what, const stream_form& form);
[[nodiscard]] result<std::string> attach_session_frame(const endpoint& where, const session_attach& what, const stream_form& form);
/// Only to 127.0.0.1 and ::1, and a port from 1 to 65535.
[[nodiscard]] result<std::string> tcp_connect_frame(const endpoint& where, const std::string& host, int port, const stream_form& form);

// -- on the stream ---------------------------------------------------------------

/// The next piece of what is to be sent, at most 64 KiB, taken off `rest`; empty when nothing is left. With `text` no piece ends
/// inside a UTF-8 sequence that `rest` goes on with.
[[nodiscard]] std::string_view take_piece(std::string_view& rest, bool text);

/// The bytes at the end of `bytes` that begin a UTF-8 sequence and do not finish it, 3 at most: in a stream of text they wait for
/// the next piece.
[[nodiscard]] std::size_t unfinished_tail(std::string_view bytes);

/// Text that is not UTF-8 goes as U+FFFD; with `bytes` everything goes as it is.
[[nodiscard]] std::string input_frame(std::string_view piece, bool bytes);
[[nodiscard]] std::string resize_frame(const window_size& size);
/// The guest takes any other signal than the four of [G] 8.2 for SIGTERM.
[[nodiscard]] std::string kill_frame(const std::string& signal);
[[nodiscard]] std::string tcp_data_frame(std::string_view piece);
[[nodiscard]] std::string tcp_end_frame();
[[nodiscard]] std::string tcp_destroy_frame();
[[nodiscard]] std::string heartbeat_frame();

} // namespace paddock::guest
