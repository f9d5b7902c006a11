#pragma once

// What the file ops share. Everything here blocks.

#include "guest/agent/files.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

// -- frames that are written in place ----------------------------------------------------------------------------------

/// Room for the header, and for `bytes` of payload.
[[nodiscard]] std::string begin_frame(std::size_t bytes);
/// Puts the header before what was appended.
void end_frame(std::string& frame);

// -- reading -----------------------------------------------------------------------------------------------------------

/// The most that is read of a file whose size is not known before it was read.
inline constexpr std::uint64_t pseudo_file_limit = 64 * 1024 * 1024;

/// A regular file that is open for reading.
struct readable_file {
  unique_fd fd;
  std::uint64_t size = 0;
  /// Of a file whose stat size is 0 (the kernel's pseudo-files): all of it, `size` bytes. It was read once.
  std::optional<std::string> content;
};

struct read_failure {
  bool irregular = false; // a directory, a FIFO, a device, a socket
  std::string text;       // the whole error for the wire
};

/// What is not a regular file is not opened at all; should it take the place of one meanwhile, it is opened without waiting
/// and closed again.
[[nodiscard]] tl::expected<readable_file, read_failure> open_to_read(const agent_config& config, const file_calls& calls,
                                                                     const std::string& path);

/// Reads `size` bytes from `offset` on, fewer at the end of the file. An errno value on failure.
[[nodiscard]] tl::expected<std::size_t, int> read_at(int fd, char* to, std::size_t size, std::uint64_t offset);

// -- writing -----------------------------------------------------------------------------------------------------------

/// Where a file is to stand, ready for it: not a directory, nor anything else that is no regular file.
[[nodiscard]] tl::expected<confined_file, std::string> resolve_target(const write_surroundings& with, const std::string& path);

/// Gives `file` the twelve mode bits of what stands at `target`; nothing there, nothing done. Absent: they are set.
[[nodiscard]] std::optional<std::string> keep_mode(const file_calls& calls, int file, const confined_file& target);

/// Makes the name of `target` mean the file `name` in `directory`, and gives an answer only when that is on the device: the
/// directories that got a new one inside are synced as well. `file` is synced already. Absent: done.
[[nodiscard]] std::optional<std::string> put_in_place(const file_calls& calls, int directory, const std::string& name,
                                                      const confined_file& target);

/// One data part ([G] 7.5); `content` absent: the request has none. Gives the frame of the reply.
[[nodiscard]] std::string write_part(const write_surroundings& with, const std::string& path, const nlohmann::json& part,
                                     std::optional<std::string_view> content);

/// Removes a temporary, and never anything else. Gives the frame of the reply.
[[nodiscard]] std::string discard_part(const write_surroundings& with, const std::string& path);

} // namespace paddock::guest
