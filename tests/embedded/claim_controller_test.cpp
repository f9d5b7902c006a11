#define CAF_SUITE claim_controller

#include "embedded/agent_keys.hpp"
#include "embedded/claim_controller.hpp"
#include "tests/embedded/recorded_extensions.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <limits>

using namespace paddock;
using namespace paddock::embedded;
using namespace paddock::embedded::test;
using namespace std::chrono_literals;
using nlohmann::json;
using of = claim_write::of;

namespace {

const auto now = at(18, 4, 12);

const json& part(const char* of_case, const char* name) {
  return recorded().at(of_case).at(name);
}

claim_view view(json claim) {
  return {std::move(claim), recorded().at("pool").at("ready"), first_template(), {}, {}, {}, {"sandbox.users.io"}};
}

claim_write write_of(const claim_step& step) {
  if (const auto* state = std::get_if<claim_state>(&step))
    CAF_FAIL("no write: " << state->reason << " " << state->message);
  return std::get<claim_write>(step);
}

claim_state state_of(const claim_step& step) {
  if (const auto* write = std::get_if<claim_write>(&step))
    CAF_FAIL("a write: " << write->call.method << " " << write->call.path << " " << write->call.body.dump());
  return std::get<claim_state>(step);
}

/// The answer of a server that took the write.
json taken(json object, const claim_write& write) {
  object.merge_patch(write.call.body);
  return object;
}

json observed(json claim) {
  claim["metadata"]["annotations"][agent_keys::first_observed] = "2026-11-29T18:04:12.030Z";
  return claim;
}

json member(const std::string& name, bool ready, const std::string& node = "node-1") {
  auto result = part("adopted", "member");
  result["metadata"]["name"] = name;
  result["metadata"]["uid"] = "u-" + name;
  result["status"]["nodeName"] = node;
  for (auto& x : result["status"]["conditions"])
    if (x["type"] == "Ready")
      x["status"] = ready ? "True" : "False";
  return result;
}

} // namespace

SCENARIO("a claim takes a warm member with the recorded writes in the recorded order") {
  GIVEN("a claim, and the member that the real controller chose") {
    auto seen = view(part("adopted", "created"));
    seen.members = {part("adopted", "member")};
    const auto& writes = part("adopted", "writes");
    WHEN("the pass is made") {
      auto first = write_of(next_step(seen, now));
      apply_answer(seen, first, taken(seen.claim, first));
      auto second = write_of(next_step(seen, now));
      apply_answer(seen, second, taken(seen.claim, second));
      auto third = write_of(next_step(seen, now));
      apply_answer(seen, third, taken(seen.members[0], third));
      auto end = state_of(next_step(seen, now));
      THEN("it is seen, named, taken, and says what the Sandbox says") {
        CHECK(first.what == of::stamp);
        CHECK(second.what == of::assign);
        CHECK_EQ(annotation_of(second.call.body, agent_keys::sandbox_name), annotation_of(writes[1]["body"], agent_keys::sandbox_name));
        CHECK_EQ(text_in(second.call.body, "/metadata/resourceVersion"), text_in(seen.claim, "/metadata/resourceVersion"));
        // The patch may name more that stands already; what it makes of the member is what counts.
        auto expected = part("adopted", "member");
        expected.merge_patch(writes[2]["body"]);
        CHECK_EQ(seen.sandbox->dump(), expected.dump());
        CHECK_EQ(text_in(third.call.body, "/metadata/resourceVersion"), text_in(part("adopted", "member"), "/metadata/resourceVersion"));
        auto report = report_claim(seen, end, now);
        REQUIRE(report);
        CHECK_EQ(report->body["status"].dump(), writes[3]["body"]["status"].dump());
        CHECK_EQ(text_in(report->body, "/metadata/resourceVersion"), text_in(seen.claim, "/metadata/resourceVersion"));
      }
    }
  }
}

SCENARIO("a claim that the real controller left alone is left alone") {
  auto seen = view(part("adopted", "claim"));
  seen.sandbox = part("adopted", "sandbox");
  auto end = state_of(next_step(seen, now));
  CHECK(!report_claim(seen, end, now));
  CHECK(!stamp_first_ready(seen.claim, now));
  // Suspended: the claim says what the Sandbox says, and keeps its name.
  seen = view(part("suspended", "claim"));
  seen.sandbox = part("suspended", "sandbox");
  CHECK(!report_claim(seen, state_of(next_step(seen, now)), now));
}

SCENARIO("a claim without a member to take makes a Sandbox of its own as recorded") {
  auto created = part("cold", "claim");
  created["metadata"].erase("annotations");
  created.erase("status");
  auto seen = view(created);
  // The template had changed by then.
  auto& pod = (*seen.sandbox_template)["spec"]["podTemplate"];
  pod["metadata"]["labels"]["rev"] = "2";
  pod["spec"]["containers"][0]["image"] = "example.org/box:9";
  pod["spec"]["containers"][0]["ports"].erase(1);
  auto first = write_of(next_step(seen, now));
  CHECK(first.what == of::stamp);
  apply_answer(seen, first, taken(seen.claim, first));
  auto made = write_of(next_step(seen, now));
  CHECK(made.what == of::create);
  auto body = made.call.body;
  CHECK_EQ(body.dump(), part("cold", "writes")[1]["body"].dump());
  body["metadata"]["uid"] = "u-cold";
  apply_answer(seen, made, body);
  auto report = report_claim(seen, state_of(next_step(seen, now)), at(18, 4, 21));
  REQUIRE(report);
  CHECK_EQ(report->body["status"].dump(), part("cold", "writes")[2]["body"]["status"].dump());
}

SCENARIO("what is refused is refused with the recorded reason and message") {
  for (const auto& claim : recorded().at("refused")) {
    MESSAGE(name_of(claim));
    auto seen = view(claim);
    if (name_of(claim) == "nopool")
      seen.pool.reset();
    if (name_of(claim) == "notempl") {
      (*seen.pool)["spec"]["sandboxTemplateRef"]["name"] = "absent-template";
      seen.sandbox_template.reset();
    }
    auto end = state_of(next_step(seen, now));
    CHECK_EQ(end.reason, text_in(claim, "/status/conditions/0/reason"));
    CHECK_EQ(end.message, text_in(claim, "/status/conditions/0/message"));
    CHECK(!report_claim(seen, end, now));
    // The same from the beginning.
    seen.claim.erase("status");
    auto report = report_claim(seen, end, at(18, 4, 20));
    REQUIRE(report);
    auto condition = report->body["status"]["conditions"][0];
    condition["lastTransitionTime"] = claim["status"]["conditions"][0]["lastTransitionTime"];
    CHECK_EQ(condition.dump(), claim["status"]["conditions"][0].dump());
  }
}

SCENARIO("a domain that the allowlist names, or one below it, lets the claim go on") {
  auto seen = view(recorded().at("refused")[0]);
  seen.label_domains = {"other.io", "example.org"};
  CHECK(write_of(next_step(seen, now)).what == of::create);
  seen.claim["spec"]["additionalPodMetadata"]["labels"] = json{{"deep.example.org/x", "1"}};
  CHECK(write_of(next_step(seen, now)).what == of::create);
  seen.claim["spec"]["additionalPodMetadata"]["labels"] = json{{"badexample.org/x", "1"}};
  CHECK_EQ(state_of(next_step(seen, now)).reason, "InvalidMetadata");
  seen.claim["spec"]["additionalPodMetadata"]["labels"] = json{{"example.org/x", "-"}};
  CHECK_EQ(state_of(next_step(seen, now)).reason, "InvalidMetadata");
  seen.claim["spec"]["additionalPodMetadata"] = json{{"annotations", {{agent_keys::safe_to_evict, "false"}}}};
  CHECK(write_of(next_step(seen, now)).what == of::create);
}

SCENARIO("variables go into a Sandbox of the claim's own, never into a member") {
  auto claim = part("env", "claim");
  claim.erase("status");
  auto seen = view(claim);
  seen.members = {member("a", true)};
  (*seen.sandbox_template)["spec"]["envVarsInjectionPolicy"] = "Allowed";
  (*seen.sandbox_template)["spec"]["networkPolicyManagement"] = "Unmanaged";
  seen.sandbox_template->at("metadata")["name"] = "t3";
  auto made = write_of(next_step(seen, now));
  CHECK(made.what == of::create);
  auto theirs = part("env", "sandbox");
  CHECK_EQ(made.call.body["spec"].dump(), theirs["spec"].dump());
  CHECK_EQ(made.call.body["metadata"]["labels"].dump(), theirs["metadata"]["labels"].dump());
  // One that the template sets is not replaced, but where it may be.
  auto& container = (*seen.sandbox_template)["spec"]["podTemplate"]["spec"]["containers"][0];
  container["env"] = json::array({json{{"name", "A"}, {"value", "0"}}});
  CHECK_EQ(state_of(next_step(seen, now)).reason, "EnvVarsInjectionRejected");
  (*seen.sandbox_template)["spec"]["envVarsInjectionPolicy"] = "Overrides";
  made = write_of(next_step(seen, now));
  CHECK_EQ(made.call.body["spec"]["podTemplate"]["spec"]["containers"][0]["env"].dump(), R"([{"name":"A","value":"1"}])");
}

SCENARIO("Ready members are taken first, of those the ones of the fullest node") {
  auto chosen = [](std::vector<json> members) {
    auto seen = view(observed(part("adopted", "created")));
    seen.members = std::move(members);
    return annotation_of(write_of(next_step(seen, now)).call.body, agent_keys::sandbox_name);
  };
  CHECK_EQ(chosen({member("a", false), member("b", true)}), "b");
  CHECK_EQ(chosen({member("a", true, "n1"), member("b", true, "n2"), member("c", true, "n2")}), "b");
  auto older = member("z", true);
  older["metadata"]["creationTimestamp"] = "2026-11-29T18:00:00Z";
  CHECK_EQ(chosen({member("a", true), older}), "z");
  // A fallback: not Ready, but with an address.
  CHECK_EQ(chosen({member("a", false)}), "a");
}

SCENARIO("members without an address are waited for up to two seconds of the claim's age") {
  auto seen = view(observed(part("adopted", "created")));
  auto without = member("a", false);
  without["status"].erase("podIPs");
  seen.members = {without};
  auto waits = state_of(next_step(seen, at(18, 4, 13)));
  CHECK(waits.silent);
  REQUIRE(waits.revisit);
  CHECK(*waits.revisit == 500ms);
  CHECK(write_of(next_step(seen, at(18, 4, 14))).what == of::create);
}

SCENARIO("a member that another claim took is not tried again, and three are enough") {
  auto seen = view(observed(part("adopted", "created")));
  seen.members = {member("a", true), member("b", true), member("c", true), member("d", true)};
  seen.claim["metadata"]["annotations"][agent_keys::sandbox_name] = "a";
  CHECK(write_of(next_step(seen, now)).what == of::adopt);
  seen.lost = {"a"};
  auto again = write_of(next_step(seen, now));
  CHECK(again.what == of::assign);
  CHECK_EQ(annotation_of(again.call.body, agent_keys::sandbox_name), "b");
  seen.lost = {"a", "b", "c"};
  CHECK_EQ(state_of(next_step(seen, now)).reason, "AdoptionConflict");
}

SCENARIO("a claim that contradicts the template is an error") {
  auto seen = view(observed(part("adopted", "created")));
  seen.members = {member("a", true)};
  (*seen.sandbox_template)["spec"]["podTemplate"]["metadata"]["labels"]["sandbox.users.io/user"] = "u2";
  CHECK_EQ(state_of(next_step(seen, now)).reason, "ReconcilerError");
}

SCENARIO("an expired claim says so first, then goes as its policy says") {
  auto seen = view(part("adopted", "claim"));
  seen.sandbox = part("adopted", "sandbox");
  seen.claim["spec"]["lifecycle"] = json{{"shutdownTime", "2026-11-29T18:04:20Z"}, {"shutdownPolicy", "Delete"}};
  auto before = state_of(next_step(seen, at(18, 4, 19)));
  REQUIRE(before.revisit);
  CHECK(*before.revisit == 1s);
  auto first = state_of(next_step(seen, at(18, 4, 20)));
  CHECK_EQ(first.reason, "ClaimExpired");
  CHECK(*first.revisit == 1ms);
  auto report = report_claim(seen, first, at(18, 4, 20));
  REQUIRE(report);
  seen.claim.merge_patch(report->body);
  auto recorded_condition = recorded().at("foreground").at("status").at("conditions")[0];
  CHECK_EQ(text_in(seen.claim, "/status/conditions/0/message"), text_in(recorded_condition, "/message"));
  CHECK_EQ(seen.claim["status"]["sandbox"].dump(), R"({"name":"p1-2fljx","podIPs":["127.0.0.1"]})");
  auto gone = write_of(next_step(seen, at(18, 4, 21)));
  CHECK(gone.what == of::end);
  CHECK_EQ(text_in(gone.call.body, "/propagationPolicy"), "Background");
  seen.claim["spec"]["lifecycle"]["shutdownPolicy"] = "DeleteForeground";
  CHECK_EQ(text_in(write_of(next_step(seen, at(18, 4, 21))).call.body, "/propagationPolicy"), "Foreground");
  seen.claim["spec"]["lifecycle"]["shutdownPolicy"] = "Retain";
  auto released = write_of(next_step(seen, at(18, 4, 21)));
  CHECK(released.what == of::release);
  CHECK(released.call.path.ends_with("/sandboxes/p1-2fljx"));
  apply_answer(seen, released, json{});
  auto kept = report_claim(seen, state_of(next_step(seen, at(18, 4, 21))), at(18, 4, 21));
  REQUIRE(kept);
  seen.claim.merge_patch(kept->body);
  CHECK_EQ(seen.claim["status"]["sandbox"].dump(), "{}");
}

SCENARIO("a claim whose Sandbox finished expires after its time to live") {
  auto seen = view(part("adopted", "claim"));
  seen.sandbox = part("adopted", "sandbox");
  seen.sandbox->at("status")["conditions"].push_back(json{
    {"type", "Finished"}, {"status", "True"}, {"reason", "PodSucceeded"}, {"message", ""}, {"lastTransitionTime", "2026-11-29T18:05:00Z"}});
  seen.claim["spec"]["lifecycle"] = json{{"ttlSecondsAfterFinished", 30}, {"shutdownPolicy", "Delete"}};
  auto report = report_claim(seen, state_of(next_step(seen, at(18, 5, 0))), at(18, 5, 0));
  REQUIRE(report);
  seen.claim.merge_patch(report->body);
  // Sorted by type.
  CHECK_EQ(text_in(seen.claim, "/status/conditions/0/type"), "Finished");
  CHECK_EQ(text_in(seen.claim, "/status/conditions/1/type"), "Ready");
  CHECK(state_of(next_step(seen, at(18, 5, 29))).reason.empty());
  CHECK_EQ(state_of(next_step(seen, at(18, 5, 30))).reason, "ClaimExpired");
}

SCENARIO("what a claim adds reaches the Sandbox that it has") {
  auto seen = view(part("adopted", "claim"));
  seen.sandbox = part("adopted", "sandbox");
  seen.claim["spec"]["additionalPodMetadata"]["labels"]["sandbox.users.io/user"] = "u9";
  auto write = write_of(next_step(seen, now));
  CHECK(write.what == of::sync);
  CHECK_EQ(write.call.body.dump(), R"({"spec":{"podTemplate":{"metadata":{"labels":{"sandbox.users.io/user":"u9"}}}}})");
}

SCENARIO("the first time that a claim is Ready is kept once") {
  auto claim = part("adopted", "claim");
  CHECK(!stamp_first_ready(claim, now));
  claim["metadata"]["annotations"].erase(agent_keys::first_ready);
  auto stamp = stamp_first_ready(claim, now);
  REQUIRE(stamp);
  CHECK_EQ(annotation_of(stamp->body, agent_keys::first_ready), "2026-11-29T18:04:12.000Z");
  CHECK(!stamp_first_ready(recorded().at("refused")[0], now));
}

SCENARIO("a claim of a template of another shape says so") {
  auto seen = view(observed(part("cold", "claim")));
  (*seen.sandbox_template)["spec"]["podTemplate"]["spec"]["containers"] = "x";
  auto end = state_of(next_step(seen, now));
  CHECK_EQ(end.reason, "ReconcilerError");
  CHECK_EQ(end.message, "Error seen: the template's podTemplate/spec/containers is no list");
}

SCENARIO("a time to live of more seconds than a clock can tell never comes") {
  auto seen = view(part("adopted", "claim"));
  seen.sandbox = part("adopted", "sandbox");
  seen.claim["status"]["conditions"].push_back(
    json{{"type", "Finished"}, {"status", "True"}, {"reason", "PodSucceeded"}, {"lastTransitionTime", "2026-11-29T18:05:00Z"}});
  for (auto seconds : {std::numeric_limits<std::int64_t>::max(), std::int64_t{9'300'000'000}}) {
    seen.claim["spec"]["lifecycle"] = json{{"ttlSecondsAfterFinished", seconds}, {"shutdownPolicy", "Delete"}};
    auto end = state_of(next_step(seen, at(18, 5, 30)));
    CHECK(end.reason.empty());
    REQUIRE(end.revisit);
    CHECK(*end.revisit == 24h);
  }
  seen.claim["spec"]["lifecycle"]["ttlSecondsAfterFinished"] = 31;
  CHECK(*state_of(next_step(seen, at(18, 5, 30))).revisit == 1s);
}

SCENARIO("a member that the claim has named is taken before a better one") {
  auto seen = view(observed(part("adopted", "created")));
  seen.members = {member("a", false), member("b", true)};
  seen.claim["metadata"]["annotations"][agent_keys::sandbox_name] = "a";
  auto write = write_of(next_step(seen, now));
  CHECK(write.what == of::adopt);
  CHECK(write.call.path.ends_with("/a"));
}

SCENARIO("the Sandbox that a claim controls is its own, whatever its annotation names") {
  auto claim = observed(part("adopted", "claim"));
  claim["metadata"]["annotations"][agent_keys::sandbox_name] = "taken";
  auto others = member("taken", true);
  auto own = part("adopted", "sandbox");
  own["metadata"]["name"] = name_of(claim);
  CHECK_EQ(name_of(*given_sandbox(claim, {others, own})), name_of(claim));
  CHECK_EQ(name_of(*given_sandbox(claim, {own, others})), name_of(claim));
  CHECK_EQ(name_of(*given_sandbox(claim, {others})), "taken");
  CHECK(!given_sandbox(claim, {}));
}

SCENARIO("what became of a write is told by the Sandbox as it is, not by the answer") {
  auto seen = view(observed(part("adopted", "created")));
  seen.members = {member("a", true)};
  seen.claim["metadata"]["annotations"][agent_keys::sandbox_name] = "a";
  auto write = write_of(next_step(seen, now));
  REQUIRE(write.what == of::adopt);
  auto ours = taken(seen.members[0], write);
  // Ours already, by the write or by one before it.
  for (auto status : {0u, 409u, 503u})
    CHECK(judge_outcome(seen, write, status, ours) == claim_outcome::landed);
  // The pool's still: refused because it had changed, or not known to have been tried.
  CHECK(judge_outcome(seen, write, 409, seen.members[0]) == claim_outcome::moved);
  CHECK(judge_outcome(seen, write, 0, seen.members[0]) == claim_outcome::again);
  // Another claim's, or gone.
  auto others = ours;
  others["metadata"]["ownerReferences"][0]["uid"] = "u-other";
  CHECK(judge_outcome(seen, write, 409, others) == claim_outcome::lost);
  CHECK(judge_outcome(seen, write, 404, std::nullopt) == claim_outcome::lost);
  CHECK(judge_outcome(seen, {of::create, {}}, 409, others) == claim_outcome::again);
  CHECK(judge_outcome(seen, {of::create, {}}, 0, std::nullopt) == claim_outcome::again);
}
