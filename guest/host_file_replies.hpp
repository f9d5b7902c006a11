#pragma once

#include "guest/failure.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace paddock::guest {

/// What a guest says of a file before it streams a part of it.
struct file_meta {
  std::uint64_t size = 0; // of the whole file
  std::uint64_t offset = 0;
  std::uint64_t length = 0; // of the part, cut at the end of the file
};

/// The rows of a `read-file-stream` ([G] 7.3, 17.3): one `meta`, then data, then one `end` that counts what was sent. Nothing
/// is ever allocated from what `meta` announces.
class file_stream_reader {
public:
  file_stream_reader(std::optional<std::uint64_t> offset, std::optional<std::uint64_t> length) : offset_(offset), length_(length) {
  }

  /// Takes a payload and gives the bytes in it, in the memory of the payload. A bare refusal is what `refusal_in` says, an
  /// `error` event is `refused`; a file that became shorter while it was read is `lost`, as the bytes that are missing.
  [[nodiscard]] result<std::string> take(std::string payload);

  [[nodiscard]] bool complete() const noexcept {
    return ended_;
  }
  [[nodiscard]] const std::optional<file_meta>& meta() const noexcept {
    return meta_;
  }

private:
  result<std::string> take_data(std::string&& payload, std::size_t at, std::size_t n);
  result<std::string> take_event(const std::string& payload);
  result<void> take_meta(const nlohmann::json& event);
  result<void> take_end(const nlohmann::json& event);

  std::optional<std::uint64_t> offset_;
  std::optional<std::uint64_t> length_;
  std::optional<file_meta> meta_;
  std::uint64_t received_ = 0;
  bool ended_ = false;
};

/// Judges the reply to a part of `sent` bytes. `total`, of the final part, is the size that the file must have.
[[nodiscard]] result<void> read_part_reply(const nlohmann::json& reply, std::uint64_t sent, std::optional<std::uint64_t> total);

} // namespace paddock::guest
