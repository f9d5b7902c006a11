#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::k8s {

/// The parts of `scheme://[user-info@]host[:port][/path]`.
struct url {
  std::string scheme;
  std::string user_info; // as it stands; a secret
  std::string host;      // an IPv6 address without its brackets
  std::optional<std::uint16_t> port;
  std::string path; // without a slash at its end
};

/// Nothing where the text has another form, a query, a fragment, white space or a control character, or port 0.
[[nodiscard]] std::optional<url> read_url(std::string_view text);

/// `1` to `65535`, digits only.
[[nodiscard]] std::optional<std::uint16_t> read_port(std::string_view text);

/// `text` with each %XX replaced by its byte; nothing when a percent sign is not followed by two hex digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

} // namespace paddock::k8s
