#pragma once

#include "guest/command.hpp"
#include "guest/execution_registry.hpp"
#include "guest/identity.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paddock::guest {

// What the guest says: payloads as the reference emits them, fields in its order ([G] 1.7, 2.3, 3, 6). A frame is made
// by `to_frame`.

/// `{"ok":false,"error":…}`
[[nodiscard]] std::string refusal(std::string_view error);
/// `{"type":"error","error":…}`
[[nodiscard]] std::string error_event(std::string_view error);

[[nodiscard]] std::string healthz_reply(bool retiring, std::span<const std::string_view> features);

[[nodiscard]] std::string frame_too_large_refusal(std::uint64_t announced, std::uint64_t limit, bool authenticated);
[[nodiscard]] std::string evicted_refusal(std::uint64_t limit);
[[nodiscard]] std::string preauth_buffer_refusal(std::uint64_t limit);

/// `state` only when the caller named the id, or the record existed before; `output_offset` when it has a log.
[[nodiscard]] std::string reservation_reply(const guest_boot_id& boot, const std::string& id, std::int64_t expires_at_ms,
                                            std::optional<execution_state> state,
                                            std::optional<std::uint64_t> output_offset = std::nullopt);

/// The terminal payload of [G] 6.5.
[[nodiscard]] std::string terminal_reply(const guest_boot_id& boot, const execution_end& end);
/// A refusal of `cancel-execution` that names the guest; `message` may be empty.
[[nodiscard]] std::string cancel_refusal(const guest_boot_id& boot, std::string_view error, std::string_view message);

/// `bytes` decoded on their own as UTF-8 with replacement, or as base64. `offset`: their place in the log, if there is one.
[[nodiscard]] std::string delta_event(stream which, std::string_view bytes, bool as_base64,
                                      std::optional<std::uint64_t> offset = std::nullopt);
/// As `delta_event`, with the header of its frame: bulk is encoded where it is sent from.
[[nodiscard]] std::string delta_frame(stream which, std::string_view bytes, bool as_base64);
[[nodiscard]] std::string result_event(const execution_result& x);

/// The first event of an attached reader ([G] 6.6): `from` is the first byte that it is served, `dropped` what it asked for
/// before that and is lost.
[[nodiscard]] std::string attached_event(const std::string& id, execution_state state, std::uint64_t from, std::uint64_t dropped);
/// The last event of an attached reader; `next_offset` is the end of the log.
[[nodiscard]] std::string attach_result_event(const std::string& id, const execution_end& end, std::uint64_t next_offset);
[[nodiscard]] std::string output_not_retained_event(execution_state state);

struct file_range {
  std::uint64_t offset = 0;
};

[[nodiscard]] std::string read_file_reply(const guest_boot_id& boot, std::string_view content, std::uint64_t size, bool as_base64,
                                          std::optional<file_range> range);
[[nodiscard]] std::string write_file_reply(const guest_boot_id& boot, std::uint64_t bytes_written);

} // namespace paddock::guest
