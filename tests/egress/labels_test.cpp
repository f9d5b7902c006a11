#define CAF_SUITE labels

#include "tests/egress/configured.hpp"

using namespace paddock::egress;
using nlohmann::json;

namespace {

egress_config deny(std::optional<std::string> profile = {}) {
  auto got = egress_config{deny_all{}};
  got.profile = std::move(profile);
  return got;
}

} // namespace

// [E 11]
SCENARIO("the named object is called after its template and profile") {
  CHECK_EQ(translated(deny()).name, "namzu-task-egress");
  CHECK_EQ(translated(deny("none")).name, "namzu-task-none-egress");
  CHECK_EQ(translated(deny("none")).manifest["metadata"]["name"], "namzu-task-none-egress");
}

// [E 12]
SCENARIO("a name that a profile makes too long is refused, but not a configured one") {
  auto target = policy_target{"ns", std::string(240, 't')};
  auto config = deny("12345");
  CHECK_EQ(translate(config, target).value().name.size(), 253u);
  config.profile = "123456";
  auto got = translate(config, target);
  REQUIRE(!got);
  auto no = refused_as<illegal_profile>(got.error());
  CHECK_EQ(no.field, "profile");
  CHECK_EQ(no.value, "123456");
  config.network_policy_name = "ours";
  CHECK_EQ(translate(config, target).value().name, "ours");
  // Without a profile nobody measures.
  CHECK_EQ(translate(deny(), {"ns", std::string(300, 't')}).value().name.size(), 307u);
}

// [E 164]
SCENARIO("a label that is asked for does not overwrite the profile's") {
  auto config = deny("none");
  auto got = pod_labels(config, {{"sandbox.namzu.ai/egress-profile", "none"}});
  REQUIRE(!got);
  auto no = refused_as<illegal_profile>(got.error());
  CHECK_EQ(no.field, "profileLabelKey");
  CHECK_EQ(no.value, "sandbox.namzu.ai/egress-profile");
  CHECK(pod_labels(deny(), {{"sandbox.namzu.ai/egress-profile", "none"}}).has_value());
}

SCENARIO("the labels of a pod are the profile's and what is asked for beside it") {
  CHECK(pod_labels(deny(), {}).value().empty());
  CHECK_EQ(to_text(pod_labels(deny("none"), {}).value()), "sandbox.namzu.ai/egress-profile=none");
  CHECK_EQ(to_text(pod_labels(deny("none"), {{"x", "y"}}).value()), "sandbox.namzu.ai/egress-profile=none,x=y");
}

SCENARIO("the per-sandbox label carries the name of the object, and is taken away for the configuration's own judgement") {
  auto config = deny();
  CHECK(per_sandbox_labels(config, "namzu-ws-a").empty());
  auto labels = label_map{{"app", "x"}, {"sandbox.namzu.ai/per-sandbox-egress", "namzu-ws-a"}};
  CHECK_EQ(without_per_sandbox_label(config, labels), labels);
  config.per_sandbox = per_sandbox_egress{"fence"};
  CHECK_EQ(to_text(per_sandbox_labels(config, "namzu-ws-a")), "sandbox.namzu.ai/per-sandbox-egress=namzu-ws-a");
  CHECK_EQ(to_text(without_per_sandbox_label(config, labels)), "app=x");
}

SCENARIO("a label key is a name, with a prefix or without") {
  for (const auto* good : {"a", "A.b_c-D", "example.com/a", "a/b", "0/0"})
    CHECK(is_label_key(good));
  CHECK(is_label_key(std::string(63, 'x')));
  CHECK(is_label_key(std::string(253, 'x') + "/" + std::string(63, 'X')));
  for (const auto* bad : {"", "/", "a/", "/a", "a/b/c", "-a", "a-", ".a", "a b", "Example.com/a", "example_com/a", "-x/a", "x-/a", "ä"})
    CHECK(!is_label_key(bad));
  CHECK(!is_label_key(std::string(64, 'x')));
  CHECK(!is_label_key(std::string(254, 'x') + "/a"));
}
