#pragma once

#include "egress/members.hpp"

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace paddock::egress {

/// Names that the resolver may be asked for; absent: all. They stand in the object that was read, and live as long.
using dns_restriction = std::optional<std::vector<std::string_view>>;

/// To which names the `toPorts` of a Cilium rule restrict DNS ([E] 3.10, H2, H9): none of them restricts any, or one does not.
[[nodiscard]] tl::expected<dns_restriction, unreadable> read_dns_restriction(const nlohmann::json* to_ports);

} // namespace paddock::egress
