#include "embedded/schema.hpp"

#include <arpa/inet.h>
#include <array>

namespace paddock::embedded::schema {

namespace {

/// `10.9.8.0/24` or `2001:db8::/64`.
bool is_cidr(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos || slash + 1 == text.size() || text.size() - slash > 4)
    return false;
  const auto address = text.substr(0, slash);
  const auto bits = text.substr(slash + 1);
  if (bits.find_first_not_of("0123456789") != std::string::npos || (bits.size() > 1 && bits.front() == '0'))
    return false;
  std::array<unsigned char, 16> parsed{};
  const bool six = address.find(':') != std::string::npos;
  return ::inet_pton(six ? AF_INET6 : AF_INET, address.c_str(), parsed.data()) == 1 && std::stoi(bits) <= (six ? 128 : 32);
}

/// The rules of one direction, and what their peers stand under.
struct direction {
  const char* rules;
  const char* peers;
};
constexpr std::array directions{direction{"ingress", "from"}, direction{"egress", "to"}};

void check_block(const json& block, const std::string& at, std::vector<status_cause>& out) {
  constexpr auto why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  const auto cidr = text_at(block, {"cidr"});
  if (cidr.empty())
    out.push_back(field_required(at + ".cidr"));
  else if (!is_cidr(cidr))
    out.push_back(field_invalid(at + ".cidr", in_quotes(cidr), why));
  const auto except = texts_of(block, "except");
  for (std::size_t i = 0; i < except.size(); ++i)
    if (!is_cidr(except[i]))
      out.push_back(field_invalid(at + ".except[" + std::to_string(i) + "]", in_quotes(except[i]), why));
}

void check_peer(const json& peer, const std::string& at, std::vector<status_cause>& out) {
  const auto* block = member(peer, "ipBlock");
  const bool selects = peer.contains("podSelector") || peer.contains("namespaceSelector");
  if (block == nullptr && !selects)
    out.push_back(field_required(at, "must specify a peer"));
  else if (block != nullptr && selects)
    out.push_back(field_forbidden(at, "may not specify both ipBlock and another peer"));
  else if (block != nullptr)
    check_block(*block, at + ".ipBlock", out);
}

void check_port(const json& port, const std::string& at, std::vector<status_cause>& out) {
  static const std::vector<std::string> protocols{"SCTP", "TCP", "UDP"};
  if (const auto protocol = text_at(port, {"protocol"}); std::find(protocols.begin(), protocols.end(), protocol) == protocols.end())
    out.push_back(field_unsupported(at + ".protocol", in_quotes(protocol), protocols));
  for (const auto* key : {"port", "endPort"})
    if (const auto* x = member(port, key); x != nullptr && x->is_number_integer() && (*x < 1 || *x > 65535))
      out.push_back(field_invalid(at + "." + key, x->dump(), "must be between 1 and 65535, inclusive"));
}

} // namespace

void default_network_policy(json& object) {
  auto& spec = object_at(object, "spec");
  for (const auto& x : directions)
    if (auto rules = spec.find(x.rules); rules != spec.end() && rules->is_array())
      for (auto& rule : *rules)
        if (auto ports = rule.find("ports"); ports != rule.end() && ports->is_array())
          for (auto& port : *ports)
            if (!port.contains("protocol"))
              port["protocol"] = "TCP";
  if (!spec.contains("podSelector"))
    spec["podSelector"] = json::object();
  if (!spec.contains("policyTypes")) {
    spec["policyTypes"] = json::array({"Ingress"});
    if (const auto* egress = member(spec, "egress"); egress != nullptr && !egress->empty())
      spec["policyTypes"].push_back("Egress");
  }
}

std::vector<status_cause> check_network_policy(const json& after) {
  std::vector<status_cause> out;
  const auto& spec = after.at("spec");
  for (const auto& x : directions) {
    const auto* rules = member(spec, x.rules);
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
      const auto at = std::string{"spec."} + x.rules + "[" + std::to_string(i) + "]";
      if (const auto* ports = member((*rules)[i], "ports"))
        for (std::size_t k = 0; k < ports->size(); ++k)
          check_port((*ports)[k], at + ".ports[" + std::to_string(k) + "]", out);
      if (const auto* peers = member((*rules)[i], x.peers))
        for (std::size_t k = 0; k < peers->size(); ++k)
          check_peer((*peers)[k], at + "." + x.peers + "[" + std::to_string(k) + "]", out);
    }
  }
  const auto types = texts_of(spec, "policyTypes");
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] != "Ingress" && types[i] != "Egress")
      out.push_back(field_unsupported("spec.policyTypes[" + std::to_string(i) + "]", in_quotes(types[i]), {"Ingress", "Egress"}));
  return out;
}

} // namespace paddock::embedded::schema
