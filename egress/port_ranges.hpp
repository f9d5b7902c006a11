#pragma once

#include "egress/members.hpp"

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

/// TLS server names; they stand in the object that was read and live as long.
using server_names = std::vector<std::string_view>;

/// Ports of one protocol ([E] 3.8). As it stands: every port of every protocol.
struct port_range {
  std::string protocol; // upper case; empty: any
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool every = true;    // `first` and `last` say nothing
  server_names names{}; // only connections to one of these TLS server names; empty: to any

  /// Whether each connection of `x` is one of this, whatever its server name.
  [[nodiscard]] bool has_ports_of(const port_range& x) const;
  /// As well as its server name ([E] H12).
  [[nodiscard]] bool covers(const port_range& x) const;
};

/// Never empty: all ports are one range.
using port_ranges = std::vector<port_range>;

/// A port as an integer, or as a decimal text without leading zero, sign or space ([E] H10). 0 is one to Cilium only, which takes it
/// for every port.
[[nodiscard]] std::optional<std::uint32_t> port_number(const nlohmann::json& x);

/// The `ports` of a core rule; null when it has none.
[[nodiscard]] tl::expected<port_ranges, unreadable> read_core_ports(const nlohmann::json* ports);

/// The `toPorts` of a Cilium rule; null when it has none.
[[nodiscard]] tl::expected<port_ranges, unreadable> read_cilium_ports(const nlohmann::json* to_ports);

} // namespace paddock::egress
