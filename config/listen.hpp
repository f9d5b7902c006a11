#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::config {

/// Where a server listens. `host` is a name or an address, without brackets; port 0 lets the kernel choose.
struct listen_address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  friend bool operator==(const listen_address&, const listen_address&) = default;
};

/// `HOST:PORT`, and `[ADDRESS]:PORT` for IPv6. The host is never left out: who wants every interface says `0.0.0.0`.
[[nodiscard]] std::optional<listen_address> parse_listen(std::string_view text);

/// What `parse_listen` reads back as `x`.
[[nodiscard]] std::string write_listen(const listen_address& x);

} // namespace paddock::config
