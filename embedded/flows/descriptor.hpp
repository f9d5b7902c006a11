#pragma once

#include <unistd.h>
#include <utility>

namespace paddock::embedded {

/// Closes on leaving the scope.
class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_(fd) {
  }
  ~descriptor() {
    close();
  }
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {
  }
  descriptor& operator=(descriptor&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  [[nodiscard]] int get() const noexcept {
    return fd_;
  }
  [[nodiscard]] int release() noexcept {
    return std::exchange(fd_, -1);
  }
  void close() noexcept {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

private:
  int fd_ = -1;
};

} // namespace paddock::embedded
