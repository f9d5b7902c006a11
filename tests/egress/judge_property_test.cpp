#define CAF_SUITE judge_property

// Random policies and a random allowance: where the judge says *within*, no connection that the policies let through is one that
// the configuration does not. The other direction is not a property: the judge may refuse what it cannot prove.

#include "tests/egress/policies.hpp"
#include "tests/egress/reach_model.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <initializer_list>
#include <random>

using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

constexpr auto own = "namzu-sandboxes";
constexpr auto max_connections = 120;

/// A small world, so that what is drawn meets often.
class world {
public:
  explicit world(std::uint64_t seed) : random_(seed) {
  }

  std::size_t below(std::size_t n) {
    return random_() % n;
  }
  bool one_in(std::size_t n) {
    return below(n) == 0;
  }
  template <class T>
  T pick(std::initializer_list<T> all) {
    return all.begin()[below(all.size())];
  }
  std::string word(std::initializer_list<const char*> all) {
    return pick(all);
  }

  // -- parts of rules -----------------------------------------------------------

  std::string block() {
    if (one_in(4))
      return word({"::/0", "2001:db8::/32", "2001:db8::/33", "2001:db8:8000::/33", "2001:db8::/48", "2001:db8:8000::1/128"});
    return word({"0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9", "10.128.0.0/10", "10.0.0.0/16", "10.0.0.1/32", "192.168.0.0/16",
                 "192.168.1.0/24", "128.0.0.0/1", "10.200.7.9/8"});
  }
  json block_with_holes() {
    auto got = json{{"cidr", block()}};
    for (auto n = below(3); n > 0; --n)
      got["except"].push_back(block());
    return got;
  }
  json selector() {
    auto got = json::object();
    if (!one_in(3))
      got["matchLabels"][word({"k8s-app", "zone"})] = word({"kube-dns", "a"});
    if (one_in(3))
      got["matchExpressions"] = json::array({expression()});
    return got;
  }
  json expression() {
    auto got = json{{"key", word({"k8s-app", "zone", "kubernetes.io/metadata.name"})},
                    {"operator", word({"In", "NotIn", "Exists", "DoesNotExist"})}};
    if (got["operator"] == "In" || got["operator"] == "NotIn")
      got["values"] = {word({"kube-dns", "a", "kube-system"})};
    return got;
  }
  json namespaces() {
    if (one_in(5))
      return json::object();
    if (one_in(5))
      return {{"matchExpressions", {expression()}}};
    return {{"matchLabels", {{"kubernetes.io/metadata.name", word({"kube-system", own})}}}};
  }
  json core_peer() {
    if (one_in(2))
      return {{"ipBlock", block_with_holes()}};
    auto got = json::object();
    if (!one_in(3))
      got["namespaceSelector"] = namespaces();
    if (got.empty() || one_in(2))
      got["podSelector"] = selector();
    return got;
  }
  json core_port() {
    auto got = json::object();
    if (one_in(2))
      got["protocol"] = word({"TCP", "UDP"});
    if (!one_in(5))
      got["port"] = pick({52, 53, 443});
    if (got.contains("port") && one_in(4))
      got["endPort"] = got["port"].get<int>() + static_cast<int>(below(3));
    return got;
  }
  json core_rule() {
    auto got = json::object();
    for (auto n = one_in(12) ? 0u : 1 + below(2); n > 0; --n)
      got["to"].push_back(core_peer());
    for (auto n = below(3); n > 0; --n)
      got["ports"].push_back(core_port());
    return got;
  }
  json dns_item() {
    if (one_in(6))
      return {{"matchPattern", word({"*", "*.example"})}};
    return {{"matchName", host_name()}};
  }
  std::string host_name() {
    return word({"a.example", "b.example", "example"});
  }
  json element() {
    auto got = json::object();
    for (auto n = one_in(8) ? 0u : 1 + below(2); n > 0; --n) {
      auto port = json{{"port", word({"52", "53", "443"})}};
      if (!one_in(3))
        port["protocol"] = word({"TCP", "UDP", "ANY"});
      got["ports"].push_back(std::move(port));
    }
    if (one_in(4))
      got["serverNames"] = {host_name()};
    if (one_in(2))
      for (auto n = below(3); n > 0; --n)
        got["rules"]["dns"].push_back(dns_item());
    return got;
  }
  json endpoint() {
    auto labels = json::object();
    if (!one_in(3))
      labels[word({"k8s:io.kubernetes.pod.namespace", "io.kubernetes.pod.namespace"})] = word({"kube-system", own});
    if (!one_in(3))
      labels[word({"k8s:k8s-app", "k8s-app", "zone"})] = word({"kube-dns", "a"});
    return {{"matchLabels", std::move(labels)}};
  }
  json cilium_rule() {
    auto got = json::object();
    if (one_in(3))
      got["toEndpoints"] = {endpoint()};
    if (one_in(4))
      got["toCIDR"] = {block()};
    if (one_in(4))
      got["toCIDRSet"] = {block_with_holes()};
    if (one_in(2))
      got["toFQDNs"] = {dns_item()};
    if (one_in(25))
      got["toEntities"] = {"world"};
    for (auto n = below(3); n > 0; --n)
      got["toPorts"].push_back(element());
    return got;
  }

  // -- what is configured -------------------------------------------------------

  std::vector<policy_object> configured() {
    if (!one_in(3))
      return {one_in(2) ? core_configuration() : static_object(hosts(), narrowing())};
    // What a grant adds to is one of the six kinds: the names that a union may ask for are told for those only.
    auto baseline = one_in(2) ? static_object(hosts(), narrowing())
                              : pick({deny_all_object(), no_network_object(), public_internet_object({"203.0.113.0/24"})});
    return {std::move(baseline), grant_object(hosts(), narrowing())};
  }
  policy_object core_configuration() {
    auto rules = json::array();
    for (auto n = below(4); n > 0; --n)
      rules.push_back(core_rule());
    return core_object(policy_kind::deny_all, std::move(rules));
  }
  std::vector<std::string> hosts() {
    auto got = std::vector<std::string>{};
    for (auto n = 1 + below(2); n > 0; --n)
      got.push_back(one_in(4) ? ".example" : host_name());
    return got;
  }
  narrowed narrowing() {
    auto how = narrowed{nullptr, one_in(2)};
    if (one_in(2)) {
      auto one = R"({"ports":[{"port":"443","protocol":"TCP"}]})"_json_text;
      if (one_in(2))
        one["serverNames"] = {host_name()};
      how.ports = json::array({std::move(one)});
    }
    return how;
  }

  /// A rule of the configuration, a little changed: random ones are seldom within.
  json like(json rule, bool core) {
    return core ? like_core(std::move(rule)) : like_cilium(std::move(rule));
  }
  json like_core(json rule) {
    if (one_in(3))
      rule["ports"] = json::array({core_port()});
    if (!rule.contains("to"))
      return rule;
    auto& peers = rule["to"];
    if (peers.size() > 1 && one_in(2))
      peers.erase(below(peers.size()));
    auto& peer = peers[below(peers.size())];
    if (peer.contains("ipBlock") && one_in(3))
      peer["ipBlock"] = block_with_holes();
    else if (!peer.contains("ipBlock") && one_in(3))
      peer["podSelector"] = selector();
    return rule;
  }
  json like_cilium(json rule) {
    if (rule.contains("toEndpoints") && one_in(3))
      rule["toEndpoints"] = {endpoint()};
    if (rule.contains("toEndpoints") && one_in(3))
      rule["toEndpoints"][0]["matchLabels"]["zone"] = "a";
    if (rule.contains("toFQDNs") && one_in(4))
      rule["toFQDNs"][0]["matchPattern"] = word({"*", "*.example"});
    if (one_in(6))
      rule["toPorts"] = json::array({element()});
    if (!rule.contains("toPorts"))
      return rule;
    if (one_in(6))
      rule["toPorts"].push_back(element());
    rule["toPorts"][0].erase(word({"rules", "serverNames", "ports", "none", "none"}));
    return rule;
  }
  json rules_for(bool core, const std::vector<policy_object>& from) {
    auto got = json::array();
    for (auto n = one_in(6) ? 0u : 1 + below(2); n > 0; --n) {
      const auto& source = from[below(from.size())];
      const auto& all = source.manifest["spec"]["egress"];
      const auto same = core == (source.kind == resource_kind::network_policy);
      if (same && !all.empty() && !one_in(5))
        got.push_back(like(all[below(all.size())], core));
      else
        got.push_back(core ? core_rule() : cilium_rule());
    }
    return got;
  }
  /// The configuration's own object, now and then with something more.
  json applied(const policy_object& x, const std::vector<policy_object>& from) {
    auto got = x.manifest;
    if (one_in(6))
      for (auto& rule : rules_for(x.kind == resource_kind::network_policy, from))
        got["spec"]["egress"].push_back(std::move(rule));
    return got;
  }
  json pod_selector() {
    if (one_in(5))
      return {{"matchLabels", {{"app", "else"}}}};
    return one_in(3) ? json::object() : template_selector;
  }
  json core_beside(const std::string& name, const std::vector<policy_object>& from) {
    auto spec = json{{"podSelector", pod_selector()}, {"egress", rules_for(true, from)}};
    if (!one_in(3))
      spec["policyTypes"] = one_in(6) ? json{"Ingress"} : one_in(6) ? json::array() : json{"Ingress", "Egress"};
    return core_spec(name, std::move(spec));
  }
  json cilium_beside(const std::string& name, const std::vector<policy_object>& from) {
    auto spec = json{{"endpointSelector", pod_selector()}, {"egress", rules_for(false, from)}};
    if (one_in(6))
      spec["enableDefaultDeny"] = {{"egress", one_in(2)}};
    if (one_in(6))
      spec["egressDeny"] = json::array({json::object()});
    return cilium_spec(name, std::move(spec));
  }

  // -- what is tried ------------------------------------------------------------

  connection tried() {
    auto got = connection{connection::address{}, word({"TCP", "UDP", "SCTP"}), pick({52, 53, 54, 443, 8080})};
    if (one_in(3)) {
      got.to = connection::address{word({"10.0.0.1", "10.0.0.2", "10.1.0.1", "10.128.0.1", "10.200.7.9", "192.168.1.1", "192.168.2.1",
                                         "203.0.113.1", "8.8.8.8", "2001:db8::1", "2001:db8:8000::1", "2001:db9::1", "fe80::1"})};
    } else if (one_in(2)) {
      got.to = connection::host{word({"a.example", "b.example", "example", "x.a.example", "other"}), host_name()};
    } else {
      auto pod = connection::pod{word({"kube-system", own, "other"}), {}, {}, {}};
      pod.of_namespace["kubernetes.io/metadata.name"] = pod.name_space;
      for (const auto* key : {"k8s-app", "zone"})
        if (one_in(2))
          pod.own[key] = word({"kube-dns", "a"});
      // The resolver is asked for names; nobody else is.
      const auto is_resolver = pod.name_space == "kube-system" && pod.own.contains("k8s-app") && pod.own["k8s-app"] == "kube-dns";
      if (is_resolver && got.port == 53 && got.protocol != "SCTP")
        pod.asks = word({"a.example", "b.example", "example", "other", "a.example.cluster.local"});
      got.to = std::move(pod);
    }
    return got;
  }

private:
  std::mt19937_64 random_;
};

/// What selects the pod of all policies, and what that lets through.
class union_model {
public:
  union_model(const std::vector<json>& core, const std::vector<json>& cilium, const label_map& pod) {
    for (const auto& x : core) {
      const auto& spec = x.at("spec");
      const auto rules = spec.value("egress", json::array());
      const auto types = spec.value("policyTypes", json::array());
      auto enforces = types.empty() && !rules.empty();
      for (const auto& type : types)
        enforces = enforces || type == "Egress";
      if (enforces && model_.chooses(spec.at("podSelector"), pod)) {
        isolated_ = true;
        core_.insert(core_.end(), rules.begin(), rules.end());
      }
    }
    for (const auto& x : cilium) {
      const auto& spec = x.at("spec");
      if (!model_.chooses(spec.at("endpointSelector"), pod))
        continue;
      const auto rules = spec.value("egress", json::array());
      const auto says = !rules.empty() || !spec.value("egressDeny", json::array()).empty();
      isolated_ = isolated_ || (says && spec.value("enableDefaultDeny", json::object()).value("egress", true));
      cilium_.insert(cilium_.end(), rules.begin(), rules.end());
    }
  }

  [[nodiscard]] bool lets_through(const connection& x) const {
    if (!isolated_)
      return true;
    return std::any_of(core_.begin(), core_.end(), [&](const json& rule) { return model_.core_rule(rule, x); })
           || std::any_of(cilium_.begin(), cilium_.end(), [&](const json& rule) { return model_.cilium_rule(rule, x); });
  }

private:
  reach_model model_{own};
  std::vector<json> core_;
  std::vector<json> cilium_;
  bool isolated_ = false;
};

/// To [E] 3.6 a list of DNS names with a pattern in it is all names.
void read_patterns_as_all(json& rule) {
  const auto names = json::json_pointer{"/toPorts/0/rules/dns"};
  if (!rule.contains(names))
    return;
  auto& all = rule[names];
  if (std::any_of(all.begin(), all.end(), [](const json& x) { return x.contains("matchPattern"); }))
    all = R"([{"matchPattern":"*"}])"_json_text;
}

/// Whether the configuration itself lets it through.
bool is_allowed(const std::vector<policy_object>& configured, const connection& x) {
  auto core = std::vector<json>{};
  auto cilium = std::vector<json>{};
  for (const auto& object : configured) {
    auto& to = object.kind == resource_kind::network_policy ? core : cilium;
    to.push_back(object.manifest);
    for (auto& rule : to.back()["spec"]["egress"])
      read_patterns_as_all(rule);
    (object.kind == resource_kind::network_policy ? to.back()["spec"]["podSelector"] : to.back()["spec"]["endpointSelector"]) =
      json::object();
  }
  return union_model{core, cilium, {}}.lets_through(x);
}

std::string shown(const connection& x) {
  auto to = std::string{};
  if (const auto* address = std::get_if<connection::address>(&x.to))
    to = address->text;
  else if (const auto* host = std::get_if<connection::host>(&x.to))
    to = host->name + " as " + host->server_name;
  else if (const auto* pod = std::get_if<connection::pod>(&x.to))
    to = pod->name_space + " " + to_text(pod->own) + " asked for '" + pod->asks + "'";
  return to + " " + x.protocol + " " + std::to_string(x.port);
}

} // namespace

SCENARIO("what is within lets no connection through that the configuration does not") {
  const auto first = std::uint64_t{std::random_device{}()};
  MESSAGE("seeds from " << first);
  auto within = 0;
  auto refused = 0;
  for (auto seed = first; seed < first + 4'000; ++seed) {
    auto chance = world{seed};
    const auto configured = chance.configured();
    auto core = std::vector<json>{};
    auto cilium = std::vector<json>{};
    for (const auto& x : configured)
      if (!chance.one_in(4))
        (x.kind == resource_kind::network_policy ? core : cilium).push_back(chance.applied(x, configured));
    const auto named = core.size() + cilium.size();
    for (auto n = chance.below(3); n > 0; --n)
      if (chance.one_in(2))
        core.push_back(chance.core_beside("c" + std::to_string(n), configured));
      else
        cilium.push_back(chance.cilium_beside("d" + std::to_string(n), configured));
    auto allowed = allowance_of(configured.front());
    auto labels = pod_labels();
    if (configured.size() > 1) {
      allowed = union_of(allowed, allowance_of(configured.back()));
      labels["sandbox.namzu.ai/per-sandbox-egress"] = "s1";
    }
    const auto got = judge(allowed, core, cilium, labels);
    if (got.outcome != "passes") {
      ++refused;
      continue;
    }
    within += core.size() + cilium.size() > named ? 1 : 0;
    const auto all = union_model{core, cilium, labels};
    for (auto i = 0; i < max_connections; ++i)
      if (const auto x = chance.tried(); all.lets_through(x) && !is_allowed(configured, x))
        CAF_FAIL("seed " << seed << ": " << shown(x) << "\nconfigured " << configured.front().manifest.dump() << "\ncore "
                         << json(core).dump() << "\ncilium " << json(cilium).dump());
  }
  // The property says something only where there was something to judge, and the judge refused some of it.
  CHECK(within > 100);
  CHECK(refused > 100);
}
