#define CAF_SUITE messages

#include "actors/translate.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

using namespace paddock;
using namespace paddock::test;

namespace {

struct fixture : actor_fixture {
  template <class T>
  T there_and_back(const T& x) {
    caf::byte_buffer buffer;
    caf::binary_serializer sink{sys, buffer};
    REQUIRE(sink.apply(x));
    caf::binary_deserializer source{sys, buffer};
    T out;
    REQUIRE(source.apply(out));
    return out;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(messages_tests, fixture)

SCENARIO("type ids are what they were: they are numbers on the wire") {
  CHECK_EQ(caf::type_id_v<verdict>, 200);
  CHECK_EQ(caf::type_id_v<problem>, 201);
  CHECK_EQ(caf::type_id_v<bytes>, 202);
  CHECK_EQ(caf::type_id_v<node_info>, 203);
  CHECK_EQ(caf::type_id_v<workspace_view>, 204);
  CHECK_EQ(caf::type_id_v<std::vector<workspace_view>>, 205);
  CHECK_EQ(caf::type_id_v<open_spec>, 206);
  CHECK_EQ(caf::type_id_v<opened_view>, 207);
  CHECK_EQ(caf::type_id_v<suspend_spec>, 208);
  CHECK_EQ(caf::type_id_v<run_spec>, 209);
  CHECK_EQ(caf::type_id_v<read_spec>, 210);
  CHECK_EQ(caf::type_id_v<write_spec>, 211);
  CHECK_EQ(caf::type_id_v<call_end>, 212);
  CHECK_EQ(caf::type_id_v<landed>, 213);
  CHECK_EQ((caf::type_id_v<std::map<std::string, std::string>>), 214);
  CHECK_EQ(caf::type_id_v<atom::info>, 215);
  CHECK_EQ(caf::type_id_v<atom::stop>, 238);
  CHECK_EQ(caf::type_id_v<attach_spec>, 239);
  CHECK_EQ(caf::type_id_v<call_spec>, 243);
  CHECK_EQ(caf::type_id_v<guest_question>, 251);
  CHECK_EQ(caf::type_id_v<guest_answer>, 258);
  CHECK_EQ(caf::type_id_v<pin_spec>, 259);
  CHECK_EQ(caf::type_id_v<atom::call>, 260);
  CHECK_EQ(caf::type_id_v<atom::identity>, 267);
  CHECK_EQ(caf::type_id_v<atom::watch>, 268);
  CHECK_EQ(caf::type_id_v<atom::shown>, 269);
  CHECK_EQ(caf::type_id_v<named_object_question>, 270);
  CHECK_EQ(caf::type_id_v<policy_event>, 274);
  CHECK_EQ(caf::type_id_v<atom::prove>, 275);
  CHECK_EQ(caf::type_id_v<atom::moved>, 280);
  CHECK_EQ(caf::type_id_v<remove_spec>, 281);
  CHECK_EQ(caf::type_id_v<reset_spec>, 282);
  CHECK_EQ(caf::type_id_v<atom::reset_epoch>, 283);
  CHECK_EQ(caf::type_id_v<atom::stamp>, 284);
  CHECK_EQ(caf::type_id_v<policy_request>, 285);
  CHECK_EQ(caf::type_id_v<policy_view>, 286);
  CHECK_EQ(caf::type_id_v<atom::policy>, 287);
  CHECK_EQ(caf::type_id_v<identity_view>, 288);
  CHECK_EQ(caf::type_id_v<std::vector<workspace_event>>, 290);
  CHECK_EQ(caf::type_id_v<atom::subscribe>, 294);
  CHECK_EQ(caf::type_id_v<task_spec>, 295);
  CHECK_EQ(caf::type_id_v<capacity_view>, 299);
  CHECK_EQ(caf::type_id_v<atom::acquire>, 300);
  CHECK_EQ(caf::type_id_v<atom::capacity>, 303);
  CHECK_EQ(caf::type_id_v<sink_actor>, 700);
  CHECK_EQ(caf::type_id_v<call_actor>, 701);
  CHECK_EQ(caf::type_id_v<pinned_guest_actor>, 702);
  CHECK_EQ(caf::type_id_v<call_owner_actor>, 703);
  CHECK_EQ(caf::type_id_v<watcher_actor>, 704);
  CHECK_EQ(caf::type_id_v<watch_actor>, 705);
  CHECK_EQ(caf::type_id_v<fence_actor>, 706);
  CHECK_EQ(caf::type_id_v<stamper_actor>, 707);
  CHECK_EQ(caf::type_id_v<event_sink_actor>, 708);
  CHECK_EQ(caf::type_id_v<egress_gate_actor>, 709);
  CHECK_EQ(caf::type_id_v<task_actor>, 711);
  CHECK_EQ(first_plugin_type_id, 1200);
}

SCENARIO("a named error survives the way through an error and the wire") {
  const auto got = to_problem(there_and_back(to_error({verdict::overtaken, "WorkspaceReplaced", "text", R"({"a":1})"})));
  CHECK(got.how == verdict::overtaken);
  CHECK_EQ(got.reason, "WorkspaceReplaced");
  CHECK_EQ(got.message, "text");
  CHECK_EQ(got.details, R"({"a":1})");
}

SCENARIO("a named error of egress says whether something may have happened") {
  const auto how = [](egress::egress_error x) { return to_problem(x).how; };
  CHECK(how(egress::illegal_host{"*", "contains *"}) == verdict::usage);
  CHECK(how(egress::illegal_per_sandbox{"engine", "core", "is not cilium"}) == verdict::usage);
  CHECK(how(egress::fence_missing{}) == verdict::refused);
  CHECK(how(egress::permitted_host_refused{"a.example", {}, "host"}) == verdict::refused);
  CHECK(how(egress::policy_write_unknown{"POST", "/x", k8s::api_timeout{"POST", "/x", 30s, true}}) == verdict::unknown);
  CHECK(how(egress::owner_replaced{"desk", "S1", "S2", "done"}) == verdict::overtaken);
  CHECK(how(k8s::failure{k8s::api_timeout{"GET", "/x", 30s, true}}) == verdict::unreachable);
  CHECK(how(k8s::failure{k8s::already_gone{"GET", "/x", 404}}) == verdict::not_found);
  const auto got = to_problem(egress::egress_error{egress::owner_replaced{"desk", "S1", "S2", "done"}});
  CHECK_EQ(got.reason, "OwnerReplaced");
  CHECK(got.message.find("desk") != std::string::npos);
  CHECK(got.details.find("S2") != std::string::npos);
}

SCENARIO("an error of the actor system means that nobody knows the outcome") {
  for (auto code : {caf::sec::request_receiver_down, caf::sec::broken_promise, caf::sec::remote_lookup_failed}) {
    const auto got = to_problem(caf::make_error(code));
    CHECK(got.how == verdict::unknown);
    CHECK_EQ(got.reason, "OutcomeUnknown");
  }
}

SCENARIO("specs and views come back as they went") {
  run_spec what;
  what.program = "sh";
  what.arguments = {"-c", "x"};
  what.environment = {{"A", "b"}};
  what.limit = caf::timespan{5s};
  what.with_input = true;
  const auto run = there_and_back(what);
  CHECK_EQ(run.arguments, what.arguments);
  CHECK_EQ(run.environment, what.environment);
  CHECK(run.limit == what.limit);
  CHECK(run.with_input);
  CHECK(!run.directory);
  // A variant inside travels as what it holds.
  const auto call = there_and_back(call_spec{shell_spec{"bash", {"-l"}, {}, {}, 120, 40, "s1", true, 77}, 9});
  CHECK_EQ(call.credit, 9u);
  const auto* shell = std::get_if<shell_spec>(&call.what);
  REQUIRE(shell != nullptr);
  CHECK_EQ(shell->program, "bash");
  CHECK_EQ(shell->columns, 120);
  CHECK_EQ(shell->session, "s1");
  CHECK(shell->attach);
  CHECK_EQ(shell->from, 77u);
  const auto asked = there_and_back(guest_question{quiesce_question{caf::timespan{2s}, true}});
  const auto* quiesce = std::get_if<quiesce_question>(&asked.what);
  REQUIRE(quiesce != nullptr);
  CHECK(quiesce->only_if_idle);
  CHECK(quiesce->grace == caf::timespan{2s});
  const auto answered = there_and_back(guest_answer{quiesce_answer{{{7, "sleep", "SIGKILL"}}, "pid-namespace", 1000, 2}});
  const auto* stopped = std::get_if<quiesce_answer>(&answered.what);
  REQUIRE(stopped != nullptr);
  REQUIRE_EQ(stopped->stopped.size(), 1u);
  CHECK_EQ(stopped->stopped[0].command, "sleep");
  CHECK_EQ(stopped->rounds, 2u);
  CHECK(std::holds_alternative<sessions_question>(there_and_back(guest_question{}).what));
  const auto wanted = there_and_back(policy_request{policy_spec{{"a.example", ".b.example"}}});
  REQUIRE(wanted.grant);
  CHECK_EQ(wanted.grant->allowed_hosts, (std::vector<std::string>{"a.example", ".b.example"}));
  CHECK(there_and_back(policy_request{policy_spec{}}).grant);
  CHECK(!there_and_back(policy_request{}).grant);
  const auto shown = there_and_back(policy_view{"desk", "S1", "namzu-sbx-S1", true, {"a.example"}, R"({"egress":[]})"});
  CHECK_EQ(shown.workspace, "desk");
  CHECK_EQ(shown.sandbox_uid, "S1");
  CHECK_EQ(shown.policy, "namzu-sbx-S1");
  CHECK(shown.stands);
  CHECK_EQ(shown.allowed_hosts, std::vector<std::string>{"a.example"});
  CHECK_EQ(shown.spec, R"({"egress":[]})");
  workspace_view view;
  view.volume_claim_uids = {{"workspace", "C1"}};
  view.holder_epoch = 4;
  const auto got = there_and_back(view);
  CHECK_EQ(got.volume_claim_uids, view.volume_claim_uids);
  CHECK(got.holder_epoch == view.holder_epoch);
  CHECK(!got.created_at);
}

SCENARIO("a verdict has a name and a number, and nothing else is one") {
  for (std::uint8_t i = 1; i <= 7; ++i) {
    verdict x{};
    REQUIRE(from_integer(i, x));
    verdict y{};
    REQUIRE(verdict_from(to_string(x), y));
    CHECK(x == y);
  }
  verdict x{};
  CHECK(!from_integer(0, x));
  CHECK(!from_integer(8, x));
  CHECK(!verdict_from("nonsense", x));
}

CAF_TEST_FIXTURE_SCOPE_END()
