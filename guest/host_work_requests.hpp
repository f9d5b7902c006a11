#pragma once

#include "guest/calls.hpp"
#include "guest/host_requests.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

// The requests about work that outlives its caller ([G] 6.2, 6.6, 9, 12, 13). As in host_requests.hpp each is the whole
// frame, or a failure that says why there is none; an argument that no guest would take is `invalid_argument`.

/// Reserves `execution_id`; asks for its state when it exists.
[[nodiscard]] result<std::string> reserve_named_frame(const endpoint& where, const std::string& execution_id);
/// `bytes`: the guest has `exec-bytes`, and output comes as base64 of raw bytes.
[[nodiscard]] result<std::string> attach_frame(const endpoint& where, const std::string& execution_id, std::uint64_t from_offset,
                                               bool bytes);

[[nodiscard]] result<std::string> list_sessions_frame(const endpoint& where);
[[nodiscard]] result<std::string> start_detached_frame(const endpoint& where, const session_start& what);
[[nodiscard]] result<std::string> kill_session_frame(const endpoint& where, const std::string& session,
                                                     const std::optional<std::string>& signal);
/// Reads the log of a session and leaves. `bytes`: the guest has `stream-bytes`.
[[nodiscard]] result<std::string> read_session_frame(const endpoint& where, const std::string& session, std::uint64_t from_offset,
                                                     bool bytes);

[[nodiscard]] result<std::string> quiesce_frame(const endpoint& where, const quiesce_request& how);
[[nodiscard]] result<std::string> flush_frame(const endpoint& where, std::optional<std::chrono::milliseconds> bound);

} // namespace paddock::guest
