#pragma once

#include <compare>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

/// A string that means one thing. Three kinds of uid travel through this system; two with different tags do not mix.
/// `Tag` is any type; it need not be complete.
template <class Tag>
class tagged {
public:
  tagged() = default;
  explicit tagged(std::string text) : text_(std::move(text)) {
  }
  [[nodiscard]] const std::string& text() const noexcept {
    return text_;
  }
  [[nodiscard]] bool empty() const noexcept {
    return text_.empty();
  }
  friend bool operator==(const tagged&, const tagged&) = default;
  friend auto operator<=>(const tagged&, const tagged&) = default;
  friend std::ostream& operator<<(std::ostream& out, const tagged& x) {
    return out << x.text_;
  }
  friend std::string to_string(const tagged& x) {
    return x.text_;
  }

private:
  std::string text_;
};

} // namespace paddock

template <class Tag>
struct std::hash<paddock::tagged<Tag>> {
  std::size_t operator()(const paddock::tagged<Tag>& x) const noexcept {
    return std::hash<std::string>{}(x.text());
  }
};
