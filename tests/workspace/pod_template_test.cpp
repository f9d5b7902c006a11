#define CAF_SUITE pod_template

#include "tests/support/check_json.hpp"
#include "workspace/adopt_checks.hpp"
#include "workspace/pod_template.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <regex>

using namespace paddock::workspace;
using nlohmann::json;

namespace {

const auto plain = overlay{"tpl", std::nullopt, {}};

json example() {
  return {{"metadata", {{"labels", {{"app", "x"}, {"sandbox.namzu.ai/template", "somebody"}}}, {"annotations", {{"a", "b"}}}}},
          {"spec", {{"runtimeClassName", "runc"}, {"containers", json::array({{{"name", "c"}, {"image", "i"}}})}}},
          {"unknown", 1}};
}

json standing(json labels, std::optional<std::string> runtime_class) {
  auto spec = json::object();
  if (runtime_class)
    spec["runtimeClassName"] = *runtime_class;
  return {{"spec", {{"podTemplate", {{"metadata", {{"labels", std::move(labels)}}}, {"spec", std::move(spec)}}}}}};
}

mismatch refused(const result<void>& got) {
  REQUIRE(!got);
  return std::get<mismatch>(got.error());
}

} // namespace

SCENARIO("the overlay sets the template label and leaves the rest") {
  auto got = lay_over(example(), plain);
  auto expected = example();
  expected["metadata"]["labels"]["sandbox.namzu.ai/template"] = "tpl";
  CHECK_JSON(got, expected);
  got = lay_over(example(), overlay{"tpl", "kata", {{"app", "y"}, {"more", "z"}}});
  expected["metadata"]["labels"]["app"] = "y";
  expected["metadata"]["labels"]["more"] = "z";
  expected["spec"]["runtimeClassName"] = "kata";
  CHECK_JSON(got, expected);
}

SCENARIO("a pod template without metadata gets its label all the same") {
  auto got = lay_over(json{{"spec", json::object()}}, plain);
  CHECK_JSON(got, (json{{"metadata", {{"labels", {{"sandbox.namzu.ai/template", "tpl"}}}}}, {"spec", json::object()}}));
}

// [W 33] equal templates, in whatever order their members stand
SCENARIO("the hash does not depend on the order of members") {
  auto one = json::parse(R"({"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"}]}],"nodeSelector":{"b":"1","a":"2"}}})");
  auto other = json::parse(R"({"spec":{"nodeSelector":{"a":"2","b":"1"},"containers":[{"env":[{"value":"1","name":"A"}],"name":"c"}]}})");
  CHECK_EQ(hash_of(lay_over(one, plain)), hash_of(lay_over(other, plain)));
  CHECK(std::regex_match(hash_of(lay_over(one, plain)), std::regex{"sha256:[0-9a-f]{64}"}));
}

// [W 34] what changes the hash
SCENARIO("any container env value is part of the hash and the claims are not") {
  auto object = json::parse(R"({"spec":{"podTemplate":{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"}]},
    {"name":"d","env":[{"name":"B","value":"1"}]}]}},"volumeClaimTemplates":[{"metadata":{"name":"workspace"}}]}})");
  const auto hash = read_template(object, plain)->hash;
  for (auto i : {0, 1}) {
    auto changed = object;
    changed["spec"]["podTemplate"]["spec"]["containers"][i]["env"][0]["value"] = "2";
    CHECK_NE(read_template(changed, plain)->hash, hash);
  }
  auto claims = object;
  claims["spec"]["volumeClaimTemplates"].push_back({{"metadata", {{"name", "more"}}}});
  CHECK_EQ(read_template(claims, plain)->hash, hash);
}

SCENARIO("the hash is taken over the overlaid object") {
  auto object = json{{"spec", {{"podTemplate", example()}}}};
  auto got = read_template(object, overlay{"tpl", "kata", {}});
  REQUIRE(got.has_value());
  CHECK_EQ(got->hash, hash_of(lay_over(example(), overlay{"tpl", "kata", {}})));
  CHECK_NE(got->hash, read_template(object, plain)->hash);
}

SCENARIO("a template without a pod spec is refused by name") {
  for (const auto& object : {json{}, json{{"spec", json::object()}}, json{{"spec", {{"podTemplate", json::object()}}}},
                             json{{"spec", {{"podTemplate", {{"spec", "text"}}}}}}}) {
    auto got = read_template(object, plain);
    REQUIRE(!got);
    CHECK_EQ(std::get<template_unusable>(got.error()).template_name, "tpl");
  }
}

SCENARIO("the configuration is checked field by field in its order") {
  const auto wanted = overlay{"tpl", "kata", {}};
  const auto labels = json{{template_label, "tpl"}};
  CHECK(check_configuration(standing(labels, "kata"), "n", wanted, false).has_value());
  CHECK(check_configuration(standing(labels, "runc"), "n", plain, false).has_value());
  auto why = refused(check_configuration(standing({{template_label, "other"}}, "runc"), "n", wanted, false));
  CHECK_EQ(why.field, "sandboxTemplateName");
  CHECK_EQ(why.expected, "tpl");
  CHECK_EQ(why.actual, "other");
  why = refused(check_configuration(standing(labels, std::nullopt), "n", wanted, false));
  CHECK_EQ(why.field, "runtimeClassName");
  CHECK_EQ(why.actual, std::nullopt);
  CHECK_EQ(refused(check_configuration(json{}, "n", wanted, false)).actual, std::nullopt);
}

SCENARIO("a refresh lifts the runtime class and never the template") {
  const auto wanted = overlay{"tpl", "kata", {}};
  CHECK(check_configuration(standing({{template_label, "tpl"}}, "runc"), "n", wanted, true).has_value());
  CHECK_EQ(refused(check_configuration(standing(json::object(), "kata"), "n", wanted, true)).field, "sandboxTemplateName");
}
