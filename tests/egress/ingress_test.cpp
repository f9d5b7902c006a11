#define CAF_SUITE ingress

#include "egress/flows/ingress.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_api.hpp"

#include <boost/asio/io_context.hpp>

#include <random>

using namespace paddock;
using namespace paddock::egress;
using nlohmann::json;
using test::denied;
using test::found;
using test::gone;

namespace {

constexpr auto core = resource_kind::network_policy;
constexpr auto cilium = resource_kind::cilium_network_policy;
const auto task_pod = label_map{{"sandbox.namzu.ai/template", "namzu-task"}, {"app", "namzu"}};

/// An object of this spec.
json named(const std::string& name, json spec) {
  return {{"metadata", {{"name", name}, {"namespace", "namzu-sandboxes"}}}, {"spec", std::move(spec)}};
}

json baseline() {
  return test::shipped("NetworkPolicy", "namzu-sandbox-baseline");
}

const json& baseline_parsed() {
  static const auto parsed = baseline();
  return parsed;
}

struct judged {
  std::string refusal = "passes";
  std::vector<std::string> verdicts; // of what was examined, in order
  std::string details;
  std::string text; // for people
};

judged outcome_of(const result<void>& got) {
  auto x = judged{};
  if (got)
    return x;
  const auto* no = std::get_if<ingress_refused>(&got.error());
  REQUIRE(no != nullptr);
  x.refusal = to_string(no->refusal);
  x.text = to_string(got.error());
  for (const auto& each : no->examined) {
    x.verdicts.emplace_back(to_string(each.verdict));
    x.details += each.detail.value_or("") + "\n";
  }
  return x;
}

judged judge(const std::vector<json>& of_core, const std::vector<json>& of_cilium = {}, const label_map& pod = task_pod) {
  auto it = ingress_judge{ingress_question{"pod p", pod, "namzu-sandboxes"}};
  for (const auto& x : of_core)
    it.take(core, x);
  for (const auto& x : of_cilium)
    it.take(cilium, x);
  return outcome_of(it.verdict());
}

/// What one core rule makes of the pod, beside the baseline.
std::string rule(json x) {
  return judge({baseline(), named("other", {{"podSelector", json::object()}, {"policyTypes", {"Ingress"}}, {"ingress", {std::move(x)}}})})
    .refusal;
}

/// What one rule of Cilium does.
judged cilium_rule(json x) {
  return judge({baseline()}, {named("other", {{"endpointSelector", json::object()}, {"ingress", {std::move(x)}}})});
}

json port(json number, const char* protocol = "TCP") {
  return {{"port", std::move(number)}, {"protocol", protocol}};
}

const auto host_only = json{{"podSelector", {{"matchLabels", {{"namzu.ai/component", "host"}}}}}};
const auto host_endpoint = json{{"matchLabels", {{"namzu.ai/component", "host"}}}};

using words = std::vector<std::string>;

} // namespace

// -- what covers a pod ---------------------------------------------------------------

// [E 265]
SCENARIO("the shipped baseline covers the pods of every template, and no other") {
  CHECK_EQ(judge({baseline()}).refusal, "passes");
  CHECK_EQ(
    judge({baseline()}, {}, {{"sandbox.namzu.ai/template", "another"}, {"sandbox.namzu.ai/per-sandbox-egress", "namzu-ws-desk"}}).refusal,
    "passes");
  const auto no = judge({baseline()}, {}, {{"app", "namzu"}});
  CHECK_EQ(no.refusal, "no-covering-policy");
  CHECK_EQ(no.verdicts, words{"does-not-select"});
}

// [E 266] [E 267]
SCENARIO("a pod that no policy selects is not covered") {
  const auto none = judge({});
  CHECK_EQ(none.refusal, "no-covering-policy");
  CHECK(none.verdicts.empty());
  const auto others = judge({named("others", {{"podSelector", {{"matchLabels", {{"app", "web"}}}}}, {"policyTypes", {"Ingress"}}})});
  CHECK_EQ(others.refusal, "no-covering-policy");
  CHECK_EQ(others.verdicts, words{"does-not-select"});
}

// [E 268]
SCENARIO("a policy of egress neither covers nor opens, whatever else it says") {
  const auto no = judge({named("egress", {{"podSelector", json::object()}, {"policyTypes", {"Egress"}}, {"ingress", {json::object()}}})});
  CHECK_EQ(no.refusal, "no-covering-policy");
  CHECK_EQ(no.verdicts, words{"not-ingress-scoped"});
}

// [E 269]
SCENARIO("a policy without rules covers, and so does one whose types the server adds") {
  CHECK_EQ(judge({named("deny", {{"podSelector", json::object()}, {"policyTypes", {"Ingress"}}, {"ingress", json::array()}})}).refusal,
           "passes");
  CHECK_EQ(judge({named("deny", {{"podSelector", json::object()}})}).refusal, "passes");
  CHECK_EQ(judge({named("deny", {{"podSelector", json::object()}, {"policyTypes", json::array()}})}).refusal, "passes");
}

// [E 275]
SCENARIO("a policy of nodes is about no pod") {
  const auto nodes = named("nodes", {{"nodeSelector", json::object()}, {"ingress", {json::object()}}});
  CHECK_EQ(judge({baseline()}, {nodes}).refusal, "passes");
  const auto no = judge({}, {nodes});
  CHECK_EQ(no.refusal, "no-covering-policy");
  CHECK(no.verdicts.empty());
}

// -- what opens the port -----------------------------------------------------------------

// [E 270]
SCENARIO("one policy that admits everyone opens the port, whatever covers the pod") {
  const auto no = judge({baseline(), named("wide", {{"podSelector", json::object()}, {"ingress", {{{"ports", {port(1024)}}}}}})});
  CHECK_EQ(no.refusal, "port-open");
  CHECK_EQ(no.verdicts, (words{"covers", "opens-agent-port"}));
  CHECK(no.text.find("NetworkPolicy/wide opens the agent port") != std::string::npos);
}

// [E 271]
SCENARIO("everyone is written in many ways") {
  CHECK_EQ(rule({{"from", json::array()}, {"ports", {port(1024)}}}), "port-open");
  CHECK_EQ(rule({{"from", {{{"namespaceSelector", json::object()}}}}, {"ports", {port(1024)}}}), "port-open");
  CHECK_EQ(rule({{"from", {{{"namespaceSelector", json::object()}, {"podSelector", json::object()}}}}, {"ports", {port(1024)}}}),
           "port-open");
  for (const auto* wide : {"0.0.0.0/0", "::/0", " 0.0.0.0/0 ", "10.0.0.1/0", "0::0/0"})
    CHECK_EQ(rule({{"from", {{{"ipBlock", {{"cidr", wide}}}}}}, {"ports", {port(1024)}}}), "port-open");
  CHECK_EQ(rule({{"from", {{{"ipBlock", {{"cidr", "0.0.0.0/0"}, {"except", {"10.0.0.0/8"}}}}}}}}), "port-open");
  CHECK_EQ(rule({{"from", {host_only, {{"ipBlock", {{"cidr", "::/0"}}}}}}}), "port-open"); // no ports
  CHECK_EQ(rule(json::object()), "port-open");
}

// [E 272]
SCENARIO("entities that are everyone open the port") {
  for (const auto* wide : {"all", "cluster", "world", "world-ipv4", "world-ipv6"})
    CHECK_EQ(cilium_rule({{"fromEntities", {"host", wide}}}).refusal, "port-open");
  CHECK_EQ(cilium_rule({{"fromEntities", {"host", "remote-node"}}}).refusal, "passes");
}

// [E 273]
SCENARIO("Cilium's rules open the port without a source, by every address, and from a list of specs") {
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {port("1024")}}}}}}).refusal, "port-open");
  CHECK_EQ(cilium_rule({{"fromCIDR", {"0.0.0.0/0"}}}).refusal, "port-open");
  CHECK_EQ(cilium_rule({{"fromCIDRSet", {{{"cidr", "::/0"}, {"except", {"10.0.0.0/8"}}}}}}).refusal, "port-open");
  auto many = named("many", nullptr);
  many["specs"] = {{{"endpointSelector", json::object()}, {"ingress", {{{"fromEndpoints", {host_endpoint}}}}}},
                   {{"endpointSelector", json::object()}, {"ingress", {{{"fromEntities", {"world"}}}}}}};
  const auto no = judge({baseline()}, {many});
  CHECK_EQ(no.refusal, "port-open");
  CHECK_EQ(no.verdicts, (words{"covers", "covers", "opens-agent-port"}));
  CHECK(no.details.find("specs[1]: ingress[0].fromEntities[0] is world") != std::string::npos);
}

// [E 274]
SCENARIO("a source that is not everyone leaves the port closed") {
  CHECK_EQ(rule({{"from", {host_only}}, {"ports", {port(1024)}}}), "passes");
  CHECK_EQ(rule({{"from", {{{"namespaceSelector", json::object()}, {"podSelector", host_endpoint}}}}}), "passes");
  CHECK_EQ(rule({{"from", {{{"ipBlock", {{"cidr", "10.42.7.0/24"}}}}}}}), "passes");
  CHECK_EQ(rule({{"from", {{{"podSelector", json::object()}}}}}), "passes");
  CHECK_EQ(cilium_rule({{"fromEndpoints", {json::object()}}}).refusal, "passes");
}

// [E 276]
SCENARIO("what admits everyone on other ports only is none of it, and covers the pod") {
  const auto open_on = [](const json& ports) {
    return judge({named("alone", {{"podSelector", json::object()}, {"ingress", {{{"ports", ports}}}}})}).refusal;
  };
  CHECK_EQ(open_on(json::array({port(9090)})), "passes");
  CHECK_EQ(open_on(json::array({port(1024, "UDP")})), "passes");
  CHECK_EQ(open_on(json::array({port("9090")})), "passes");
  CHECK_EQ(open_on({{{"port", 1000}, {"endPort", 2000}}}), "port-open");
  CHECK_EQ(open_on({{{"port", 1000}, {"endPort", 1023}}}), "passes");
  CHECK_EQ(open_on(json::array({port("1024")})), "port-open");
  CHECK_EQ(open_on({{{"protocol", "TCP"}}}), "port-open");
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {port("9090", "ANY")}}}}}}).refusal, "passes");
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {port("1024", "udp")}}}}}}).refusal, "passes");
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {{{"port", "1000"}, {"endPort", 2000}}}}}}}}).refusal, "port-open");
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {port("0", "tcp")}}}}}}).refusal, "port-open");
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {port("9090")}}}, json::object()}}}).refusal, "port-open");
}

// -- what cannot be judged ----------------------------------------------------------------

// [E 277]
SCENARIO("what nobody here understands is never taken for closed, and an open port weighs more") {
  CHECK_EQ(rule({{"ports", {port("agent")}}}), "not-evaluable");
  CHECK_EQ(rule({{"ports", {port("01024")}}}), "not-evaluable");
  CHECK_EQ(rule({{"ports", {port("agent"), port(1024)}}}), "port-open");
  for (const auto& odd :
       {json(-1), json(65536), json(18446744073709551615U), json(1024.0), json(true), json("-1"), json(" 1024"), json("")})
    CHECK_EQ(rule({{"ports", {port(odd)}}}), "not-evaluable");
  for (const auto& odd : {json(999), json(-1), json(70000), json(18446744073709551615U)})
    CHECK_EQ(rule({{"ports", {{{"port", 1000}, {"endPort", odd}}}}}), "not-evaluable");
  const auto selecting = [](const json& selector) {
    return judge({baseline(), named("odd", {{"podSelector", selector}, {"ingress", {json::object()}}})}).refusal;
  };
  CHECK_EQ(selecting({{"matchExpressions", {{{"key", "app"}, {"operator", "GreaterThan"}, {"values", {"1"}}}}}}), "not-evaluable");
  CHECK_EQ(
    judge({baseline()}, {named("init", {{"endpointSelector", {{"matchLabels", {{"reserved:init", ""}}}}}, {"ingress", {json::object()}}})})
      .refusal,
    "not-evaluable");
  const auto odd = named("odd", {{"podSelector", "x"}});
  const auto wide = named("wide", {{"podSelector", json::object()}, {"ingress", {json::object()}}});
  CHECK_EQ(judge({odd, wide}).refusal, "port-open");
}

// [E 278]
SCENARIO("an object that is none cannot be judged") {
  const auto all = std::vector<json>{named("a", {{"podSelector", json::object()}, {"ingress", {{"from", json::array()}}}}),
                                     json("x"),
                                     json(nullptr),
                                     json{{"metadata", {{"name", "b"}}}},
                                     named("c", json::array()),
                                     named("d", {{"policyTypes", "Ingress"}})};
  for (const auto& x : all) {
    MESSAGE(x.dump());
    const auto no = judge({baseline(), x});
    CHECK_EQ(no.refusal, "not-evaluable");
    CHECK_EQ(no.verdicts, (words{"covers", "not-evaluable"}));
  }
  CHECK(judge({json("x"), json("y")}).text.find("NetworkPolicy/(unnamed #1)") != std::string::npos);
}

// [E 279] [E 280]
SCENARIO("a selector of another shape cannot be judged") {
  for (const auto& x : {json("x"), json::array(), json{{"matchLabels", "x"}}, json{{"matchLabels", {{"app", 7}}}},
                        json{{"matchExpressions", json::object()}}, json{{"matchExpressions", {{{"key", "app"}, {"operator", "NotIn"}}}}},
                        json{{"matchExpressions", {{{"key", "app"}, {"operator", "In"}, {"values", "namzu"}}}}}}) {
    MESSAGE(x.dump());
    CHECK_EQ(judge({baseline(), named("odd", {{"podSelector", x}})}).refusal, "not-evaluable");
  }
}

// [E 281] [E 282]
SCENARIO("a rule of another shape cannot be judged") {
  const auto all = std::vector<json>{
    {{"ports", "1024"}},
    {{"ports", {"1024"}}},
    {{"ports", {{{"port", 1024}, {"protocol", 6}}}}},
    {{"ports", {{{"port", 1000}, {"endPort", "many"}}}}},
    {{"from", json::object()}},
    {{"from", {"everyone"}}},
    {{"from", {{{"namespaceSelector", "x"}}}}},
    {{"from", {{{"podSelector", {{"matchLabels", 7}}}}}}},
    {{"from", {{{"ipBlock", "0.0.0.0/0"}}}}},
    {{"from", {{{"ipBlock", {{"cidr", 0}}}}}}},
    {{"from", {{{"ipBlock", {{"cidr", "everything"}}}}}}},
    {{"from", {json::object()}}},
  };
  for (const auto& x : all) {
    MESSAGE(x.dump());
    CHECK_EQ(rule(x), "not-evaluable");
  }
  CHECK_EQ(rule("x"), "not-evaluable");
}

// [E 283]
SCENARIO("a policy of Cilium of another shape cannot be judged") {
  auto all = std::vector<json>{named("no-spec", nullptr), named("spec", "x"), named("ingress", {{"ingress", json::object()}}),
                               named("deny", {{"ingressDeny", "x"}}), json("x")};
  all.push_back(all[0]);
  all.back()["specs"] = "x";
  for (const auto& x : all) {
    MESSAGE(x.dump());
    CHECK_EQ(judge({baseline()}, {x}).refusal, "not-evaluable");
  }
  CHECK_EQ(cilium_rule({{"toPorts", "x"}}).refusal, "not-evaluable");
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {{{"port", "1024"}, {"protocol", 6}}}}}}}}).refusal, "not-evaluable");
  CHECK_EQ(cilium_rule({{"toPorts", {{{"ports", {port("agent")}}}}}}).refusal, "not-evaluable");
  CHECK_EQ(cilium_rule({{"fromEndpoints", {"x"}}}).refusal, "not-evaluable");
  CHECK_EQ(cilium_rule({{"fromEntities", {7}}}).refusal, "not-evaluable");
  CHECK_EQ(cilium_rule({{"fromCIDRSet", {{{"cidrGroupRef", "g"}}}}}).refusal, "not-evaluable");
}

SCENARIO("a kind of source that is not known here may be everyone") {
  const auto no = cilium_rule({{"fromEndpoints", {host_endpoint}}, {"fromEverywhere", {json::object()}}});
  CHECK_EQ(no.refusal, "not-evaluable");
  CHECK(no.details.find("ingress[0].fromEverywhere is not understood") != std::string::npos);
  CHECK_EQ(cilium_rule({{"fromEntities", {"world"}}, {"fromEverywhere", {json::object()}}}).refusal, "port-open");
  CHECK_EQ(cilium_rule({{"fromEndpoints", {host_endpoint}}, {"fromRequires", {host_endpoint}}}).refusal, "passes");
}

SCENARIO("what no server stores cannot be judged") {
  CHECK_EQ(rule({{"ports", {port(0)}}}), "not-evaluable");
  const auto odd = named("odd", {{"podSelector", json::object()}, {"policyTypes", {"ingress"}}, {"ingress", {json::object()}}});
  CHECK_EQ(judge({baseline(), odd}).refusal, "not-evaluable");
}

// [E 284]
SCENARIO("every source of a rule of Cilium is read before one is judged") {
  const auto no = cilium_rule({{"fromEndpoints", {host_endpoint}}, {"fromCIDR", "10.0.0.0/8"}});
  CHECK_EQ(no.refusal, "not-evaluable");
  CHECK(no.details.find("fromCIDR") != std::string::npos);
}

// [E 285]
SCENARIO("a policy of Cilium that denies nothing by default covers nothing, and may open all the same") {
  const auto alone = [](const json& by_default, const json& one) {
    return judge({}, {named("x", {{"endpointSelector", json::object()}, {"enableDefaultDeny", by_default}, {"ingress", {one}}})});
  };
  const auto narrow = json{{"fromEndpoints", {host_endpoint}}};
  const auto off = alone({{"ingress", false}}, narrow);
  CHECK_EQ(off.refusal, "no-covering-policy");
  CHECK_EQ(off.verdicts, words{"not-ingress-scoped"});
  CHECK_EQ(alone({{"ingress", false}}, {{"fromEntities", {"world"}}}).refusal, "port-open");
  CHECK_EQ(alone({{"ingress", false}}, {{"toPorts", {{{"ports", {port("agent")}}}}}}).refusal, "not-evaluable");
  CHECK_EQ(alone({{"ingress", true}}, narrow).refusal, "passes");
  CHECK_EQ(alone({{"ingress", "off"}}, narrow).refusal, "not-evaluable");
  CHECK_EQ(alone("off", narrow).refusal, "not-evaluable");
}

SCENARIO("an empty list of Cilium's enforces nothing") {
  const auto of = [](json spec) {
    spec["endpointSelector"] = json::object();
    return judge({}, {named("x", spec)}).refusal;
  };
  CHECK_EQ(of({{"ingress", json::array()}}), "no-covering-policy");
  CHECK_EQ(of({{"ingressDeny", json::array()}}), "no-covering-policy");
  CHECK_EQ(of({{"ingressDeny", {json::object()}}}), "passes");
  CHECK_EQ(of({{"nodeSelector", nullptr}, {"ingress", {{{"fromEntities", {"world"}}}}}}), "port-open");
}

// [E 286]
SCENARIO("a key is asked of the pod's own labels and of nothing else") {
  const auto of = [](const char* key, const char* how) {
    return judge({named("x", {{"podSelector", {{"matchExpressions", {{{"key", key}, {"operator", how}}}}}}})}).refusal;
  };
  CHECK_EQ(of("constructor", "Exists"), "no-covering-policy");
  CHECK_EQ(of("toString", "DoesNotExist"), "passes");
}

SCENARIO("whatever stands anywhere in a policy, it is judged") {
  const auto seed = std::random_device{}();
  MESSAGE("seed " << seed);
  auto random = std::mt19937{seed};
  const auto pick = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>{0, below - 1}(random); };
  const auto junk = std::vector<json>{nullptr,
                                      true,
                                      -1,
                                      1e300,
                                      18446744073709551615U,
                                      "",
                                      "x",
                                      json::array(),
                                      json::object(),
                                      json::array({nullptr}),
                                      json::array({json::array({7})}),
                                      {{"matchLabels", 7}},
                                      {{"a", {{"b", {}}}}}};
  const auto wide = named("wide", {{"endpointSelector", {{"matchLabels", {{"app", "namzu"}}}}},
                                   {"enableDefaultDeny", {{"ingress", true}}},
                                   {"ingress",
                                    {{{"fromEndpoints", {host_endpoint}},
                                      {"fromCIDRSet", {{{"cidr", "10.0.0.0/8"}, {"except", {"10.1.0.0/16"}}}}},
                                      {"toPorts", {{{"ports", {{{"port", "1000"}, {"endPort", 2000}, {"protocol", "TCP"}}}}}}}}}}});
  for (auto i = 0; i < 20'000; ++i) {
    auto core_item = baseline_parsed();
    auto cilium_item = wide;
    for (auto* item : {&core_item, &cilium_item}) {
      const auto flat = item->flatten();
      auto at = json::json_pointer{std::next(flat.begin(), static_cast<std::ptrdiff_t>(pick(flat.size()))).key()};
      for (auto up = pick(4); up > 0 && !at.empty(); --up)
        at = at.parent_pointer();
      (*item)[at] = junk[pick(junk.size())];
    }
    const auto got = judge({core_item}, {cilium_item});
    CHECK(got.verdicts.size() <= 2);
  }
}

// -- what is read -----------------------------------------------------------------------

// [E 287]
SCENARIO("the engine is that of ingress, else that of egress, else core") {
  auto egress_config_of = [](policy_engine x) {
    auto got = egress_config{};
    got.engine = x;
    return std::optional{got};
  };
  CHECK(engine_of({}, std::nullopt) == policy_engine::core);
  CHECK(engine_of({}, egress_config_of(policy_engine::cilium)) == policy_engine::cilium);
  CHECK(engine_of({true, policy_engine::core}, egress_config_of(policy_engine::cilium)) == policy_engine::core);
  CHECK(engine_of({true, policy_engine::cilium}, std::nullopt) == policy_engine::cilium);
}

namespace {

const std::string core_list = "/apis/networking.k8s.io/v1/namespaces/namzu-sandboxes/networkpolicies?limit=500";
const std::string cilium_list = "/apis/cilium.io/v2/namespaces/namzu-sandboxes/ciliumnetworkpolicies?limit=500";

struct reading {
  boost::asio::io_context context;
  test::manual_time time;
  test::scripted_api api;
  cluster on{api, time};

  result<void> verify(policy_engine engine = policy_engine::cilium, const ingress_config& how = {}) {
    return test::run_flow(context, verify_ingress(on, how, engine, ingress_question{"pod p", task_pod, "namzu-sandboxes"},
                                                  deadline{time, std::chrono::seconds{30}}));
  }
};

json list_of(json items, const std::string& more = {}) {
  auto got = json{{"items", std::move(items)}};
  if (!more.empty())
    got["metadata"]["continue"] = more;
  return got;
}

const ingress_refused& refusal_of(const result<void>& got) {
  REQUIRE(!got);
  const auto* no = std::get_if<ingress_refused>(&got.error());
  REQUIRE(no != nullptr);
  return *no;
}

} // namespace

// [E 292]
SCENARIO("under Cilium both kinds are listed, and one that is not served is told") {
  auto x = reading{};
  x.api.handle([](const k8s::call& what) { return what.path == core_list ? found(list_of({baseline()})) : gone(what); });
  const auto got = x.verify();
  const auto& no = refusal_of(got);
  CHECK_EQ(x.api.trace(), (words{"GET " + core_list, "GET " + cilium_list}));
  CHECK_EQ(to_string(no.refusal), "not-evaluable");
  REQUIRE_EQ(no.unread.size(), 1u);
  CHECK_EQ(no.unread[0].resource, "ciliumnetworkpolicies");
  CHECK(no.unread[0].why == unread_collection::cause::absent);
  REQUIRE_EQ(no.examined.size(), 1u);
  CHECK(no.examined[0].verdict == ingress_verdict::covers);
  CHECK(to_string(got.error()).find("ciliumnetworkpolicies") != std::string::npos);
}

// [E 293]
SCENARIO("a list that is not permitted is not an empty namespace") {
  auto x = reading{};
  x.api.handle([](const k8s::call& what) { return denied(what); });
  const auto got = x.verify();
  const auto& no = refusal_of(got);
  CHECK_EQ(x.api.calls.size(), 1u);
  REQUIRE_EQ(no.unread.size(), 1u);
  CHECK(no.unread[0].why == unread_collection::cause::forbidden);
  CHECK(no.unread[0].reason.find("403") != std::string::npos);
  const auto text = to_string(got.error());
  CHECK(text.find("grant list on networkpolicies") != std::string::npos);
  CHECK(text.find("holds no policy") == std::string::npos);
}

SCENARIO("under core one list is read, and with 'unverified' none") {
  auto x = reading{};
  x.api.handle([](const k8s::call&) { return found(list_of({baseline()})); });
  CHECK(x.verify(policy_engine::core).has_value());
  CHECK_EQ(x.api.trace(), (words{"GET " + core_list}));
  CHECK(x.verify(policy_engine::core, {false, {}}).has_value());
  CHECK_EQ(x.api.calls.size(), 1u);
}

SCENARIO("another failure of a list is that failure") {
  auto x = reading{};
  x.api.handle([](const k8s::call& what) { return test::status(what, 500); });
  const auto got = x.verify();
  REQUIRE(!got);
  CHECK(std::holds_alternative<k8s::failure>(got.error()));
}

SCENARIO("a list is read to its end, page by page") {
  auto x = reading{};
  const auto wide = named("wide", {{"podSelector", json::object()}, {"ingress", {json::object()}}});
  x.api.then(found(list_of({baseline()}, "t/1")));
  x.api.then(found(list_of({baseline()}, "t2")));
  x.api.then(found(list_of({wide})));
  const auto got = x.verify(policy_engine::core);
  CHECK_EQ(refusal_of(got).examined.size(), 3u);
  CHECK_EQ(x.api.trace(), (words{"GET " + core_list, "GET " + core_list + "&continue=t%2F1", "GET " + core_list + "&continue=t2"}));
}

SCENARIO("a list that the server forgot between two pages begins anew, and what was read of it does not count twice") {
  auto x = reading{};
  const auto forgotten = [](const k8s::call& what) { return gone(what, 410); };
  x.api.then(found(list_of({baseline()}, "t")));
  x.api.then(forgotten);
  x.api.then(found(list_of({named("odd", "x")}, "t")));
  x.api.then(forgotten);
  x.api.then(found(list_of({named("odd", "x")})));
  CHECK_EQ(refusal_of(x.verify(policy_engine::core)).examined.size(), 1u);
  CHECK_EQ(x.api.calls.size(), 5u);
}

SCENARIO("a list that is forgotten again and again ends, and is no absent one") {
  auto x = reading{};
  x.api.handle([](const k8s::call& what) { return what.path == core_list ? found(list_of({baseline()}, "t")) : gone(what, 410); });
  const auto got = x.verify(policy_engine::core);
  REQUIRE(!got);
  CHECK(std::holds_alternative<k8s::failure>(got.error()));
  CHECK_EQ(x.api.calls.size(), 6u);
}

SCENARIO("a list without an end ends") {
  auto x = reading{};
  x.api.handle([](const k8s::call&) { return found(list_of(json::array(), "again")); });
  const auto got = x.verify(policy_engine::core);
  REQUIRE(!got);
  CHECK(std::holds_alternative<k8s::failure>(got.error()));
  CHECK_EQ(x.api.calls.size(), 2u);
}
