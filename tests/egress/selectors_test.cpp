#define CAF_SUITE selectors

#include "egress/selectors.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <string>

using namespace paddock::egress;
using nlohmann::json;

namespace {

const auto pod = label_map{{"app", "namzu"}, {"tier", "sandbox"}};

std::string word(const selection& x) {
  switch (x.is) {
    case selection::answer::no: return "no";
    case selection::answer::yes: return "yes";
    case selection::answer::unknown: return "unknown " + x.why.path;
  }
  return "";
}

std::string core(const char* selector) {
  const auto x = json::parse(selector);
  return word(selects(&x, pod));
}

std::string cilium(const char* selector) {
  const auto x = json::parse(selector);
  return word(selects_in_cilium(&x, pod, "spaces"));
}

bool narrower(const char* outer, const char* inner) {
  const auto read = [](const json& x) { return x.is_null() ? std::nullopt : std::optional{read_demands(x).value()}; };
  const auto a = json::parse(outer);
  const auto b = json::parse(inner);
  return is_narrower(read(a), read(b));
}

} // namespace

SCENARIO("a selector that demands nothing chooses every pod") {
  CHECK_EQ(word(selects(nullptr, pod)), "yes");
  CHECK_EQ(word(selects_in_cilium(nullptr, pod, "spaces")), "yes");
  for (const auto* x : {"{}", "null", R"({"matchLabels":{}})", R"({"matchLabels":null,"matchExpressions":[]})"}) {
    CHECK_EQ(core(x), "yes");
    CHECK_EQ(cilium(x), "yes");
  }
}

SCENARIO("each label and each expression must hold") {
  CHECK_EQ(core(R"({"matchLabels":{"app":"namzu","tier":"sandbox"}})"), "yes");
  CHECK_EQ(core(R"({"matchLabels":{"app":"namzu","tier":"x"}})"), "no");
  CHECK_EQ(core(R"({"matchLabels":{"absent":""}})"), "no");
  const auto expression = [](const std::string& x) { return core((R"({"matchExpressions":[)" + x + "]}").c_str()); };
  CHECK_EQ(expression(R"({"key":"app","operator":"In","values":["x","namzu"]})"), "yes");
  CHECK_EQ(expression(R"({"key":"app","operator":"In","values":["x"]})"), "no");
  CHECK_EQ(expression(R"({"key":"absent","operator":"In","values":["x"]})"), "no");
  CHECK_EQ(expression(R"({"key":"app","operator":"NotIn","values":["namzu"]})"), "no");
  CHECK_EQ(expression(R"({"key":"app","operator":"NotIn","values":["x"]})"), "yes");
  CHECK_EQ(expression(R"({"key":"absent","operator":"NotIn","values":["x"]})"), "yes");
  CHECK_EQ(expression(R"({"key":"app","operator":"Exists"})"), "yes");
  CHECK_EQ(expression(R"({"key":"constructor","operator":"Exists"})"), "no");
  CHECK_EQ(expression(R"({"key":"app","operator":"DoesNotExist"})"), "no");
  CHECK_EQ(expression(R"({"key":"absent","operator":"DoesNotExist"})"), "yes");
}

SCENARIO("what is not understood of a selector makes it unknown, unless something before it decides") {
  CHECK_EQ(core(R"([])"), "unknown ");
  CHECK_EQ(core(R"("app=namzu")"), "unknown ");
  CHECK_EQ(core(R"({"matchlabels":{}})"), "unknown .matchlabels");
  CHECK_EQ(core(R"({"matchLabels":[]})"), "unknown .matchLabels");
  CHECK_EQ(core(R"({"matchLabels":{"app":1}})"), "unknown .matchLabels[\"app\"]");
  CHECK_EQ(core(R"({"matchLabels":{"app":null}})"), "unknown .matchLabels[\"app\"]");
  CHECK_EQ(core(R"({"matchExpressions":{}})"), "unknown .matchExpressions");
  const auto expression = [](const std::string& x) { return core((R"({"matchExpressions":[)" + x + "]}").c_str()); };
  CHECK_EQ(expression("1"), "unknown .matchExpressions[0]");
  CHECK_EQ(expression(R"({"operator":"Exists"})"), "unknown .matchExpressions[0].key");
  CHECK_EQ(expression(R"({"key":"","operator":"Exists"})"), "unknown .matchExpressions[0].key");
  CHECK_EQ(expression(R"({"key":"app","operator":"GreaterThan","values":["1"]})"), "unknown .matchExpressions[0].operator");
  CHECK_EQ(expression(R"({"key":"app"})"), "unknown .matchExpressions[0].operator");
  CHECK_EQ(expression(R"({"key":"app","operator":"In"})"), "unknown .matchExpressions[0].values");
  CHECK_EQ(expression(R"({"key":"app","operator":"In","values":[]})"), "unknown .matchExpressions[0].values");
  CHECK_EQ(expression(R"({"key":"app","operator":"NotIn","values":"x"})"), "unknown .matchExpressions[0].values");
  CHECK_EQ(expression(R"({"key":"app","operator":"NotIn","values":["x",1]})"), "unknown .matchExpressions[0].values");
  CHECK_EQ(expression(R"({"key":"app","operator":"Exists","more":1})"), "unknown .matchExpressions[0].more");
  THEN("the first decisive demand decides") {
    CHECK_EQ(core(R"({"matchLabels":{"app":"x"},"matchExpressions":[{"key":"app","operator":"Odd"}]})"), "no");
    CHECK_EQ(expression(R"({"key":"absent","operator":"Exists"},{"key":"app","operator":"Odd"})"), "no");
    CHECK_EQ(expression(R"({"key":"app","operator":"Exists"},{"key":"app","operator":"Odd"})"), "unknown .matchExpressions[1].operator");
  }
}

SCENARIO("Cilium's sources of labels are left off, and what they could mean otherwise is unknown") {
  CHECK_EQ(cilium(R"({"matchLabels":{"k8s:app":"namzu","any:tier":"sandbox"}})"), "yes");
  CHECK_EQ(cilium(R"({"matchLabels":{"k8s:app":"x"}})"), "no");
  CHECK_EQ(cilium(R"({"matchExpressions":[{"key":"any:app","operator":"Exists"}]})"), "yes");
  CHECK_EQ(cilium(R"({"matchLabels":{"reserved:init":""}})"), "unknown .matchLabels[\"reserved:init\"]");
  CHECK_EQ(cilium(R"({"matchLabels":{"app":"x","reserved:init":""}})"), "unknown .matchLabels[\"reserved:init\"]");
  CHECK_EQ(cilium(R"({"matchExpressions":[{"key":"container:x","operator":"Exists"}]})"), "unknown .matchExpressions[0].key");
  THEN("the namespace is the pod's own, or unknown") {
    CHECK_EQ(cilium(R"({"matchLabels":{"k8s:io.kubernetes.pod.namespace":"spaces"}})"), "yes");
    CHECK_EQ(cilium(R"({"matchLabels":{"io.kubernetes.pod.namespace":"other"}})"), "unknown .matchLabels[\"io.kubernetes.pod.namespace\"]");
    CHECK_EQ(cilium(R"({"matchExpressions":[{"key":"io.kubernetes.pod.namespace","operator":"In","values":["spaces"]}]})"), "yes");
    CHECK_EQ(cilium(R"({"matchExpressions":[{"key":"io.kubernetes.pod.namespace","operator":"Exists"}]})"), "yes");
    CHECK_EQ(cilium(R"({"matchExpressions":[{"key":"io.kubernetes.pod.namespace","operator":"NotIn","values":["spaces"]}]})"),
             "unknown .matchExpressions[0]");
    CHECK_EQ(cilium(R"({"matchExpressions":[{"key":"io.kubernetes.pod.namespace","operator":"In","values":["spaces","x"]}]})"),
             "unknown .matchExpressions[0]");
  }
  THEN("labels that Cilium makes itself are unknown") {
    CHECK_EQ(cilium(R"({"matchLabels":{"io.cilium.k8s.namespace.labels.team":"x"}})"),
             "unknown .matchLabels[\"io.cilium.k8s.namespace.labels.team\"]");
    CHECK_EQ(cilium(R"({"matchExpressions":[{"key":"k8s:io.cilium.k8s.policy.cluster","operator":"Exists"}]})"),
             "unknown .matchExpressions[0].key");
  }
  THEN("no source is left off for a core selector") {
    CHECK_EQ(core(R"({"matchLabels":{"k8s:app":"namzu"}})"), "no");
  }
}

SCENARIO("a selector is narrower when it demands all that the other one does") {
  CHECK(narrower("null", "null"));
  CHECK(narrower("{}", "null"));
  CHECK(narrower("{}", R"({"matchLabels":{"a":"1"}})"));
  CHECK(narrower(R"({"matchLabels":{"a":"1"}})", R"({"matchLabels":{"a":"1","b":"2"}})"));
  CHECK(!narrower(R"({"matchLabels":{"a":"1"}})", "null"));
  CHECK(!narrower(R"({"matchLabels":{"a":"1"}})", "{}"));
  CHECK(!narrower(R"({"matchLabels":{"a":"1","b":"2"}})", R"({"matchLabels":{"a":"1"}})"));
  CHECK(!narrower(R"({"matchLabels":{"a":"1"}})", R"({"matchLabels":{"a":"2"}})"));
  const auto* exists = R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})";
  CHECK(narrower(exists, exists));
  CHECK(narrower(exists, R"({"matchExpressions":[{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists"}]})"));
  CHECK(!narrower(exists, R"({"matchLabels":{"a":"1"}})"));
  CHECK(narrower("{}", exists));
}
