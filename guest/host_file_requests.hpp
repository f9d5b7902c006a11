#pragma once

#include "guest/host_requests.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace paddock::guest {

// What a host sends about files, and the arithmetic of parts ([G] 17.1-17.3). A text of the caller that no guest would
// take is refused here, before anything is dialled.

/// The largest integer that JSON carries exactly: offsets and lengths are not negative and at most this.
inline constexpr std::uint64_t largest_safe_integer = 9007199254740991;

/// `invalid_argument` when no file can have this path: it is empty or holds a NUL; `refused` when it is not UTF-8.
[[nodiscard]] result<void> check_path(const std::string& path);

/// A whole `read-file-stream` request.
[[nodiscard]] result<std::string> read_stream_frame(const endpoint& where, const std::string& path, std::optional<std::uint64_t> offset,
                                                    std::optional<std::uint64_t> length);

/// A `write-file` request around its content, so that base64 is appended to `before` as it comes and `after` closes it.
struct content_frame {
  std::string before; // room for the header, then the payload up to the content
  std::string after;
  /// The size of the payload with `n` bytes of content.
  [[nodiscard]] std::uint64_t size_with(std::uint64_t n) const;
  /// How many bytes of content one request takes, in whole groups; 0: none.
  [[nodiscard]] std::uint64_t room() const;
};

/// Makes a frame out of `before`, the base64 and `after`, by filling in the header. @pre it is no longer than a request
void seal(std::string& frame);

[[nodiscard]] content_frame whole_write(const endpoint& where, const std::string& path);

/// One part of a write, the last one when it says what to rename the temporary to.
[[nodiscard]] content_frame part_write(const endpoint& where, const std::string& temporary, std::uint64_t offset,
                                       const std::optional<std::string>& rename_to);

/// Removes the temporary of a write that failed.
[[nodiscard]] result<std::string> discard_frame(const endpoint& where, const std::string& temporary);

/// The temporary beside `target` that the parts go into. The name of the target in it is cut to 96 characters, and to 200
/// bytes, because a name may have no more than 255.
[[nodiscard]] std::string temporary_path(const std::string& target, const std::string& uuid);

/// Bytes of content in each part but the last: what the final part's request leaves of a frame, less 1,024 for safety.
/// `configured` only lowers it. Zero: there is no room for content.
[[nodiscard]] std::uint64_t part_size(const endpoint& where, const std::string& temporary, const std::string& target,
                                      std::uint64_t largest_offset, std::optional<std::uint64_t> configured);

} // namespace paddock::guest
