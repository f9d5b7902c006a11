#define CAF_SUITE host_work_calls

// Sessions, quiesce, flush, pins and readiness against a guest made of bytes ([G] 16.8, 18.7, 19.4-19.6).

#include "guest/flows/file_transport.hpp"
#include "guest/flows/ready.hpp"
#include "guest/flows/stream_transport.hpp"
#include "guest/pin.hpp"
#include "tests/guest/work_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <type_traits>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const auto only_the_probe = std::vector<std::string>{"healthz"};

json row(const char* id) {
  return {{"sessionId", id}, {"kind", "detached"}, {"command", "job"},  {"args", {"a"}},
          {"startedAt", 5},  {"nextOffset", 7},    {"state", "running"}};
}

struct sink final : guest::output_sink {
  boost::asio::awaitable<void> take(guest::stream, std::string) override {
    co_return;
  }
};

struct bytes_taken final : guest::byte_sink {
  boost::asio::awaitable<void> take(std::string) override {
    co_return;
  }
};

struct no_input final : guest::input_source {
  boost::asio::awaitable<std::string> next() override {
    co_return std::string{};
  }
};

struct no_entries final : guest::entry_sink {
  boost::asio::awaitable<bool> take(guest::listed_file) override {
    co_return false;
  }
};

} // namespace

// -- sessions --------------------------------------------------------------------

SCENARIO("sessions are listed as the guest keeps them, and read leniently") {
  work_world f;
  f.agent.on("list-sessions",
             {send(json{{"ok", true}, {"sessions", {row("one"), {{"sessionId", "two"}, {"kind", "odd"}, {"state", "odd"}}}}})});
  const auto got = f.ask(f.work->sessions(f.agent.where(), f.in(10s)));
  REQUIRE(got.has_value());
  REQUIRE_EQ(got->size(), 2u);
  CHECK_EQ((*got)[0].kind, "detached");
  CHECK_EQ((*got)[0].arguments, std::vector<std::string>{"a"});
  CHECK_EQ((*got)[0].next_offset, 7u);
  CHECK_EQ((*got)[1].kind, "terminal");
  CHECK_EQ((*got)[1].state, "running");
  CHECK_EQ((*got)[1].started_at, 0);
  for (auto bad : {json{{"ok", true}}, json{{"ok", true}, {"sessions", {1}}}, refusal("odd")}) {
    f.agent.on("list-sessions", {send(bad)});
    CHECK(failed_with<guest::protocol_failure>(f.ask(f.work->sessions(f.agent.where(), f.in(10s)))));
  }
}

SCENARIO("a detached program is started and killed by its session") {
  work_world f;
  auto started_row = row("one");
  started_row["ok"] = true;
  started_row["pid"] = 42;
  f.agent.on("start-detached", {send(started_row)});
  auto killed_row = row("one");
  killed_row["ok"] = true;
  killed_row["state"] = "exited";
  killed_row["signal"] = 9;
  killed_row["exitCode"] = -1;
  killed_row["signalled"] = 2;
  f.agent.on("kill-session", {send(killed_row)});
  auto what = guest::session_start{"one", "job", {"a"}, "d", {{"K", "v"}}};
  const auto made = f.ask(f.work->start_detached(f.agent.where(), what, f.in(10s)));
  REQUIRE(made.has_value());
  CHECK_EQ(made->pid, 42);
  CHECK(f.request("start-detached")["body"]
        == (json{{"sessionId", "one"}, {"command", "job"}, {"args", {"a"}}, {"cwd", "d"}, {"env", {{"K", "v"}}}}));
  const auto killed = f.ask(f.work->kill_session(f.agent.where(), "one", "SIGTERM", f.in(10s)));
  REQUIRE(killed.has_value());
  CHECK_EQ(killed->signal, 9);
  CHECK_EQ(killed->exit_code, -1);
  CHECK_EQ(killed->signalled, 2u);
  CHECK(f.request("kill-session")["body"] == (json{{"sessionId", "one"}, {"signal", "SIGTERM"}}));
}

SCENARIO("a refusal of a session has its reason, as a reply and as a stream") {
  work_world f;
  auto reason = [](const auto& got) {
    return failed_with<guest::session_refused>(got) ? std::get<guest::session_refused>(got.error()).reason : std::string{};
  };
  for (const auto* code : {"unknown_session", "invalid_session_id", "invalid_offset", "session_exists", "session_capacity",
                           "missing_command", "spawn_failed"}) {
    f.agent.on("kill-session", {send(refusal(code))});
    CHECK_EQ(reason(f.ask(f.work->kill_session(f.agent.where(), "one", {}, f.in(10s)))), code);
    f.agent.on("attach-session", {send(refusal_event(code)), send_end()});
    CHECK_EQ(reason(f.ask(f.work->read_session(f.agent.where(), "one", 0, f.in(10s)))), code);
  }
  f.agent.on("kill-session", {send(refusal("odd"))});
  CHECK_EQ(reason(f.ask(f.work->kill_session(f.agent.where(), "one", {}, f.in(10s)))), "unknown");
  f.agent.on("attach-session", {send(refusal_event("unknown_session: one")), send_end()});
  CHECK(failed_with<guest::refused>(f.ask(f.work->read_session(f.agent.where(), "one", 0, f.in(10s)))));
  f.agent.on("kill-session", {send(refusal("agent_retiring"))});
  CHECK(failed_with<guest::retiring>(f.ask(f.work->kill_session(f.agent.where(), "one", {}, f.in(10s)))));
  f.agent.on("kill-session", {send(refusal("unauthorized"))});
  CHECK(failed_with<guest::unauthorized>(f.ask(f.work->kill_session(f.agent.where(), "one", {}, f.in(10s)))));
}

SCENARIO("a session id that no guest takes is refused before anything is dialled") {
  work_world f;
  for (const auto* id : {"", "-a", "a b", "\xc3\xa9"})
    CHECK(failed_with<guest::invalid_argument>(f.ask(f.work->kill_session(f.agent.where(), id, {}, f.in(10s)))));
  CHECK(failed_with<guest::invalid_argument>(f.ask(f.work->read_session(f.agent.where(), std::string(65, 'a'), 0, f.in(10s)))));
  CHECK_EQ(f.agent.connections(), 0u);
}

SCENARIO("a guest without sessions is not asked for any") {
  work_world f;
  f.agent.features({"execution-attach"});
  CHECK(failed_with<guest::unsupported>(f.ask(f.work->sessions(f.agent.where(), f.in(10s)))));
  CHECK(failed_with<guest::unsupported>(f.ask(f.work->start_detached(f.agent.where(), {"one", "job", {}, {}, {}}, f.in(10s)))));
  CHECK(failed_with<guest::unsupported>(f.ask(f.work->kill_session(f.agent.where(), "one", {}, f.in(10s)))));
  const auto got = f.ask(f.work->read_session(f.agent.where(), "one", 0, f.in(10s)));
  REQUIRE(failed_with<guest::unsupported>(got));
  CHECK_EQ(guest::reason_of(got.error()), "SessionsUnsupported");
  CHECK_EQ(f.agent.ops(), only_the_probe);
}

// [G 178] read after it was killed
SCENARIO("a killed session reads as killed, with its output and its place") {
  work_world f;
  auto ready = [](const char* state) {
    return json{{"type", "ready"}, {"guestBootId", "b"}, {"sessionId", "one"}, {"kind", "terminal"},
                {"state", state},  {"fromOffset", 2},    {"droppedBytes", 2},  {"nextOffset", 7}};
  };
  auto data = json{{"type", "data"}, {"stream", "stdout"}, {"data", "hello"}, {"offset", 2}, {"nextOffset", 7}};
  auto killed = ready("exited");
  killed["exitCode"] = -1;
  killed["signal"] = 9;
  f.agent.on("attach-session", {send(killed), send(data), send_end()});
  auto got = f.ask(f.work->read_session(f.agent.where(), "one", 0, f.in(10s)));
  REQUIRE(got.has_value());
  CHECK_EQ(got->status, "killed");
  CHECK_EQ(got->bytes, "hello");
  CHECK_EQ(got->next_offset, 7u);
  CHECK_EQ(got->dropped_bytes, 2u);
  CHECK(f.request("attach-session")["body"] == (json{{"sessionId", "one"}, {"fromOffset", 0}, {"follow", false}}));
  auto exited = ready("exited");
  exited["exitCode"] = 3;
  f.agent.on("attach-session", {send(exited), send_end()});
  got = f.ask(f.work->read_session(f.agent.where(), "one", 7, f.in(10s)));
  REQUIRE(got.has_value());
  CHECK_EQ(got->status, "exited");
  CHECK_EQ(got->exit_code, 3);
  f.agent.on("attach-session", {send(ready("running")), send(json{{"type", "exit"}}), send_end()});
  CHECK(failed_with<guest::protocol_failure>(f.ask(f.work->read_session(f.agent.where(), "one", 7, f.in(10s)))));
}

SCENARIO("a session that is read and goes back in its log is no protocol") {
  work_world f;
  const auto ready = json{{"type", "ready"}, {"sessionId", "one"}, {"state", "running"}, {"fromOffset", 0}, {"nextOffset", 9}};
  auto data = [](const char* text, int next) { return json{{"type", "data"}, {"data", text}, {"nextOffset", next}}; };
  f.agent.on("attach-session", {send(ready), send(data("hello", 5)), send(data("hell", 4)), send_end()});
  CHECK(failed_with<guest::protocol_failure>(f.ask(f.work->read_session(f.agent.where(), "one", 0, f.in(10s)))));
}

SCENARIO("a session is read as bytes from a guest that agrees, and within 30 seconds") {
  work_world f;
  f.agent.features({"sessions", "stream-bytes"});
  auto ready = json{{"type", "ready"}, {"state", "running"}, {"nextOffset", 2}, {"encoding", "base64"}};
  f.agent.on("attach-session", {send(ready), send(json{{"type", "data"}, {"data", to_base64("\xff\xfe")}, {"nextOffset", 2}}), send_end()});
  const auto got = f.ask(f.work->read_session(f.agent.where(), "one", 0, f.in(1h)));
  REQUIRE(got.has_value());
  CHECK_EQ(got->bytes, "\xff\xfe");
  CHECK_EQ(f.request("attach-session")["body"]["encoding"].get<std::string>(), "base64");
  f.agent.on("attach-session", {watch()});
  CHECK(failed_with<guest::lost>(f.ask(f.work->read_session(f.agent.where(), "one", 0, f.in(1h)))));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{30s});
}

// -- quiesce and flush ---------------------------------------------------------------

SCENARIO("a quiesce reports what it stopped") {
  work_world f;
  const auto stopped = json::array({{{"pid", 7}, {"command", "sleep"}, {"signal", "SIGTERM"}}, {{"command", "no pid"}}});
  f.agent.on("quiesce", {send(json{{"ok", true}, {"scope", "odd"}, {"graceMs", 9}, {"rounds", 1}, {"stopped", stopped}})});
  const auto got = f.ask(f.work->quiesce(f.agent.where(), {9ms, false}, f.in(1min)));
  REQUIRE(got.has_value());
  CHECK_EQ(got->scope, "owned-sessions");
  CHECK_EQ(got->rounds, 1u);
  REQUIRE_EQ(got->stopped.size(), 1u);
  CHECK_EQ(got->stopped[0].pid, 7);
  CHECK(f.request("quiesce")["body"] == (json{{"graceMs", 9}}));
}

SCENARIO("a quiesce or flush that is refused is unconfirmed, or unsupported when the guest cannot") {
  work_world f;
  auto quiesce = [&](json reply) {
    f.agent.on("quiesce", {send(std::move(reply))});
    return f.ask(f.work->quiesce(f.agent.where(), {}, f.in(1min)));
  };
  const auto alive = quiesce({{"ok", false}, {"error", "quiesce_unconfirmed"}, {"message", "pid 7 (sleep) lives"}});
  REQUIRE(failed_with<guest::quiesce_unconfirmed>(alive));
  CHECK_EQ(std::get<guest::quiesce_unconfirmed>(alive.error()).reason, "quiesce_unconfirmed");
  CHECK_NE(guest::to_string(alive.error()).find("pid 7"), std::string::npos);
  CHECK(failed_with<guest::unsupported>(quiesce(refusal("unknown_op: quiesce"))));
  CHECK(failed_with<guest::retiring>(quiesce(refusal("agent_retiring"))));
  CHECK(failed_with<guest::guest_mismatch>(quiesce(refusal("guest_mismatch"))));
  const auto busy = quiesce({{"ok", false}, {"error", "quiesce_not_idle"}});
  REQUIRE(failed_with<guest::quiesce_unconfirmed>(busy));
  CHECK_EQ(std::get<guest::quiesce_unconfirmed>(busy.error()).reason, "quiesce_not_idle");
  auto flush = [&](json reply) {
    f.agent.on("flush", {send(std::move(reply))});
    return f.ask(f.work->flush(f.agent.where(), 50ms, f.in(1min)));
  };
  const auto done = flush({{"ok", true}, {"durationMs", 12}, {"workspace", "/w"}});
  REQUIRE(done.has_value());
  CHECK_EQ(done->duration_ms, 12u);
  CHECK_EQ(done->workspace, "/w");
  CHECK(f.request("flush")["body"] == (json{{"timeoutMs", 50}}));
  CHECK(failed_with<guest::unsupported>(flush(refusal("unknown_op: flush"))));
  CHECK(failed_with<guest::unsupported>(flush(refusal("flush_unsupported_platform"))));
  CHECK(failed_with<guest::flush_unconfirmed>(flush(refusal("flush_unconfirmed"))));
}

// [G 205] no quiesce
SCENARIO("a guest without quiesce is not asked for it") {
  work_world f;
  f.agent.features({"sessions", "quiesce-idle-only"});
  const auto got = f.ask(f.work->quiesce(f.agent.where(), {}, f.in(1min)));
  REQUIRE(failed_with<guest::unsupported>(got));
  CHECK_EQ(guest::reason_of(got.error()), "QuiesceUnsupported");
  CHECK(failed_with<guest::unsupported>(f.ask(f.work->flush(f.agent.where(), {}, f.in(1min)))));
  CHECK_EQ(f.agent.ops(), only_the_probe);
}

// [G 236] no idle-only quiesce
SCENARIO("a guest that would stop everything is not asked for an idle-only quiesce") {
  work_world f;
  f.agent.features({"quiesce"});
  const auto got = f.ask(f.work->quiesce(f.agent.where(), {{}, true}, f.in(1min)));
  REQUIRE(failed_with<guest::unsupported>(got));
  CHECK_EQ(guest::reason_of(got.error()), "QuiesceUnsupported");
  CHECK_EQ(f.agent.ops(), only_the_probe);
}

// [G 235] the contract's TypeError: here no program that asks with a text compiles, so nothing can be sent
SCENARIO("a quiesce request cannot hold anything but a boolean for idle-only") {
  static_assert(std::is_same_v<decltype(guest::quiesce_request::idle_only), bool>);
  constexpr auto takes_text = []<class T>(const T& text) {
    return requires {
      guest::quiesce_request{std::nullopt, text};
    };
  };
  CHECK(!takes_text("yes"));
  CHECK(!takes_text(std::string{"yes"}));
  CHECK(takes_text(std::true_type::value));
}

// [G 237] changed after the call
SCENARIO("a quiesce is what it was when it was asked") {
  work_world f;
  f.agent.on("quiesce", {send(json{{"ok", true}, {"scope", "pid-namespace"}, {"graceMs", 0}, {"rounds", 0}, {"stopped", json::array()}})});
  auto how = guest::quiesce_request{{}, true};
  auto flow = start_flow(f.context, f.work->quiesce(f.agent.where(), how, f.in(1min)));
  how.idle_only = false;
  how.grace = 5ms;
  REQUIRE(f.finish(flow).has_value());
  CHECK(f.request("quiesce")["body"] == (json{{"idleOnly", true}}));
}

// -- pins --------------------------------------------------------------------------

// [G 223] every call on a guest that would ignore the pin
SCENARIO("a pinned call to a guest that cannot be pinned sends nothing but the probe") {
  work_world f;
  f.agent.features({"execution-attach", "sessions", "quiesce", "flush", "quiesce-idle-only"});
  auto where = f.agent.where();
  where.pinned = guest_boot_id{"b"};
  auto refused = [](const auto& got) {
    if (got)
      return false;
    const auto told = guest::translate(got.error());
    const auto* why = std::get_if<guest::pin_refused>(&told);
    return why != nullptr && guest::to_string(why->reason) == "guest-unsupported";
  };
  sink taken;
  auto command = guest::command{};
  command.program = "job";
  const auto until = f.in(1min);
  CHECK(refused(f.ask(f.host->execute(where, command, taken, nullptr, until))));
  CHECK(refused(f.ask(f.host->read_file(where, "f", 10, until))));
  CHECK(refused(f.ask(f.host->write_file(where, "f", "x", until))));
  CHECK(refused(f.ask(f.work->run_detached(where, work_world::command(), f.output, until))));
  CHECK(refused(f.ask(f.work->attach(where, {fake_agent::id, 0}, f.output, until))));
  CHECK(refused(f.ask(f.work->cancel(where, fake_agent::id, until))));
  CHECK(refused(f.ask(f.work->sessions(where, until))));
  CHECK(refused(f.ask(f.work->start_detached(where, {"one", "job", {}, {}, {}}, until))));
  CHECK(refused(f.ask(f.work->kill_session(where, "one", {}, until))));
  CHECK(refused(f.ask(f.work->read_session(where, "one", 0, until))));
  CHECK(refused(f.ask(f.work->quiesce(where, {}, until))));
  CHECK(refused(f.ask(f.work->flush(where, {}, until))));
  const auto files = guest::make_file_host(f.time, *f.host);
  bytes_taken bytes;
  no_input nothing;
  CHECK(refused(f.ask(files->read(where, "f", {}, bytes, until))));
  CHECK(refused(f.ask(files->write(where, "f", nothing, 0, until))));
  CHECK(refused(f.ask(files->list(where, "d", until))));
  no_entries none;
  auto walk = guest::walk_request{};
  walk.root = "/d";
  walk.max_entries = 1;
  CHECK(refused(f.ask(files->walk(where, walk, none, until))));
  const auto streams = guest::make_stream_host(f.time);
  CHECK(refused(f.ask(streams->open_terminal(where, {}, until))));
  CHECK(refused(f.ask(streams->attach_session(where, {"one", 0, {}}, until))));
  CHECK(refused(f.ask(streams->open_tcp(where, "127.0.0.1", 80, until))));
  for (const auto& op : f.agent.ops())
    CHECK_EQ(op, "healthz");
}

SCENARIO("a pin is probed for itself, and then stands in every request") {
  work_world f;
  f.agent.on("quiesce", {send(json{{"ok", true}})});
  CHECK(f.ask(f.work->quiesce(f.agent.where(), {}, f.in(1min))).has_value());
  auto where = f.agent.where();
  where.pinned = guest_boot_id{"b"};
  for (auto n = 0; n < 2; ++n)
    CHECK(f.ask(f.work->quiesce(where, {}, f.in(1min))).has_value());
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "quiesce", "healthz", "quiesce", "quiesce"}));
  CHECK(!f.request("quiesce", 0).contains("expectedGuestBootId"));
  CHECK_EQ(f.request("quiesce", 1)["expectedGuestBootId"].get<std::string>(), "b");
  CHECK_EQ(f.request("quiesce", 2)["expectedGuestBootId"].get<std::string>(), "b");
}

SCENARIO("a pin that does not match is told by a stream as by a reply") {
  work_world f;
  f.agent.features({"pinned-guest", "read-file-stream", "sessions", "execution-attach"});
  const auto event = json{{"type", "error"}, {"error", "guest_mismatch"}, {"guestBootId", "other"}};
  for (const auto* op : {"read-file-stream", "attach-session", "attach-execution", "execute"})
    f.agent.on(op, {send(event), send_end()});
  auto where = f.agent.where();
  where.pinned = guest_boot_id{"b"};
  auto fresh = [](const auto& got) {
    return failed_with<guest::guest_mismatch>(got) ? std::get<guest::guest_mismatch>(got.error()).boot : std::nullopt;
  };
  const auto other = guest_boot_id{"other"};
  bytes_taken bytes;
  const auto files = guest::make_file_host(f.time, *f.host);
  CHECK_EQ(fresh(f.ask(files->read(where, "f", {}, bytes, f.in(1min)))), other);
  CHECK_EQ(fresh(f.ask(f.work->read_session(where, "one", 0, f.in(1min)))), other);
  CHECK_EQ(fresh(f.ask(f.work->attach(where, {fake_agent::id, 0}, f.output, f.in(1min)))), other);
  CHECK_EQ(fresh(f.ask(f.work->run_detached(where, work_world::command(), f.output, f.in(1min)))), other);
}

// -- readiness -------------------------------------------------------------------------

// [G 41] version 3
SCENARIO("a guest of another version ends the wait for readiness at once") {
  work_world f;
  f.agent.on("healthz", {send(json{{"ok", true}, {"protocolVersion", 3}, {"features", json::array()}})});
  const auto got = f.ask(guest::wait_for_ready(f.time, *f.host, f.agent.where(), 60s));
  CHECK(failed_with<guest::protocol_failure>(got));
  CHECK_EQ(f.agent.ops(), only_the_probe);
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration::zero());
}

SCENARIO("readiness is waited for until it comes, or the time is up") {
  work_world f;
  auto asked = std::make_shared<int>(0);
  f.agent.on("healthz", [asked](const json&) {
    if (++*asked < 3)
      return *asked == 1 ? agent_script{reset()} : agent_script{send(json{{"ok", false}})};
    return agent_script{send(json{{"ok", true}, {"protocolVersion", 2}})};
  });
  CHECK(f.ask(guest::wait_for_ready(f.time, *f.host, f.agent.where(), 60s)).has_value());
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{100ms});
  f.agent.on("healthz", {send(json{{"ok", false}, {"retiring", true}})});
  const auto got = f.ask(guest::wait_for_ready(f.time, *f.host, f.agent.where(), 1s));
  REQUIRE(failed_with<guest::lost>(got));
  CHECK_NE(guest::to_string(got.error()).find("1000ms: the guest is retiring"), std::string::npos);
}
