#pragma once

#include <tl/expected.hpp>

#include <compare>
#include <ostream>
#include <string>
#include <string_view>

namespace paddock::workspace {

/// The text cannot name a Sandbox. Nothing was sent.
struct illegal_id {
  std::string text;
};

/// The name a host gave to a workspace: 1 to 54 of `a-z 0-9 -`, no dash at either end ([W] 1.4). Made by `parse` only, so
/// whoever holds one need not check again.
class id {
public:
  /// Takes `text` as it is. Nothing is trimmed, lower-cased or cut.
  static tl::expected<id, illegal_id> parse(std::string_view text);
  /// The id of the workspace that a Sandbox of this name belongs to, or a refusal.
  static tl::expected<id, illegal_id> of_sandbox(std::string_view sandbox_name);

  [[nodiscard]] const std::string& text() const noexcept {
    return text_;
  }
  /// `namzu-ws-` and the id, unchanged.
  [[nodiscard]] std::string sandbox_name() const;
  friend bool operator==(const id&, const id&) = default;
  friend auto operator<=>(const id&, const id&) = default;
  friend std::ostream& operator<<(std::ostream& out, const id& x) {
    return out << x.text_;
  }

private:
  explicit id(std::string text) : text_(std::move(text)) {
  }
  std::string text_;
};

} // namespace paddock::workspace
