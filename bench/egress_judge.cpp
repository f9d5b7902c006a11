// What the union check of [E] 3 takes, of one core: many policies that select the pod, very many that do not, one policy with very
// many blocks, and one that names a host again and again on very many ports. Reading JSON is not in it.

#include "bench/report.hpp"
#include "egress/union_check.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <malloc.h>
#include <string>
#include <vector>

using namespace paddock::egress;
using nlohmann::json;

namespace {

/// Of this program, which is one thread: what else the machine does is not in it.
double processor_milliseconds() {
  return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double allocated_mib() {
  return static_cast<double>(::mallinfo2().uordblks) / (1024.0 * 1024.0);
}

/// DNS, and every address but for private ones and `holes` more.
allowance public_internet(std::size_t more_holes) {
  auto except = json{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8"};
  for (auto i = std::size_t{0}; i < more_holes; ++i)
    except.push_back("20." + std::to_string(i / 256 % 256) + "." + std::to_string(i % 256) + ".0/25");
  auto rules = json::parse(R"([{"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},
    "podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}}],"ports":[{"protocol":"UDP","port":53},{"protocol":"TCP","port":53}]}])");
  rules.push_back({{"to", {{{"ipBlock", {{"cidr", "0.0.0.0/0"}, {"except", std::move(except)}}}}}}});
  return allowance_of({resource_kind::network_policy,
                       policy_kind::public_internet,
                       "n",
                       "named",
                       {{"spec", {{"podSelector", json::object()}, {"policyTypes", {"Egress"}}, {"egress", std::move(rules)}}}}});
}

const auto pod = judged_pod{"n", {{"sandbox.namzu.ai/template", "small"}, {"app", "desk"}}};

json policy(std::size_t number, const char* app, json rules) {
  return {{"metadata", {{"name", "policy-" + std::to_string(number)}, {"namespace", "n"}}},
          {"spec", {{"podSelector", {{"matchLabels", {{"app", app}}}}}, {"policyTypes", {"Egress"}}, {"egress", std::move(rules)}}}};
}

/// Where the parts of it lie in memory is most of what the check costs.
json as_read(const json& x) {
  return json::parse(x.dump());
}

/// So many rules to an address and to the resolver in turn.
json rules(std::size_t count) {
  const auto dns = json::parse(R"({"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},
    "podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}}],"ports":[{"protocol":"UDP","port":53},{"protocol":"TCP","port":53}]})");
  auto got = json::array();
  for (auto i = std::size_t{0}; i < count; ++i)
    if (i % 2 == 0)
      got.push_back({{"to", {{{"ipBlock", {{"cidr", "203.0.113." + std::to_string(i) + "/32"}}}}}}, {"ports", {{{"port", 443}}}}});
    else
      got.push_back(dns);
  return got;
}

std::vector<json> policies(std::size_t count) {
  auto got = std::vector<json>{};
  for (auto i = std::size_t{0}; i < count; ++i)
    got.push_back(as_read(policy(i, "desk", rules(20))));
  return got;
}

/// The best of some runs. Stops the benchmark when the check does not pass: it would have stopped early.
double time_of(const allowance& allowed, const std::vector<json>& all, resource_kind kind = resource_kind::network_policy) {
  auto best = 1e9;
  for (auto run = 0; run < 5; ++run) {
    const auto start = processor_milliseconds();
    auto check = union_check{allowed, pod};
    for (const auto& x : all)
      check.take(kind, x);
    if (check.refusal()) {
      std::cerr << "bench: the policies are not within\n";
      std::exit(1);
    }
    best = std::min(best, processor_milliseconds() - start);
  }
  return best;
}

void many_that_select() {
  const auto allowed = public_internet(0);
  const auto some = time_of(allowed, policies(1'000));
  const auto more = time_of(allowed, policies(10'000));
  paddock::bench::report("union_1000_policies_of_20_rules", some, "ms", 10);
  paddock::bench::report("union_10_times_as_many", more / some, "ratio", 13);
}

/// In pages of 500, as they are listed; making them is not timed.
void many_that_do_not() {
  const auto allowed = public_internet(0);
  const auto few = rules(20);
  auto check = union_check{allowed, pod};
  auto taken = 0.0;
  const auto before = allocated_mib();
  for (auto page = std::size_t{0}; page < 200; ++page) {
    auto items = std::vector<json>{};
    for (auto i = page * 500; i < (page + 1) * 500; ++i)
      items.push_back(as_read(policy(i, i % 10'000 == 0 ? "desk" : "else", few)));
    const auto start = processor_milliseconds();
    for (const auto& x : items)
      check.take(resource_kind::network_policy, x);
    taken += processor_milliseconds() - start;
  }
  if (check.refusal() || check.examined().size() != 100'000)
    std::exit(1);
  paddock::bench::report("union_100000_policies_10_selecting", taken / 1000, "s", 0.5);
  paddock::bench::report("union_100000_policies_kept", allocated_mib() - before, "MiB", 32);
}

/// One policy with so many blocks, each of which leaves out the holes in it that the configuration has.
json with_blocks(std::size_t count) {
  auto peers = json::array();
  for (auto i = std::size_t{0}; i < count; ++i) {
    const auto third = std::to_string(i / 256 % 256) + "." + std::to_string(i % 256);
    peers.push_back({{"ipBlock", {{"cidr", "20." + third + ".0/24"}, {"except", {"20." + third + ".0/25", "20." + third + ".192/26"}}}}});
  }
  return as_read(policy(0, "desk", json::array({{{"to", std::move(peers)}, {"ports", {{{"port", 443}}, {{"port", 80}}}}}})));
}

void many_blocks() {
  const auto some = time_of(public_internet(1'000), {with_blocks(1'000)});
  const auto more = time_of(public_internet(10'000), {with_blocks(10'000)});
  paddock::bench::report("union_10000_blocks_with_except", more, "ms", 50);
  paddock::bench::report("union_10_times_as_many_blocks", more / some, "ratio", 15);
}

/// One Cilium rule with so many entries for one host that is allowed on every port, and so many ports.
json naming_a_host(std::size_t count) {
  auto hosts = json::array();
  auto ports = json::array();
  for (auto i = std::size_t{1}; i <= count; ++i) {
    hosts.push_back({{"matchName", "a.example"}});
    ports.push_back({{"port", std::to_string(i)}, {"protocol", "TCP"}});
  }
  return as_read({{"metadata", {{"name", "again"}}},
                  {"spec",
                   {{"endpointSelector", json::object()},
                    {"egress", {{{"toFQDNs", std::move(hosts)}, {"toPorts", {{{"ports", std::move(ports)}}}}}}}}}});
}

void one_host_again_and_again() {
  const auto allowed =
    allowance_of({resource_kind::cilium_network_policy, policy_kind::static_hosts, "n", "named",
                  json::parse(R"({"spec":{"endpointSelector":{},"egress":[{"toFQDNs":[{"matchName":"a.example"}]}]}})")});
  const auto took = time_of(allowed, {naming_a_host(10'000)}, resource_kind::cilium_network_policy);
  paddock::bench::report("union_host_10000_times_on_10000_ports", took, "ms", 50);
}

} // namespace

int main() {
  many_that_select();
  many_that_do_not();
  many_blocks();
  one_host_again_and_again();
}
