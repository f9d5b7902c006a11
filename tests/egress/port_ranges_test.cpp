#define CAF_SUITE port_ranges

#include "egress/port_ranges.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <string>

using namespace paddock::egress;
using nlohmann::json;

namespace {

std::string shown(const tl::expected<port_ranges, unreadable>& x) {
  if (!x)
    return "unreadable " + x.error().path;
  auto got = std::string{};
  for (const auto& y : *x) {
    got += (got.empty() ? "" : " ") + (y.protocol.empty() ? "any" : y.protocol) + ":";
    got += y.every ? "*" : std::to_string(y.first) + (y.last == y.first ? "" : "-" + std::to_string(y.last));
    for (const auto& name : y.names)
      got += "@" + std::string{name};
  }
  return got;
}

std::string core(const std::string& text) {
  const auto x = json::parse(text);
  return shown(read_core_ports(x.is_null() ? nullptr : &x));
}

std::string cilium(const std::string& text) {
  const auto x = json::parse(text);
  return shown(read_cilium_ports(x.is_null() ? nullptr : &x));
}

std::string cilium_port(const std::string& port) {
  return cilium(R"([{"ports":[{"port":)" + port + "}]}]");
}

} // namespace

SCENARIO("core ports are TCP unless they say otherwise, and none are all") {
  CHECK_EQ(core("null"), "any:*");
  CHECK_EQ(core("[]"), "any:*");
  CHECK_EQ(core(R"([{"port":443},{"port":"53","protocol":"udp"},{"protocol":"SCTP"},{}])"), "TCP:443 UDP:53 SCTP:* TCP:*");
  CHECK_EQ(core(R"([{"port":1,"endPort":65535},{"port":null,"protocol":null,"endPort":null}])"), "TCP:1-65535 TCP:*");
  CHECK_EQ(core(R"([{"port":80,"protocol":"any"}])"), "any:80");
}

SCENARIO("a port that no server stores, or that has a name, is not read") {
  CHECK_EQ(core("{}"), "unreadable .ports");
  CHECK_EQ(core("[1]"), "unreadable .ports[0]");
  CHECK_EQ(core("[null]"), "unreadable .ports[0]");
  for (const auto* port :
       {R"("http")", R"("")", R"(" 80")", R"("80 ")", R"("080")", R"("+80")", R"("-80")", R"("0x50")", R"("8e1")", R"("99999")", "80.5",
        "80.0", "-1", "0", "65536", "99999999999999999999999", "18446744073709551615", "true", "[]"})
    CHECK_EQ(core(std::string{R"([{"port":1},{"port":)"} + port + "}]"), "unreadable .ports[1].port");
  CHECK_EQ(core(R"([{"port":80,"protocol":6}])"), "unreadable .ports[0].protocol");
  CHECK_EQ(core(R"([{"port":80,"endPort":79}])"), "unreadable .ports[0].endPort");
  CHECK_EQ(core(R"([{"port":80,"endPort":"81"}])"), "unreadable .ports[0].endPort");
  CHECK_EQ(core(R"([{"port":80,"endPort":65536}])"), "unreadable .ports[0].endPort");
  CHECK_EQ(core(R"([{"endPort":81}])"), "unreadable .ports[0].endPort");
  CHECK_EQ(core(R"([{"port":80,"serverNames":[]}])"), "unreadable .ports[0].serverNames");
}

SCENARIO("Cilium's ports are of any protocol, and one element without ports is all ports") {
  CHECK_EQ(cilium("null"), "any:*");
  CHECK_EQ(cilium("[]"), "any:*");
  CHECK_EQ(cilium(R"([{"ports":[{"port":"443"}]},{"ports":[{"port":"53","protocol":"UDP"}]}])"), "any:443 UDP:53");
  CHECK_EQ(cilium(R"([{"ports":[{"port":"443"}]},{}])"), "any:*");
  CHECK_EQ(cilium(R"([{"ports":[{"port":"443"}]},{"ports":[]}])"), "any:*");
  CHECK_EQ(cilium(R"([{"ports":[{"port":"443"}],"serverNames":["a","b"]},{"ports":[{"port":"80","endPort":81,"protocol":"TCP"}]}])"),
           "any:443@a@b TCP:80-81");
  CHECK_EQ(cilium_port(R"("0")"), "any:*");
  CHECK_EQ(cilium_port("443"), "any:443");
  for (const auto* port : {R"("0443")", R"(" 443")", R"("443 ")", R"("https")", R"("00")"})
    CHECK_EQ(cilium_port(port), "unreadable .toPorts[0].ports[0].port");
  CHECK_EQ(cilium("{}"), "unreadable .toPorts");
  CHECK_EQ(cilium("[[]]"), "unreadable .toPorts[0]");
  CHECK_EQ(cilium(R"([{"ports":{}}])"), "unreadable .toPorts[0].ports");
  CHECK_EQ(cilium(R"([{"serverNames":"a"}])"), "unreadable .toPorts[0].serverNames");
  CHECK_EQ(cilium(R"([{"portRange":[]}])"), "unreadable .toPorts[0].portRange");
  THEN("what is not read stands even where all ports are meant") {
    CHECK_EQ(cilium(R"([{},{"ports":[{"port":"https"}]}])"), "unreadable .toPorts[1].ports[0].port");
  }
}

SCENARIO("one range has another one's ports when one of its own does, protocol and all") {
  const auto range = [](const char* protocol, std::uint32_t first, std::uint32_t last) { return port_range{protocol, first, last, false}; };
  const auto all_of = [](const char* protocol) { return port_range{protocol}; };
  CHECK(range("TCP", 1, 9).has_ports_of(range("TCP", 1, 9)));
  CHECK(range("", 1, 9).has_ports_of(range("TCP", 2, 3)));
  CHECK(!range("TCP", 1, 9).has_ports_of(range("UDP", 1, 9)));
  CHECK(!range("TCP", 1, 9).has_ports_of(range("", 1, 9)));
  CHECK(!range("TCP", 1, 9).has_ports_of(range("TCP", 9, 10)));
  CHECK(!range("TCP", 1, 9).has_ports_of(range("TCP", 0, 1)));
  CHECK(!range("TCP", 0, 65535).has_ports_of(all_of("TCP")));
  CHECK(all_of("TCP").has_ports_of(range("TCP", 0, 65535)));
  CHECK(all_of("").has_ports_of(all_of("SCTP")));
  CHECK(!all_of("TCP").has_ports_of(all_of("")));
}

SCENARIO("a range bound to TLS server names covers only connections to them") {
  const auto bound = [](server_names names) { return port_range{"TCP", 443, 443, false, std::move(names)}; };
  CHECK(bound({}).covers(bound({})));
  CHECK(bound({}).covers(bound({"a"})));
  CHECK(bound({"a", "b"}).covers(bound({"a"})));
  CHECK(!bound({"a"}).covers(bound({})));
  CHECK(!bound({"a"}).covers(bound({"a", "b"})));
}
