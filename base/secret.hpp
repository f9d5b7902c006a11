#pragma once

#include <ostream>
#include <string>
#include <utility>

namespace paddock {

/// A token or key. It prints as `[secret]` wherever it ends up; only `reveal` gives the text, at the one place that
/// sends it.
class secret {
public:
  secret() = default;
  explicit secret(std::string text) : text_(std::move(text)) {
  }
  [[nodiscard]] const std::string& reveal() const noexcept {
    return text_;
  }
  [[nodiscard]] bool empty() const noexcept {
    return text_.empty();
  }
  friend bool operator==(const secret&, const secret&) = default;
  friend std::ostream& operator<<(std::ostream& out, const secret&) {
    return out << "[secret]";
  }
  friend std::string to_string(const secret&) {
    return "[secret]";
  }

private:
  std::string text_;
};

} // namespace paddock
