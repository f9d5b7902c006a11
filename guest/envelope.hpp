#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

/// What a host sends in the first frame ([G] 1.6).
struct request {
  std::string op;
  std::optional<nlohmann::ordered_json> body;
  std::optional<std::string> token;                  // of a TCP endpoint only
  std::optional<std::string> expected_guest_boot_id; // of a pinned request only ([G] 5.3)
};

/// The payload of `x`, in the reference order of fields. It holds the token: never log it.
[[nodiscard]] std::string to_payload(const request& x);

/// The text of a JSON value that goes on the wire: compact, and U+FFFD in place of what is not UTF-8.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& value);

/// Parses a payload as both sides must ([G] 0, 1.3): bytes that are not UTF-8 and escaped lone surrogates become U+FFFD.
/// Absent: not JSON, or nested deeper than any message of the protocol (64).
[[nodiscard]] std::optional<nlohmann::json> parse_payload(std::string_view payload);

/// What a guest needs to know of a first frame before it knows its peer. Reading it keeps nothing of the body, so an
/// unknown peer cannot make a byte of JSON cost more than a few bytes of memory.
struct envelope {
  /// The op; or, when there is no op string, what `unknown_op: ` is followed by.
  std::string op;
  bool has_op = false;
  /// A token that is not a string, or empty, is as good as none ([G] 2.1).
  std::optional<std::string> token;
  /// `expectedGuestBootId` as it came; `null` counts as present.
  std::optional<nlohmann::json> expected_guest_boot_id;
};

/// Absent: not JSON, as for `parse_payload`.
[[nodiscard]] std::optional<envelope> read_envelope(std::string_view payload);

} // namespace paddock::guest
