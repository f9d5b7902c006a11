#include "egress/read_narrowing.hpp"

#include "egress/config_members.hpp"
#include "egress/narrowing.hpp"

namespace paddock::egress {

namespace {

using json = nlohmann::json;

/// A JSON number that is a port; nothing for any other value. 443.0 is 443.
std::optional<std::uint16_t> port_of(const json& x) {
  if (!x.is_number())
    return std::nullopt;
  auto number = x.get<double>(); // exact wherever it is a port
  if (!(number >= 1 && number <= 65535))
    return std::nullopt;
  auto port = static_cast<std::uint16_t>(number);
  return port == number ? std::optional{port} : std::nullopt;
}

result<port_list> read_ports(const json& list, const std::string& field) {
  if (!list.is_array())
    return illegal(field, "must be a list of ports");
  auto got = port_list{};
  for (const auto& x : list) {
    auto port = port_of(x);
    if (!port)
      return illegal(field, "holds " + shown(&x) + ": a port is an integer from 1 to 65535");
    got.push_back(*port);
  }
  return got;
}

result<std::map<std::string, port_list>> read_host_ports(const json& object, const std::string& field) {
  if (!object.is_object())
    return illegal(field, "must be an object from host entries to lists of ports");
  auto got = std::map<std::string, port_list>{};
  for (const auto& [entry, list] : object.items()) {
    auto ports = read_ports(list, field + "[\"" + entry + "\"]");
    if (!ports)
      return tl::unexpected{ports.error()};
    got.emplace(entry, *std::move(ports));
  }
  return got;
}

result<std::vector<std::string>> read_suffixes(const json& list, const std::string& field) {
  if (!list.is_array())
    return illegal(field, "must be a list of domain names");
  auto got = std::vector<std::string>{};
  for (const auto& x : list) {
    if (!x.is_string())
      return illegal(field, "holds " + shown(&x) + ", which is not a string");
    got.push_back(x.get<std::string>());
  }
  return got;
}

bool is_off(const json& dns_names) {
  return dns_names.is_null() || dns_names == false;
}

result<std::optional<dns_narrowing>> read_dns_names(const json& x, const std::string& field) {
  if (is_off(x))
    return std::optional<dns_narrowing>{};
  auto got = dns_narrowing{};
  if (x == true)
    return got;
  if (!x.is_object())
    return illegal(field, "must be true, false or an object");
  if (auto ok = check_members(x, field, {"namespace", "clusterDomain", "searchSuffixes"}); !ok)
    return tl::unexpected{ok.error()};
  for (const auto* name : {"namespace", "clusterDomain"})
    if (const auto* text = configured(x, name); text != nullptr && !text->is_string())
      return illegal(below(field, name), "must be a string");
  if (const auto* text = configured(x, "namespace"))
    got.name_space = text->get<std::string>();
  if (const auto* text = configured(x, "clusterDomain"))
    got.cluster_domain = text->get<std::string>();
  if (const auto* list = configured(x, "searchSuffixes")) {
    auto suffixes = read_suffixes(*list, below(field, "searchSuffixes"));
    if (!suffixes)
      return tl::unexpected{suffixes.error()};
    got.search_suffixes = *std::move(suffixes);
  }
  return got;
}

result<void> read_port_members(const json& object, const std::string& field, narrowing& into) {
  for (const auto& [name, to] : {std::pair{"ports", &into.ports}, std::pair{"tlsPorts", &into.tls_ports}})
    if (const auto* list = configured(object, name)) {
      auto ports = read_ports(*list, below(field, name));
      if (!ports)
        return tl::unexpected{ports.error()};
      *to = *std::move(ports);
    }
  return {};
}

} // namespace

bool may_be_active(const json& object) {
  if (object.contains("ports"))
    return true;
  if (const auto* own = configured(object, "hostPorts"); own != nullptr && !(own->is_object() && own->empty()))
    return true;
  if (const auto* dns = configured(object, "dnsNames"); dns != nullptr && !is_off(*dns))
    return true;
  const auto* tls = configured(object, "tlsServerNames");
  return tls != nullptr && *tls != false;
}

result<void> check_narrowing_members(const json& object, const std::string& field) {
  return check_members(object, field, {"ports", "hostPorts", "dnsNames", "tlsServerNames", "tlsPorts"});
}

result<narrowing> read_narrowing(const json& object, const std::string& field) {
  if (auto ok = check_narrowing_members(object, field); !ok)
    return tl::unexpected{ok.error()};
  auto got = narrowing{};
  if (auto ok = read_port_members(object, field, got); !ok)
    return tl::unexpected{ok.error()};
  if (const auto* own = configured(object, "hostPorts")) {
    auto ports = read_host_ports(*own, below(field, "hostPorts"));
    if (!ports)
      return tl::unexpected{ports.error()};
    got.host_ports = *std::move(ports);
  }
  if (const auto* dns = configured(object, "dnsNames")) {
    auto names = read_dns_names(*dns, below(field, "dnsNames"));
    if (!names)
      return tl::unexpected{names.error()};
    got.dns_names = *std::move(names);
  }
  if (const auto* tls = configured(object, "tlsServerNames")) {
    if (!tls->is_boolean())
      return illegal(below(field, "tlsServerNames"), "must be true or false");
    got.tls_server_names = tls->get<bool>();
  }
  if (auto ok = check_narrowing(got, field); !ok)
    return tl::unexpected{ok.error()};
  return got;
}

} // namespace paddock::egress
