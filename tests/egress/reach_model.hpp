#pragma once

// What policies let one connection do, decided by trying each rule on it. Slow, complete for what it knows, and written without
// the judge: a property test holds the two against each other.

#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::egress::test {

using nlohmann::json;
using labels = std::map<std::string, std::string>;

/// One connection that a pod of the namespace `own` may try.
struct connection {
  struct address {
    std::string text;
  };
  struct pod {
    std::string name_space;
    labels of_namespace;
    labels own;
    std::string asks; // of a resolver: the name
  };
  struct host {
    std::string name;
    std::string server_name;
  };
  std::variant<address, pod, host> to;
  std::string protocol;
  int port = 0;
};

class reach_model {
public:
  explicit reach_model(std::string own) : own_(std::move(own)) {
  }

  /// Whether a rule of a NetworkPolicy allows it.
  [[nodiscard]] bool core_rule(const json& rule, const connection& x) const {
    return any_of(rule, "ports", [&](const json& port) { return core_port(port, x); })
           && any_of(rule, "to", [&](const json& peer) { return core_peer(peer, x); });
  }

  /// Whether a rule of a CiliumNetworkPolicy allows it.
  [[nodiscard]] bool cilium_rule(const json& rule, const connection& x) const {
    return cilium_destination(rule, x) && any_of(rule, "toPorts", [&](const json& element) { return cilium_element(element, x); });
  }

  [[nodiscard]] static bool chooses(const json& selector, const labels& of) {
    const auto wanted = selector.value("matchLabels", json::object());
    for (const auto& [key, value] : wanted.items())
      if (!of.contains(bare(key)) || of.at(bare(key)) != value)
        return false;
    for (const auto& x : selector.value("matchExpressions", json::array())) {
      const auto key = bare(x.at("key").get<std::string>());
      const auto there = of.contains(key);
      auto listed = false;
      for (const auto& value : x.value("values", json::array()))
        listed = listed || (there && value == of.at(key));
      const auto what = x.at("operator").get<std::string>();
      if (what == "Exists" ? !there : what == "DoesNotExist" ? there : what == "In" ? !listed : listed)
        return false;
    }
    return true;
  }

private:
  /// An absent or empty list restricts nothing.
  template <class Test>
  static bool any_of(const json& rule, const char* name, Test test) {
    if (!rule.contains(name) || rule.at(name).empty())
      return true;
    for (const auto& x : rule.at(name))
      if (test(x))
        return true;
    return false;
  }

  static std::string bare(const std::string& key) {
    return key.starts_with("k8s:") || key.starts_with("any:") ? key.substr(4) : key;
  }

  static int number(const json& x) {
    return x.is_string() ? std::atoi(x.get<std::string>().c_str()) : x.get<int>();
  }

  static bool core_port(const json& port, const connection& x) {
    return port.value("protocol", "TCP") == x.protocol && port_matches(port, x.port);
  }

  static bool port_matches(const json& port, int x) {
    if (!port.contains("port"))
      return true;
    const auto first = number(port.at("port"));
    return first <= x && x <= port.value("endPort", first);
  }

  /// The address in bits; 32 or 128 of them.
  static std::vector<bool> bits_of(const std::string& text) {
    auto bytes = std::array<unsigned char, 16>{};
    const auto six = text.find(':') != std::string::npos;
    if (::inet_pton(six ? AF_INET6 : AF_INET, text.c_str(), bytes.data()) != 1)
      std::abort();
    auto got = std::vector<bool>{};
    for (auto i = 0; i < (six ? 128 : 32); ++i)
      got.push_back((bytes.at(static_cast<std::size_t>(i / 8)) >> (7 - i % 8) & 1) != 0);
    return got;
  }

  static bool in_block(const std::string& block, const std::string& address) {
    const auto slash = block.find('/');
    const auto a = bits_of(block.substr(0, slash));
    const auto b = bits_of(address);
    const auto length = std::atoi(block.c_str() + slash + 1);
    if (a.size() != b.size())
      return false;
    for (auto i = std::size_t{0}; i < static_cast<std::size_t>(length); ++i)
      if (a[i] != b[i])
        return false;
    return true;
  }

  static bool in_block(const json& block, const std::string& address) {
    if (!in_block(block.at("cidr").get<std::string>(), address))
      return false;
    for (const auto& hole : block.value("except", json::array()))
      if (in_block(hole.get<std::string>(), address))
        return false;
    return true;
  }

  bool core_peer(const json& peer, const connection& x) const {
    if (peer.contains("ipBlock")) {
      const auto* to = std::get_if<connection::address>(&x.to);
      return to != nullptr && in_block(peer.at("ipBlock"), to->text);
    }
    const auto* to = std::get_if<connection::pod>(&x.to);
    if (to == nullptr)
      return false;
    const auto right_space =
      peer.contains("namespaceSelector") ? chooses(peer.at("namespaceSelector"), to->of_namespace) : to->name_space == own_;
    return right_space && (!peer.contains("podSelector") || chooses(peer.at("podSelector"), to->own));
  }

  static bool name_matches(const json& item, const std::string& name) {
    if (item.contains("matchName") && item.at("matchName") == name)
      return true;
    const auto pattern = item.value("matchPattern", "");
    if (pattern == "*")
      return true;
    const auto dot = name.find('.');
    return pattern.starts_with("*.") && dot != std::string::npos && name.substr(dot) == pattern.substr(1);
  }

  static bool cilium_element(const json& element, const connection& x) {
    auto on_port = !element.contains("ports") || element.at("ports").empty();
    for (const auto& port : element.value("ports", json::array())) {
      const auto protocol = port.value("protocol", "ANY");
      on_port = on_port || ((protocol == "ANY" || protocol == x.protocol) && port_matches(port, x.port));
    }
    if (!on_port)
      return false;
    if (const auto* host = std::get_if<connection::host>(&x.to))
      return any_of(element, "serverNames", [&](const json& name) { return name == host->server_name; });
    const auto* pod = std::get_if<connection::pod>(&x.to);
    if (pod == nullptr || pod->asks.empty() || !element.contains("rules"))
      return true;
    return any_of(element.at("rules"), "dns", [&](const json& item) { return name_matches(item, pod->asks); });
  }

  bool cilium_destination(const json& rule, const connection& x) const {
    auto named = false;
    auto reached = false;
    const auto each = [&](const char* name, auto test) {
      for (const auto& entry : rule.value(name, json::array())) {
        named = true;
        reached = reached || test(entry);
      }
    };
    const auto* address = std::get_if<connection::address>(&x.to);
    const auto* host = std::get_if<connection::host>(&x.to);
    const auto* pod = std::get_if<connection::pod>(&x.to);
    each("toEntities", [](const json&) { return true; });
    each("toCIDR", [&](const json& entry) { return address != nullptr && in_block(entry.get<std::string>(), address->text); });
    each("toCIDRSet", [&](const json& entry) { return address != nullptr && in_block(entry, address->text); });
    each("toFQDNs", [&](const json& entry) { return host != nullptr && name_matches(entry, host->name); });
    each("toEndpoints", [&](const json& entry) {
      if (pod == nullptr)
        return false;
      auto all = pod->own;
      all["io.kubernetes.pod.namespace"] = pod->name_space;
      const auto says = entry.at("matchLabels").contains("io.kubernetes.pod.namespace")
                        || entry.at("matchLabels").contains("k8s:io.kubernetes.pod.namespace");
      return (says || pod->name_space == own_) && chooses(entry, all);
    });
    return !named || reached;
  }

  std::string own_;
};

} // namespace paddock::egress::test
