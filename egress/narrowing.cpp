#include "egress/narrowing.hpp"

#include "egress/config_members.hpp"

#include <algorithm>

namespace paddock::egress {

namespace {

bool is_blank(std::string_view x) {
  return x.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}

result<void> check_ports(const port_list& ports, const std::string& field) {
  if (ports.empty())
    return illegal(field, "is an empty list, which is not allowed: leave it out for no restriction by it");
  if (std::find(ports.begin(), ports.end(), 0) != ports.end())
    return illegal(field, "holds 0: a port is an integer from 1 to 65535");
  return {};
}

result<void> check_dns(const dns_narrowing& dns, const std::string& field) {
  if (is_blank(dns.cluster_domain))
    return illegal(field + ".clusterDomain", "is blank");
  if (dns.name_space && is_blank(*dns.name_space))
    return illegal(field + ".namespace", "is blank");
  for (const auto& suffix : dns.search_suffixes)
    if (is_blank(suffix))
      return illegal(field + ".searchSuffixes", "holds a blank suffix");
  return {};
}

} // namespace

result<void> check_narrowing(const narrowing& how, const std::string& field) {
  if (how.ports)
    if (auto ok = check_ports(*how.ports, field + ".ports"); !ok)
      return ok;
  for (const auto& [entry, ports] : how.host_ports)
    if (auto ok = check_ports(ports, field + ".hostPorts[\"" + entry + "\"]"); !ok)
      return ok;
  if (how.tls_ports)
    if (auto ok = check_ports(*how.tls_ports, field + ".tlsPorts"); !ok)
      return ok;
  return how.dns_names ? check_dns(*how.dns_names, field + ".dnsNames") : result<void>{};
}

result<void> check_server_names(const narrowing& how, const std::vector<host_entry>& hosts, const std::string& field) {
  if (!how.tls_server_names)
    return {};
  auto found = std::find_if(hosts.begin(), hosts.end(), [](const auto& x) { return x.whole_domain(); });
  if (found == hosts.end())
    return {};
  return tl::unexpected{illegal_host{found->text(), "becomes a name and a pattern, and the one server name that config.egress." + field
                                                      + ".tlsServerNames attaches cannot mean both: list the exact hosts, or set "
                                                        "tlsServerNames to false"}};
}

port_list tls_ports_of(const narrowing& how) {
  return how.tls_ports.value_or(port_list{443});
}

std::optional<port_list> ports_of(const narrowing& how, const host_entry& host) {
  if (auto own = how.host_ports.find(host.text()); own != how.host_ports.end())
    return own->second;
  if (how.ports)
    return how.ports;
  if (how.tls_server_names)
    return tls_ports_of(how);
  return std::nullopt;
}

} // namespace paddock::egress
