#pragma once

#include "guest/command.hpp"
#include "guest/envelope.hpp"
#include "guest/failure.hpp"
#include "guest/features.hpp"
#include "guest/identity.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// A guest takes no more in a first frame, and every request is one ([G] 16.3).
inline constexpr std::uint64_t request_ceiling = 8 * 1024 * 1024;

/// Asked as the output cap of a command, so that none of its output is cut: the largest safe integer.
inline constexpr std::uint64_t unlimited_output = 9007199254740991;

/// Decoded bytes in one stdin frame.
inline constexpr std::size_t stdin_piece = exec_bytes_piece;

/// How the bytes of one execution travel.
struct execution_form {
  /// The guest has `exec-bytes`: output comes as base64 of raw bytes, and input follows the request in frames.
  bool bytes = false;
  /// Without `exec-bytes` the whole input is part of the request; absent: no input.
  std::optional<std::string> text_input;
  /// Keep a log of the output ([G] 6.7).
  bool retain = false;
};

// Each gives the whole frame to send, or says without sending anything why there is none: `frame_too_large`, or `refused`
// with a code that ends in `_not_text` when a text that must be JSON is not UTF-8.

/// `op` with `body`, for `where`: its token and its pin are written into the envelope.
[[nodiscard]] result<std::string> request_frame(const endpoint& where, std::string op, std::optional<nlohmann::ordered_json> body);
/// The size of the payload of such a request.
[[nodiscard]] std::uint64_t request_size(const endpoint& where, std::string op, std::optional<nlohmann::ordered_json> body);
/// A text of the caller that is not UTF-8: `refused` with `code`; nothing was sent.
[[nodiscard]] tl::unexpected<failure> not_text(std::string code, std::string_view what);
/// Puts what every start of a program has into `body`: `args`, and `cwd` and `env` where there are any; or says `command_not_text`.
[[nodiscard]] result<void> put_arguments(nlohmann::ordered_json& body, const std::vector<std::string>& all,
                                         const std::optional<std::string>& directory,
                                         const std::map<std::string, std::string>& environment);

[[nodiscard]] std::string healthz_frame();
[[nodiscard]] result<std::string> reserve_frame(const endpoint& where);
[[nodiscard]] result<std::string> cancel_frame(const endpoint& where, const std::string& execution_id);
[[nodiscard]] result<std::string> execute_frame(const endpoint& where, const std::string& execution_id, const command& what,
                                                const execution_form& form);
[[nodiscard]] result<std::string> read_file_frame(const endpoint& where, const std::string& path);
/// The size is judged before the content is encoded.
[[nodiscard]] result<std::string> write_file_frame(const endpoint& where, const std::string& path, std::string_view bytes);

/// One piece of input, at most `stdin_piece` bytes, as a frame; an empty piece is the frame that ends the input.
[[nodiscard]] std::string stdin_frame(std::string_view piece);

/// An id as long as every id that a guest mints: the size of a request can be judged before there is an id.
inline constexpr std::string_view model_execution_id = "exec_00000000-0000-4000-8000-000000000000";

} // namespace paddock::guest
