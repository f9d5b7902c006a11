#define CAF_SUITE permitted_hosts

#include "egress/permitted_hosts.hpp"
#include "tests/egress/grants.hpp"

using namespace paddock;
using namespace paddock::egress;
using namespace paddock::egress::test;
using paddock::test::denied;
using paddock::test::gone;

namespace {

const std::string config_map = "/api/v1/namespaces/platform/configmaps/sandbox-permitted-hosts";
const auto one_host = std::vector<std::string>{"packages.example.org"};

narrowing on_ports(port_list ports) {
  auto how = narrowing{};
  how.ports = std::move(ports);
  return how;
}

/// What a call was refused for, where the permitted hosts did; nothing was written then.
permitted_host_refused refused(grant_cluster& x, std::optional<narrowing> how, const std::vector<std::string>& hosts) {
  const auto got = x.set(x.permitting(x.claim(), std::move(how)), hosts);
  CHECK_EQ(x.writes(), 0u);
  return error_of<permitted_host_refused>(got);
}

permitted_hosts_unavailable unavailable(grant_cluster& x) {
  const auto got = x.set(x.permitting(x.claim(), on_ports({443})), one_host);
  CHECK_EQ(x.writes(), 0u);
  return error_of<permitted_hosts_unavailable>(got);
}

bool is_malformed(json data) {
  const auto got = read_permitted_hosts({"sandbox-permitted-hosts", "platform"}, {{"data", std::move(data)}});
  if (got)
    return false;
  const auto* no = std::get_if<permitted_hosts_unavailable>(&got.error());
  return no != nullptr && no->problem == "malformed" && !no->reason.empty();
}

} // namespace

// [E 201]
SCENARIO("a permitted host on permitted ports is granted, once the ConfigMap was read") {
  auto x = grant_cluster{};
  CHECK(x.set(x.permitting(x.claim(), on_ports({443})), one_host).has_value());
  CHECK_EQ(x.sent().at(0), "GET sandbox-permitted-hosts");
  CHECK_EQ(x.sent().at(1), "POST ciliumnetworkpolicies");
}

// [E 202]
SCENARIO("a host that is not permitted is refused, and nothing is written") {
  auto x = grant_cluster{};
  const auto no = refused(x, on_ports({443}), {"packages.example.org", "evil.example.net", "worse.example.net"});
  CHECK_EQ(no.host, "evil.example.net");
  CHECK_EQ(no.problem, "host");
}

// [E 203]
SCENARIO("a port that is not permitted is refused, and nothing is written") {
  auto x = grant_cluster{};
  const auto no = refused(x, on_ports({443, 22}), one_host);
  CHECK_EQ(no.problem, "port");
  CHECK_EQ(no.ports.value_or(port_list{}), (port_list{443, 22}));
  auto y = grant_cluster{};
  CHECK_EQ(refused(y, on_ports({22}), {"evil.example.net"}).problem, "host"); // the host comes first
}

// [E 204] [E 205]
SCENARIO("all ports are never permitted") {
  auto x = grant_cluster{};
  const auto no = refused(x, std::nullopt, one_host);
  CHECK_EQ(no.problem, "unrestricted-ports");
  CHECK(!no.ports.has_value());
  auto of_another = narrowing{};
  of_another.host_ports = {{"other.example.org", {443}}};
  CHECK_EQ(refused(x, of_another, one_host).problem, "unrestricted-ports");
}

// [E 206]
SCENARIO("TLS server names alone mean port 443") {
  auto x = grant_cluster{};
  auto how = narrowing{};
  how.tls_server_names = true;
  CHECK(x.set(x.permitting(x.claim(), how), one_host).has_value());
  auto y = grant_cluster{};
  y.objects.at(config_map)["data"]["ports"] = "8443\n";
  CHECK(refused(y, how, one_host).ports == port_list{443});
}

// [E 207]
SCENARIO("a ConfigMap that is missing refuses, and is read again by the next call") {
  auto x = grant_cluster{};
  const auto kept = x.objects.extract(config_map);
  const auto no = unavailable(x);
  CHECK_EQ(no.problem, "missing");
  CHECK_EQ(no.path, config_map);
  x.objects[config_map] = kept.mapped();
  CHECK(x.set(x.permitting(x.claim(), on_ports({443})), one_host).has_value());
}

SCENARIO("a ConfigMap that may not be read refuses with the cause") {
  auto x = grant_cluster{};
  x.intercept = [](const k8s::call& what) -> std::optional<grant_cluster::reply> {
    if (what.path != config_map)
      return std::nullopt;
    return denied(what);
  };
  const auto no = unavailable(x);
  CHECK_EQ(no.problem, "unreadable");
  CHECK(no.cause.has_value());
}

// [E 208]
SCENARIO("one entry that is none makes the ConfigMap malformed") {
  auto x = grant_cluster{};
  x.objects.at(config_map)["data"].erase("hosts");
  CHECK_EQ(unavailable(x).problem, "malformed");
  CHECK(is_malformed(nullptr));
  CHECK(is_malformed({{"hosts", "a.example"}}));
  for (const auto* hosts : {"", "  \n\t\n", "*.example.com", ".com", "10.0.0.1", "https://a.example", "a.example:443", "A.example",
                            "a.example b.example", "# a.example", "a.example\n.", "a.example."})
    CHECK(is_malformed({{"hosts", hosts}, {"ports", "443"}}));
  for (const auto* ports : {"", "\n", "0", "65536", "0443", "+443", "443-444", "443,444", "https", "443\nx"})
    CHECK(is_malformed({{"hosts", "a.example"}, {"ports", ports}}));
  for (const auto& other : {json(443), json({443}), json(nullptr)})
    CHECK(is_malformed({{"hosts", "a.example"}, {"ports", other}}));
}

SCENARIO("lines may be blank and padded, and end as on another system") {
  const auto got =
    read_permitted_hosts({"c", "n"}, {{"data", {{"hosts", "\n a.example\r\n\t.b.example \n\n"}, {"ports", "443\r\n1\n65535"}}}});
  REQUIRE(got.has_value());
  REQUIRE_EQ(got->hosts.size(), 2u);
  CHECK_EQ(got->hosts[0].text(), "a.example");
  CHECK_EQ(got->hosts[1].text(), ".b.example");
  CHECK_EQ(got->ports, (port_list{443, 1, 65535}));
}

// [E 209]
SCENARIO("a domain is permitted by a domain only") {
  auto x = grant_cluster{};
  x.objects.at(config_map)["data"]["hosts"] = "api.example.com\n";
  CHECK_EQ(refused(x, on_ports({443}), {".api.example.com"}).problem, "host");
  x.objects.at(config_map)["data"]["hosts"] = ".example.com\n";
  CHECK(
    x.set(x.permitting(x.claim(), on_ports({443})), {".api.example.com", "example.com", ".example.com", "a.b.example.com"}).has_value());
  x.api.calls.clear();
  CHECK_EQ(refused(x, on_ports({443}), {"badexample.com"}).problem, "host");
}

// [E 210]
SCENARIO("taking a grant away asks for no permission") {
  auto x = grant_cluster{};
  x.objects.erase(config_map);
  CHECK(x.set(x.permitting(x.claim(), on_ports({443})), {}).has_value());
  CHECK_EQ(x.sent(), (std::vector<std::string>{"DELETE namzu-sbx-6f1d2a30-1111-4222-8333-444455556666"}));
}

// [E 211]
SCENARIO("what is permitted is read for every grant") {
  auto x = grant_cluster{};
  for (auto i = 0; i < 2; ++i)
    CHECK(x.set(x.permitting(x.claim(), on_ports({443})), one_host).has_value());
  CHECK_EQ(std::ranges::count(x.sent(), "GET sandbox-permitted-hosts"), 2);
}

SCENARIO("without a configured ConfigMap none is read") {
  auto x = grant_cluster{};
  CHECK(x.set(x.claim(), {"evil.example.net"}).has_value());
  CHECK_EQ(std::ranges::count(x.sent(), "GET sandbox-permitted-hosts"), 0);
}
