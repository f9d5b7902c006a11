#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace paddock::guest {

/// A payload whose bulk does not go through the JSON parser. When a long `"content"` of it is a string without escapes, a
/// mark stands in its place in `text()`, which parses to what the payload parses to but for that one value. A payload that
/// has no such string is its own text.
///
/// Whether the bulk is well-formed JSON text is not known: who finds the mark takes the bulk as base64, or parses
/// `whole()` instead.
class lifted_payload {
public:
  explicit lifted_payload(std::string payload);

  [[nodiscard]] std::string_view text() const noexcept {
    return rest_.empty() ? std::string_view{payload_} : std::string_view{rest_};
  }
  [[nodiscard]] std::string_view whole() const noexcept {
    return payload_;
  }
  [[nodiscard]] bool lifted() const noexcept {
    return !rest_.empty();
  }
  /// Whether `value` is the mark.
  [[nodiscard]] bool stands_for_bulk(const nlohmann::json& value) const;
  /// The bulk, in the payload: to be decoded where it is.
  [[nodiscard]] std::span<char> bulk() noexcept {
    return {payload_.data() + at_, size_};
  }

private:
  std::string payload_;
  std::string rest_; // empty: nothing was lifted
  std::size_t at_ = 0;
  std::size_t size_ = 0;
};

} // namespace paddock::guest
