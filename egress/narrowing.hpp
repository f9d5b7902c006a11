#pragma once

#include "egress/host_entry.hpp"

#include <optional>
#include <string>
#include <vector>

namespace paddock::egress {

// What a narrowing means for the entries of a list of hosts ([E] 1.5, 2.7).

/// Refuses what no object could say: an empty list of ports, port 0, a blank domain or suffix. `field` is the path of the
/// narrowing below `config.egress`.
[[nodiscard]] result<void> check_narrowing(const narrowing& how, const std::string& field);

/// One server name cannot stand for a domain and everything below it. `field` is as in `check_narrowing`; the refusal names it
/// and the first such entry.
[[nodiscard]] result<void> check_server_names(const narrowing& how, const std::vector<host_entry>& hosts, const std::string& field);

/// Where TLS is spoken.
[[nodiscard]] port_list tls_ports_of(const narrowing& how);

/// The TCP ports on which `host` may be reached; absent: all of them.
[[nodiscard]] std::optional<port_list> ports_of(const narrowing& how, const host_entry& host);

} // namespace paddock::egress
