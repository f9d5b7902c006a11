#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::guest {

/// The records of a walk on their way to a descriptor. They are sent when `capacity` bytes have come together, and at
/// `breathe` when the oldest has waited for 20 ms.
class walk_output {
public:
  walk_output(int fd, std::size_t capacity) : fd_(fd), capacity_(capacity) {
  }

  void entry(std::string_view path, std::uint64_t size);
  /// The last record, sent at once.
  void done();
  void error(std::string_view message, std::string_view code);

  void breathe();

  /// Nobody reads any more; all that is written is dropped.
  [[nodiscard]] bool broken() const noexcept {
    return broken_;
  }

private:
  void send();

  int fd_;
  std::size_t capacity_;
  std::string held_;
  std::int64_t since_ = 0; // in milliseconds, of the oldest record held
  bool broken_ = false;
};

} // namespace paddock::guest
