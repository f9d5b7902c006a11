#pragma once

#include "egress/errors.hpp"
#include "egress/host_entry.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace paddock::egress {

/// The hosts and ports that the operator permits to be granted at all, as a ConfigMap says them ([E] 4.6): `data.hosts` and
/// `data.ports`, one entry a line. The companion of the fence holds the same lists against what is written.
struct permitted_hosts {
  std::vector<host_entry> hosts;
  port_list ports;
};

[[nodiscard]] std::string path_of(const object_reference& config_map);

/// Reads the ConfigMap. One entry that is none makes all of it malformed: what it was meant to permit cannot be known.
[[nodiscard]] result<permitted_hosts> read_permitted_hosts(const object_reference& which, const nlohmann::json& config_map);

/// The failure of the read, in the words of the permitted hosts.
[[nodiscard]] egress_error unread(const object_reference& which, const k8s::failure& why);

/// Whether each of `hosts` and each port on which `how` lets it be reached is permitted. Of the first host that is not: the
/// host itself, then its ports; all ports are never permitted.
[[nodiscard]] result<void> check_permitted(const permitted_hosts& permitted, const per_sandbox_egress& how,
                                           const std::vector<host_entry>& hosts);

} // namespace paddock::egress
