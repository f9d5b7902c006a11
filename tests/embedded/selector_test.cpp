#define CAF_SUITE selector

#include "embedded/selector.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::embedded;

namespace {

bool chosen(const char* text, const char* labels) {
  auto selector = label_selector::parse(text);
  if (!selector)
    CAF_FAIL(text << ": " << selector.error());
  const json object{{"metadata", {{"labels", json::parse(labels)}}}};
  CHECK_EQ(selector->matches_text(encode_json(object)), selector->matches(object));
  return selector->matches(object);
}

bool refused(const char* text) {
  return !label_selector::parse(text).has_value();
}

} // namespace

SCENARIO("labels are chosen by equality") {
  CHECK(chosen("", R"({})"));
  CHECK(chosen("a=1", R"({"a":"1"})"));
  CHECK(chosen("a==1,b=2", R"({"a":"1","b":"2"})"));
  CHECK(!chosen("a=1,b=2", R"({"a":"1"})"));
  CHECK(chosen("agents.x-k8s.io/sandbox-name-hash=1a47e90b", R"({"agents.x-k8s.io/sandbox-name-hash":"1a47e90b"})"));
  CHECK(chosen("a=", R"({"a":""})"));
  CHECK(!chosen("a=", R"({})"));
}

SCENARIO("an object without the key passes what must not be") {
  CHECK(chosen("a!=1", R"({})"));
  CHECK(chosen("a!=1", R"({"a":"2"})"));
  CHECK(!chosen("a!=1", R"({"a":"1"})"));
  CHECK(chosen("a notin (1,2)", R"({})"));
  CHECK(!chosen("a notin (1,2)", R"({"a":"2"})"));
}

SCENARIO("labels are chosen by sets and by presence") {
  CHECK(chosen("a in (1, 2),b", R"({"a":"2","b":""})"));
  CHECK(!chosen("a in (1,2)", R"({"a":"3"})"));
  CHECK(!chosen("a in (1,2)", R"({})"));
  CHECK(chosen("!a", R"({})"));
  CHECK(!chosen("!a", R"({"a":""})"));
  CHECK(chosen(" a , ! b ", R"({"a":"x"})"));
}

SCENARIO("what is no selector is refused") {
  for (const auto* text : {"=1", "a in 1", "a in (1", "a=b=c", "-a=1", "a=-1", "a b", "a,,b", "a,", "A/B/c=1", "a in (1)x"})
    CHECK(refused(text));
}

SCENARIO("fields are chosen where the kind knows them") {
  const auto& pods = *find_kind("", "v1", "pods");
  const auto& sandboxes = *find_kind("agents.x-k8s.io", "v1beta1", "sandboxes");
  const json pod{{"metadata", {{"name", "p"}}}, {"spec", {{"nodeName", "n"}}}, {"status", {{"phase", "Running"}}}};
  auto got = field_selector::parse(pods, "metadata.name=p,spec.nodeName==n,status.phase!=Failed");
  REQUIRE(got.has_value());
  CHECK(got->matches_text(encode_json(pod)));
  auto other = field_selector::parse(pods, "spec.nodeName=");
  REQUIRE(other.has_value());
  CHECK(!other->matches_text(encode_json(pod)));
  CHECK(!field_selector::parse(sandboxes, "spec.nodeName=n").has_value());
  CHECK(!field_selector::parse(pods, "spec.x=1").has_value());
  CHECK(!field_selector::parse(pods, "metadata.name").has_value());
}

SCENARIO("paths are taken apart into what they name") {
  const auto parse = [](const char* text) -> std::optional<resource_path> {
    auto target = parse_target(text);
    return target ? parse_resource_path(target->segments) : std::nullopt;
  };
  auto got = parse("/apis/agents.x-k8s.io/v1beta1/namespaces/n%31/sandboxes/a/status?x=1");
  REQUIRE(got.has_value());
  CHECK_EQ(got->kind->kind, "Sandbox");
  CHECK_EQ(got->name_space, "n1");
  CHECK_EQ(got->name, "a");
  CHECK_EQ(got->subresource, "status");
  auto every = parse("/api/v1/pods");
  REQUIRE(every.has_value());
  CHECK(every->name_space.empty());
  auto space = parse("/api/v1/namespaces/default/status");
  REQUIRE(space.has_value());
  CHECK_EQ(space->kind->kind, "Namespace");
  CHECK_EQ(space->name, "default");
  CHECK_EQ(space->subresource, "status");
  for (const auto* text : {"/", "/api", "/api/v1", "/api/v2/pods", "/apis/agents.x-k8s.io/v1beta1/namespaces/n/nosuch", "/api/v1/pods/p",
                           "/api/v1/namespaces/n/pods/p/status/x", "/api/v1/namespaces/a%2fb/pods", "/api/v1/namespaces/n/pods/%zz", "/x"})
    CHECK(!parse(text).has_value());
}

SCENARIO("a query is decoded") {
  auto got = parse_target("/p?labelSelector=a%3D1%2Cb&watch=1&empty&x=a+b&watch=0");
  REQUIRE(got.has_value());
  CHECK_EQ(got->query_text("labelSelector"), "a=1,b");
  CHECK(got->query_flag("watch"));
  CHECK(!got->query_flag("none"));
  CHECK_EQ(got->query_text("x"), "a b");
  CHECK_EQ(got->query_text("empty"), "");
}
