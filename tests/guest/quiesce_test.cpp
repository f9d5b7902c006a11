#define CAF_SUITE quiesce

// The rules of quiesce and flush.

#include "guest/agent_config.hpp"
#include "guest/flush.hpp"
#include "guest/quiesce.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <limits>

using namespace paddock::guest;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

proc_stat process(pid_t pid, pid_t session = 500, char state = 'S', std::uint64_t start = 10) {
  auto x = proc_stat{};
  x.pid = pid;
  x.session = session;
  x.state = state;
  x.threads = 1;
  x.start = start;
  x.comm = "sleep";
  return x;
}

std::string grace_error(const json& value) {
  auto got = read_quiesce_request(json{{"graceMs", value}}, 1000ms, 5000ms);
  return got ? "" : json::parse(got.error())["error"].get<std::string>();
}

constexpr auto origin = quiesce_rounds::time_point{};
using step = quiesce_rounds::step;

} // namespace

SCENARIO("the wide scope is for the init of a pid namespace and its child, and is never forced") {
  CHECK(scope_of(1, 0, false) == quiesce_scope::pid_namespace);
  CHECK(scope_of(7, 1, false) == quiesce_scope::pid_namespace);
  CHECK(scope_of(7, 2, false) == quiesce_scope::owned_sessions);
  CHECK(scope_of(1, 0, true) == quiesce_scope::owned_sessions);
  CHECK(scope_of(7, 1, true) == quiesce_scope::owned_sessions);
}

SCENARIO("a grace is a positive safe integer below the confirm timeout") {
  CHECK_EQ(grace_error(1), "");
  CHECK_EQ(grace_error(4999), "");
  CHECK_EQ(grace_error(1e3), "");
  for (const auto& bad : {json(0), json(-1), json(5000), json(1.5), json("5"), json(nullptr), json(true), json::array(), json(1e300)})
    CHECK_EQ(grace_error(bad), "quiesce_invalid_grace");
  auto refused = json::parse(read_quiesce_request(json{{"graceMs", 0}}, 1000ms, 5000ms).error());
  auto message = refused["message"].get<std::string>();
  CHECK(message.find("4999") != std::string::npos);
  CHECK(message.find("NAMZU_AGENT_CANCEL_CONFIRM_TIMEOUT_MS") != std::string::npos);
  // The maximum is never below 1.
  CHECK(read_quiesce_request(json{{"graceMs", 1}}, 1000ms, 1ms).has_value());
  CHECK(read_quiesce_request(json::object(), 1000ms, 1ms)->grace == 1ms);
  CHECK(read_quiesce_request(json::object(), 1000ms, 5000ms)->grace == 1000ms);
}

SCENARIO("idleOnly is a boolean") {
  CHECK(read_quiesce_request(json{{"idleOnly", true}}, 1s, 5s)->idle_only);
  CHECK(!read_quiesce_request(json{{"idleOnly", false}}, 1s, 5s)->idle_only);
  CHECK(!read_quiesce_request(json::object(), 1s, 5s)->idle_only);
  for (const auto& bad : {json("true"), json(1), json(nullptr)})
    CHECK_EQ(read_quiesce_request(json{{"idleOnly", bad}}, 1s, 5s).error(), R"({"ok":false,"error":"quiesce_invalid_idle_only"})");
}

SCENARIO("init, the agent, its session and zombies are no candidates") {
  auto view = quiesce_view{50, 40, 1001, quiesce_scope::pid_namespace};
  CHECK(may_be_stopped(process(60), view));
  CHECK(!may_be_stopped(process(1), view));
  CHECK(!may_be_stopped(process(50), view));
  CHECK(!may_be_stopped(process(60, 40), view));
  CHECK(!may_be_stopped(process(60, 500, 'Z'), view));
}

SCENARIO("a session whose leader was reaped is the agent's only while it provably never was empty") {
  auto owned = std::set<pid_t>{500, 600};
  auto left = std::map<pid_t, std::uint64_t>{{600, 100}};
  auto view = owned_sessions_view{owned, left};
  auto names = [&](std::vector<proc_stat> found) {
    view.keep_proven(found);
    auto result = std::string{};
    for (const auto& x : found)
      result += std::to_string(x.pid) + " ";
    return result;
  };
  CHECK_EQ(names({process(501, 500, 'S', 999), process(701, 700)}), "501 ");
  CHECK_EQ(names({process(601, 600, 'S', 101)}), "");                                      // may be another's
  CHECK_EQ(names({process(602, 600, 'S', 101), process(601, 600, 'S', 100)}), "602 601 "); // the old member proves the new one
  CHECK_EQ(names({process(601, 600, 'S', 99), process(501, 500)}), "601 501 ");
}

SCENARIO("rounds end with an empty scan, and each process is reported once with its last signal") {
  auto rounds = quiesce_rounds{origin + 20s, 8};
  auto found = std::vector{process(60), process(61)};
  CHECK(rounds.scanned(found, origin) == step::stop_them);
  rounds.delivered(found[0], "SIGTERM");
  rounds.delivered(found[1], "SIGTERM");
  rounds.delivered(found[1], "SIGKILL");
  CHECK(rounds.waited({}) == step::done);
  auto again = std::vector{process(60, 500, 'S', 11)}; // another process with that number
  CHECK(rounds.scanned(again, origin + 1s) == step::stop_them);
  rounds.delivered(again[0], "SIGTERM");
  CHECK(rounds.waited({}) == step::done);
  CHECK(rounds.scanned({}, origin + 30s) == step::done); // nothing is left, however late
  CHECK_EQ(quiesce_reply(quiesce_scope::pid_namespace, 250ms, rounds.rounds(), rounds.stopped()),
           R"({"ok":true,"scope":"pid-namespace","graceMs":250,"rounds":2,"stopped":[{"pid":60,"command":"sleep","signal":"SIGTERM"},)"
           R"({"pid":61,"command":"sleep","signal":"SIGKILL"},{"pid":60,"command":"sleep","signal":"SIGTERM"}]})");
}

SCENARIO("after eight rounds, past the deadline, and with survivors a quiesce fails and names a process") {
  auto found = std::vector{process(60)};
  auto rounds = quiesce_rounds{origin + 20s, 8};
  for (auto i = 0; i < 8; ++i)
    CHECK(rounds.scanned(found, origin) == step::stop_them);
  CHECK(rounds.scanned(found, origin) == step::failed);
  CHECK_EQ(rounds.failure(), "after 8 rounds pid 60 (sleep) is running");
  auto late = quiesce_rounds{origin + 20s, 8};
  CHECK(late.scanned(found, origin + 20s) == step::failed);
  CHECK_EQ(late.rounds(), 0u);
  CHECK_EQ(late.failure(), "the deadline has passed and pid 60 (sleep) is running");
  auto survived = quiesce_rounds{origin + 20s, 8};
  CHECK(survived.scanned(found, origin) == step::stop_them);
  CHECK(survived.waited(found) == step::failed);
  CHECK_EQ(quiesce_unconfirmed_refusal(survived.failure()),
           R"({"ok":false,"error":"quiesce_unconfirmed","message":"pid 60 (sleep) outlived SIGKILL"})");
}

SCENARIO("a short name of any bytes is shown as text, and breaks no line") {
  auto odd = process(60);
  odd.comm = "a\nb\xff\"";
  CHECK_EQ(quiesce_not_idle_refusal(quiesce_scope::owned_sessions, std::vector{odd}, 1),
           "{\"ok\":false,\"error\":\"quiesce_not_idle\",\"scope\":\"owned-sessions\",\"running\":[{\"pid\":60,\"command\":"
           "\"a\\nb\xef\xbf\xbd\\\"\"},"
           "{\"pid\":0,\"command\":\"\"}],\"message\":\"pid 60 (a?b\xef\xbf\xbd\\\") is running, and 1 more\"}");
  CHECK_EQ(quiesce_not_idle_refusal(quiesce_scope::owned_sessions, {}, 1),
           R"({"ok":false,"error":"quiesce_not_idle","scope":"owned-sessions","running":[{"pid":0,"command":""}],)"
           R"("message":"a command is being started"})");
}

SCENARIO("the bound of a flush says who it is from") {
  CHECK_EQ(flush_timeout_message(*read_flush_request(json{{"timeoutMs", 50}}, 10s)),
           "the flush did not return within 50 ms (timeoutMs of the request)");
  CHECK_EQ(flush_timeout_message(*read_flush_request(json::object(), 10s)),
           "the flush did not return within 10000 ms (NAMZU_AGENT_FLUSH_TIMEOUT_MS)");
  CHECK_EQ(flush_timeout_message(shutdown_flush_bound(10s, 4s)),
           "the flush did not return within 4000 ms (what is left of NAMZU_AGENT_SHUTDOWN_DEADLINE_MS)");
  CHECK(shutdown_flush_bound(10s, 0ms).limit == 1ms);
  CHECK(shutdown_flush_bound(2s, 4s).from == flush_bound::source::variable);
  for (const auto& bad : {json(0), json(-1), json(0.5), json("50"), json(nullptr), json(1e17)})
    CHECK_EQ(json::parse(read_flush_request(json{{"timeoutMs", bad}}, 10s).error())["error"].get<std::string>(), "flush_invalid_timeout");
}

SCENARIO("the flush reserve is a third of the deadline, and no more than the flush may take") {
  CHECK(flush_reserve(10s, 15s) == 5s);
  CHECK(flush_reserve(2s, 15s) == 2s);
  CHECK(flush_reserve(10s, 2ms) == 1ms);
}

SCENARIO("of a command's standard error the end is kept") {
  auto tail = error_tail{};
  tail.append("first");
  for (auto i = 0; i < 1000; ++i)
    tail.append(std::string(100, 'x'));
  tail.append("last\xff\n\n");
  auto text = tail.text();
  CHECK(text.size() <= error_tail::size + 2);
  CHECK(text.ends_with("xlast\xef\xbf\xbd"));
  CHECK(text.find("first") == std::string::npos);
  CHECK_EQ(flush_command_message(3, std::nullopt, "no space"), "the flush command exited with status 3: no space");
  CHECK_EQ(flush_command_message(-1, "SIGSEGV", ""), "the flush command was ended by SIGSEGV");
}

SCENARIO("the variables of quiesce and flush are read") {
  auto base = std::vector<std::string>{"NAMZU_AGENT_UNIX_PATH=/s"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), base.begin(), base.end());
    return read_agent_config(more);
  };
  auto plain = with({});
  CHECK(plain->quiesce_deadline == 20s);
  CHECK_EQ(plain->quiesce_max_rounds, 8u);
  CHECK(plain->quiesce_settle == 1s);
  CHECK(!plain->flush_command && !plain->owned_sessions_only);
  auto set = with({"NAMZU_AGENT_QUIESCE_DEADLINE_MS=5", "NAMZU_AGENT_QUIESCE_MAX_ROUNDS=2", "NAMZU_AGENT_QUIESCE_SETTLE_MS=7",
                   "NAMZU_AGENT_FLUSH_COMMAND=sync", "NAMZU_AGENT_QUIESCE_SCOPE=owned-sessions"});
  CHECK(set->quiesce_deadline == 5ms);
  CHECK_EQ(set->quiesce_max_rounds, 2u);
  CHECK(set->quiesce_settle == 7ms);
  CHECK_EQ(set->flush_command.value_or(""), "sync");
  CHECK(set->owned_sessions_only);
  CHECK(!with({"NAMZU_AGENT_QUIESCE_SCOPE=pid-namespace"})->owned_sessions_only); // no effect
  CHECK_EQ(with({"NAMZU_AGENT_QUIESCE_MAX_ROUNDS=0"}).error(), "NAMZU_AGENT_QUIESCE_MAX_ROUNDS must be a positive safe integer");
}
