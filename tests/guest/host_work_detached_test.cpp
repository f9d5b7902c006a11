#define CAF_SUITE host_work_detached

// A detached run against a guest made of bytes ([G] 19.1).

#include "tests/guest/work_world.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const auto whole_text = std::string{"abcdefghijklmnopqrst"};

/// The rest of the log from where the request asks, in pieces of three, and the end.
agent_script replay(const json& request) {
  const auto from = request["body"]["fromOffset"].get<std::size_t>();
  auto script = agent_script{send(attached(from))};
  for (auto at = from; at < whole_text.size(); at += 3)
    script.push_back(send(delta(whole_text.substr(at, 3), at)));
  script.push_back(send(attach_end("completed", whole_text.size(), fake_agent::end_event(0))));
  script.push_back(send_end());
  return script;
}

agent_script whole_run() {
  auto script = agent_script{};
  for (std::size_t at = 0; at < whole_text.size(); at += 3)
    script.push_back(send(delta(whole_text.substr(at, 3), at)));
  script.push_back(send(fake_agent::end_event(0)));
  script.push_back(send_end());
  return script;
}

std::size_t size_of(const agent_script& script) {
  auto n = std::size_t{0};
  for (const auto& x : script)
    n += x.bytes.size();
  return n;
}

/// Runs once its own cancellation has come.
boost::asio::awaitable<work_world::run_end> run_when_withdrawn(work_world& f) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  auto lane = co_await boost::asio::this_coro::executor;
  auto bell = boost::asio::steady_timer{lane, boost::asio::steady_timer::time_point::max()};
  [[maybe_unused]] auto [ec] = co_await bell.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  auto got = co_await f.work->run_detached(f.agent.where(), work_world::command(), f.output, f.in(1h));
  co_return got;
}

} // namespace

SCENARIO("a detached run reserves its id, executes with a log and ends with the result") {
  work_world f;
  f.agent.on("execute", whole_run());
  const auto got = f.run();
  REQUIRE(got.has_value());
  CHECK_EQ(got->execution_id, fake_agent::id);
  CHECK_EQ(got->outcome, "completed");
  CHECK(got->started);
  CHECK_EQ(got->end.exit_code, 0);
  CHECK(got->end.lossy);
  CHECK_EQ(got->next_offset, whole_text.size());
  CHECK_EQ(got->dropped_bytes, 0u);
  CHECK_EQ(got->boot, guest_boot_id{fake_agent::boot});
  CHECK_EQ(f.output.out, whole_text);
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "reserve-execution", "execute"}));
  CHECK_EQ(f.request("reserve-execution")["body"]["executionId"].get<std::string>(), fake_agent::id);
  const auto body = f.request("execute")["body"];
  CHECK(body["retainOutput"].get<bool>());
  CHECK(!body.contains("outputEncoding"));
}

SCENARIO("a run without an id gets one of its own") {
  work_world f;
  f.agent.on("execute", whole_run());
  auto what = work_world::command();
  what.execution_id.reset();
  const auto got = f.run(std::move(what));
  REQUIRE(got.has_value());
  CHECK_EQ(got->execution_id.substr(0, 5), "exec_");
  CHECK_EQ(f.request("execute")["body"]["executionId"].get<std::string>(), got->execution_id);
}

SCENARIO("a guest with exec-bytes is asked for raw bytes, by the run and by the attach") {
  work_world f;
  f.agent.features({"execution-attach", "exec-bytes"});
  auto raw = [](const std::string& bytes, std::uint64_t at) {
    auto x = delta(to_base64(bytes), at);
    x["encoding"] = "base64";
    x["nextOffset"] = at + bytes.size();
    return x;
  };
  const auto first = std::string{"\xff\x00\xfe", 3};
  f.agent.on("execute", {send(raw(first, 0)), reset()});
  f.agent.on("attach-execution",
             {send(attached(3)), send(raw("\x80", 3)), send(attach_end("completed", 4, fake_agent::end_event(0))), send_end()});
  const auto got = f.run();
  REQUIRE(got.has_value());
  CHECK(!got->end.lossy);
  CHECK_EQ(f.output.out, first + "\x80");
  CHECK_EQ(f.request("execute")["body"]["outputEncoding"].get<std::string>(), "base64");
  CHECK_EQ(f.request("attach-execution")["body"]["outputEncoding"].get<std::string>(), "base64");
}

// [G 260] the connection breaks at every few bytes of the stream
SCENARIO("a detached run whose connection breaks has one process and all its output once") {
  const auto all = size_of(whole_run());
  for (std::size_t cut = 0; cut <= all; cut += 29) {
    work_world f;
    f.agent.on("execute", whole_run());
    f.agent.limit("execute", cut);
    f.agent.on("attach-execution", [](const json& request) { return replay(request); });
    const auto got = f.run();
    REQUIRE(got.has_value());
    CHECK_EQ(f.output.out, whole_text);
    CHECK_EQ(f.agent.count("execute"), 1u);
    CHECK_EQ(f.agent.count("cancel-execution"), 0u);
    CHECK(!got->end.out_truncated);
    CHECK_EQ(got->dropped_bytes, 0u);
    CHECK(std::ranges::is_sorted(f.output.offsets));
    CHECK_LE(f.time.elapsed(), time_source::clock::duration{30s});
  }
}

SCENARIO("each stream that is lost after it was attached opens a new window") {
  work_world f;
  f.agent.on("execute", {send(delta("a", 0)), reset()});
  auto times = std::make_shared<int>(0);
  f.agent.on("attach-execution", [times](const json& request) {
    const auto from = request["body"]["fromOffset"].get<std::uint64_t>();
    // Twice it takes long after the attach, which the window of getting back does not count.
    if (++*times <= 2)
      return agent_script{send(attached(from)), send(delta("b", from)), wait_for("later"), reset()};
    return agent_script{send(attached(from)), send(attach_end("completed", from, fake_agent::end_event(3))), send_end()};
  });
  auto flow = f.start();
  for (auto n = std::size_t{1}; n <= 2; ++n) {
    run_with_sockets(f.context, f.time, [&] { return f.agent.count("attach-execution") == n && f.output.both.size() == n + 1; });
    f.time.advance(40s);
    run_ready(f.context);
    CHECK(!flow.done());
    if (n == 1)
      f.agent.open("later");
  }
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 3);
  CHECK_EQ(f.output.out, "abb");
}

// [G 261] two hosts, one id
SCENARIO("two hosts that start the same id get the result of one process") {
  work_world f;
  const auto other = guest::make_work_host(f.time);
  collected_log elsewhere;
  auto executed = std::make_shared<int>(0);
  f.agent.on("execute", [executed](const json&) {
    if (++*executed > 1)
      return agent_script{send(refusal_event("execution_not_reserved: running")), send_end()};
    return agent_script{send(delta("hello", 0)), wait_for("end"), send(fake_agent::end_event(5)), send_end()};
  });
  f.agent.on("attach-execution", {send(attached(0)), send(delta("hello", 0)), wait_for("end"),
                                  send(attach_end("completed", 5, fake_agent::end_event(5))), send_end()});
  auto one = f.start();
  auto two = start_flow(f.context, other->run_detached(f.agent.where(), work_world::command(), elsewhere, f.in(1h)));
  f.until_asked("attach-execution");
  f.agent.open("end");
  const auto first = f.finish(one);
  const auto second = f.finish(two);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK_EQ(first->end.exit_code, 5);
  CHECK_EQ(second->end.exit_code, 5);
  CHECK_EQ(f.output.out, "hello");
  CHECK_EQ(elsewhere.out, "hello");
  // Both asked, one command was started: the other was told so, and attached.
  CHECK_EQ(f.agent.count("execute"), 2u);
  CHECK_EQ(f.agent.count("attach-execution"), 1u);
}

SCENARIO("an id that somebody has started is attached to, not executed") {
  work_world f;
  f.agent.on("reserve-execution", [](const json&) {
    auto x = fake_agent::reservation();
    x["state"] = "running";
    return agent_script{send(x)};
  });
  f.agent.on("attach-execution", {send(attached(0)), send(attach_end("completed", 0, fake_agent::end_event(0))), send_end()});
  CHECK(f.run().has_value());
  CHECK_EQ(f.agent.count("execute"), 0u);
}

// [G 262] told to stop observing
SCENARIO("a run that is told to leave says where it stood and leaves the command running") {
  work_world f;
  f.agent.on("execute", {send(delta("abc", 0)), watch()});
  auto flow = f.start();
  run_until(f.context, [&] { return f.output.out == "abc"; });
  f.output.leave();
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::execution_detached>(got));
  const auto& why = std::get<guest::execution_detached>(got.error());
  CHECK_EQ(why.execution_id, fake_agent::id);
  CHECK_EQ(why.output_offset, 3u);
  // The connection was closed, and nothing was said to the guest about it.
  run_until(f.context, [&] { return f.agent.ended() == f.agent.connections(); });
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "reserve-execution", "execute"}));
}

// [G 263] nobody there for the whole window
SCENARIO("a guest that is unreachable for the window ends the run without a cancel") {
  work_world f;
  f.agent.on("execute", {send(delta("abc", 0)), wait_for("gone"), reset()});
  auto flow = f.start();
  run_until(f.context, [&] { return f.output.out == "abc"; });
  f.agent.stop_listening();
  f.agent.open("gone");
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::execution_detached>(got));
  CHECK_EQ(std::get<guest::execution_detached>(got.error()).output_offset, 3u);
  CHECK_EQ(f.agent.count("cancel-execution"), 0u);
  CHECK_EQ(f.agent.count("execute"), 1u);
  CHECK_GE(f.time.elapsed(), time_source::clock::duration{29s});
  CHECK_LE(f.time.elapsed(), time_source::clock::duration{31s});
}

// [G 264] eviction between attaches
SCENARIO("bytes that were evicted are a gap, and mark both streams") {
  work_world f;
  f.agent.on("execute", {send(delta("abc", 0)), reset()});
  f.agent.on("attach-execution",
             {send(attached(10, 7)), send(delta("xyz", 10)), send(attach_end("completed", 13, fake_agent::end_event(0))), send_end()});
  const auto got = f.run();
  REQUIRE(got.has_value());
  CHECK(got->end.out_truncated);
  CHECK(got->end.err_truncated);
  CHECK_EQ(got->dropped_bytes, 7u);
  CHECK_EQ(got->next_offset, 13u);
  REQUIRE_EQ(f.output.gaps.size(), 1u);
  CHECK_EQ(f.output.gaps[0].first, 10u);
  CHECK_EQ(f.output.gaps[0].second, 7u);
}

// [G 265] a delta without its place
SCENARIO("a retained delta without nextOffset is no protocol") {
  work_world f;
  f.agent.on("execute", {send(json{{"type", "stdout_delta"}, {"data", "abc"}, {"offset", 0}}), watch()});
  CHECK(failed_with<guest::protocol_failure>(f.run()));
  CHECK_EQ(f.output.out, "");
}

SCENARIO("a place in the log that goes back is no protocol") {
  {
    work_world f;
    f.agent.on("execute", {send(delta("abc", 0)), send(delta("b", 1)), watch()});
    CHECK(failed_with<guest::protocol_failure>(f.run()));
    CHECK_EQ(f.output.out, "abc");
  }
  work_world f;
  f.agent.on("execute", {send(delta("abc", 0)), reset()});
  f.agent.on("attach-execution",
             {send(attached(3)), send(delta("de", 3)), send(attach_end("completed", 4, fake_agent::end_event(0))), send_end()});
  const auto got = f.run();
  REQUIRE(failed_with<guest::execution_detached>(got));
  CHECK_EQ(std::get<guest::execution_detached>(got.error()).output_offset, 5u);
  CHECK_EQ(f.output.out, "abcde");
}

// [G 266] cancelled, and confirmed
SCENARIO("a cancelled run resolves with the cancelled result") {
  work_world f;
  f.agent.on("execute",
             {send(delta("abc", 0)), wait_for("killed"), send(delta("d", 3)), send(fake_agent::killed_event("SIGTERM")), send_end()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true, fake_agent::killed_event("SIGTERM")))});
  auto flow = f.start();
  run_until(f.context, [&] { return f.output.out == "abc"; });
  flow.cancel();
  f.until_asked("cancel-execution");
  f.agent.open("killed");
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->outcome, "cancelled");
  CHECK(got->started);
  CHECK_EQ(got->end.signal, "SIGTERM");
  CHECK_EQ(f.output.out, "abcd");
  CHECK_EQ(f.agent.count("cancel-execution"), 1u);
  CHECK_EQ(f.request("cancel-execution")["body"]["executionId"].get<std::string>(), fake_agent::id);
}

SCENARIO("a cancelled run that had lost its connection gets its end through an attach") {
  work_world f;
  f.agent.on("execute", {send(delta("abc", 0)), wait_for("lost"), reset()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true))});
  f.agent.on("attach-execution", {send(attached(3)), send(attach_end("cancelled", 3, fake_agent::killed_event("SIGKILL"))), send_end()});
  auto flow = f.start();
  run_until(f.context, [&] { return f.output.out == "abc"; });
  flow.cancel();
  f.until_asked("cancel-execution");
  f.agent.open("lost");
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->outcome, "cancelled");
  CHECK_EQ(got->end.signal, "SIGKILL");
}

SCENARIO("a cancel that is not confirmed is the cause of a detached run") {
  work_world f;
  f.agent.on("execute", {send(delta("abc", 0)), watch()});
  f.agent.on("cancel-execution", {watch()});
  auto flow = f.start();
  run_until(f.context, [&] { return f.output.out == "abc"; });
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::execution_detached>(got));
  CHECK_NE(guest::to_string(got.error()).find("may still be running"), std::string::npos);
  CHECK_GE(f.time.elapsed(), time_source::clock::duration{8s});
}

SCENARIO("a command that was cancelled before it started ends as cancelled") {
  work_world f;
  f.agent.on("execute", {wait_for("late"), send(refusal_event("execution_not_reserved: terminal")), send_end()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", false, fake_agent::end_event(1)))});
  auto flow = f.start();
  f.until_asked("execute");
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->outcome, "cancelled");
  CHECK(!got->started);
  CHECK_EQ(got->end.exit_code, 1);
}

SCENARIO("a run that was withdrawn before it began sends nothing") {
  work_world f;
  auto flow = start_flow(f.context, run_when_withdrawn(f));
  run_ready(f.context);
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->outcome, "cancelled");
  CHECK(!got->started);
  CHECK_EQ(got->end.exit_code, 1);
  CHECK_EQ(f.agent.connections(), 0u);
}

SCENARIO("a run that is left running says so once it has started") {
  work_world f;
  f.agent.on("execute", {wait_for("never"), watch()});
  auto asked = std::make_shared<int>(0);
  f.agent.on("attach-execution", [asked](const json&) {
    if (++*asked == 1) {
      auto x = refusal_event("output_not_retained");
      x["state"] = "reserved";
      return agent_script{send(x), send_end()};
    }
    return agent_script{send(attached(0, 0, *asked == 2 ? "starting" : "running")), watch()};
  });
  const auto got = f.run(work_world::command(true));
  REQUIRE(failed_with<guest::execution_detached>(got));
  CHECK_EQ(std::get<guest::execution_detached>(got.error()).execution_id, fake_agent::id);
  CHECK(std::get<guest::execution_detached>(got.error()).left);
  CHECK_EQ(*asked, 3);
  CHECK_EQ(f.agent.count("cancel-execution"), 0u);
}

SCENARIO("a run to be left that somebody else is starting is left once it has started") {
  for (const auto starts : {true, false}) {
    work_world f;
    f.agent.on("reserve-execution", [](const json&) {
      auto x = fake_agent::reservation();
      x["state"] = "starting";
      return agent_script{send(x)};
    });
    auto asked = std::make_shared<int>(0);
    f.agent.on("attach-execution", [asked, starts, &f](const json&) {
      if (++*asked < 4)
        return agent_script{send(attached(0, 0, "starting")), wait_for("late"), send(refusal_event("spawn job ENOENT")), send_end()};
      if (starts)
        return agent_script{send(attached(0)), watch()};
      f.agent.open("late");
      return agent_script{send(attached(0, 0, "terminal")), watch()};
    });
    const auto got = f.run(work_world::command(true));
    REQUIRE(failed_with<guest::execution_detached>(got));
    CHECK_EQ(std::get<guest::execution_detached>(got.error()).left, starts);
    CHECK_GE(*asked, 4);
    CHECK_EQ(f.agent.count("execute"), 0u);
    CHECK_EQ(f.agent.count("cancel-execution"), 0u);
  }
}

SCENARIO("a caller who has seen enough of a command that is being started is not told that it runs") {
  for (const auto* state : {"starting", "running"}) {
    work_world f;
    f.agent.on("reserve-execution", [](const json&) {
      auto x = fake_agent::reservation();
      x["state"] = "starting";
      return agent_script{send(x)};
    });
    f.agent.on("attach-execution", {send(attached(0, 7, state)), watch()});
    auto flow = f.start();
    run_until(f.context, [&] { return !f.output.gaps.empty(); }); // `attached` has been heard
    f.output.leave();
    const auto got = f.finish(flow);
    REQUIRE(failed_with<guest::execution_detached>(got));
    CHECK_EQ(std::get<guest::execution_detached>(got.error()).left, std::string{state} == "running");
  }
}

SCENARIO("a run whose execute was lost before the guest read it says that it never started") {
  for (const auto leave : {false, true}) {
    work_world f;
    f.agent.on("execute", {reset()});
    auto x = refusal_event("output_not_retained");
    x["state"] = "reserved";
    f.agent.on("attach-execution", {send(x), send_end()});
    const auto got = f.run(work_world::command(leave));
    REQUIRE(failed_with<guest::execution_detached>(got));
    CHECK_NE(guest::to_string(got.error()).find("never started"), std::string::npos);
    CHECK(!std::get<guest::execution_detached>(got.error()).left);
  }
}

SCENARIO("a run to be left whose command could not be started is not told as running") {
  work_world f;
  f.agent.on("execute", {wait_for("late"), send(refusal_event("spawn job ENOENT")), send_end()});
  f.agent.on("attach-execution", [&f](const json&) {
    f.agent.open("late");
    return agent_script{send(attached(0, 0, "terminal")), watch()};
  });
  CHECK(failed_with<guest::command_failed>(f.run(work_world::command(true))));
}

SCENARIO("what refuses a run for good is told as it is") {
  work_world f;
  f.agent.on("execute", {send(refusal_event("spawn job ENOENT")), send_end()});
  CHECK(failed_with<guest::command_failed>(f.run()));
  f.agent.on("execute", {send(refusal("unauthorized"))});
  CHECK(failed_with<guest::unauthorized>(f.run()));
  f.agent.on("execute", {send(refusal("agent_retiring"))});
  CHECK(failed_with<guest::retiring>(f.run()));
  f.agent.on("execute", {send(json{{"type", "error"}, {"error", "guest_mismatch"}, {"guestBootId", "other"}}), send_end()});
  const auto got = f.run();
  REQUIRE(failed_with<guest::guest_mismatch>(got));
  CHECK_EQ(std::get<guest::guest_mismatch>(got.error()).boot, guest_boot_id{"other"});
  f.agent.on("reserve-execution", {send(refusal("execution_capacity"))});
  CHECK(failed_with<guest::protocol_failure>(f.run()));
  auto another = fake_agent::reservation();
  another["executionId"] = "exec_00000000-0000-4000-8000-000000000000";
  f.agent.on("reserve-execution", {send(another)});
  CHECK(failed_with<guest::protocol_failure>(f.run()));
  CHECK_EQ(f.agent.count("cancel-execution"), 0u);
}

SCENARIO("a guest without execution-attach is refused before any reservation") {
  work_world f;
  f.agent.features({"sessions"});
  const auto got = f.run();
  REQUIRE(failed_with<guest::unsupported>(got));
  CHECK_EQ(guest::reason_of(got.error()), "ExecutionAttachUnsupported");
  CHECK_EQ(f.agent.ops(), std::vector<std::string>{"healthz"});
  auto bad = work_world::command();
  bad.execution_id = "exec_1";
  CHECK(failed_with<guest::protocol_failure>(f.run(std::move(bad))));
  CHECK_EQ(f.agent.connections(), 1u);
}

SCENARIO("the observation ends ten seconds beyond the limit of the command") {
  work_world f;
  f.agent.on("execute", {watch()});
  auto what = work_world::command();
  what.what.limit = 20s;
  CHECK(failed_with<guest::execution_detached>(f.run(std::move(what))));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{30s});
  CHECK_EQ(f.agent.count("cancel-execution"), 0u);
}

// -- attach ----------------------------------------------------------------------

SCENARIO("an attach gives the log from where it is asked") {
  work_world f;
  f.agent.on("attach-execution", [](const json& request) { return replay(request); });
  const auto got = f.attach(5);
  REQUIRE(got.has_value());
  CHECK_EQ(f.output.out, whole_text.substr(5));
  CHECK_EQ(got->outcome, "completed");
  CHECK_EQ(got->next_offset, whole_text.size());
}

SCENARIO("an attach that is cancelled only stops observing") {
  work_world f;
  f.agent.on("attach-execution", {send(attached(0)), send(delta("abc", 0)), watch()});
  auto flow = start_flow(f.context, f.work->attach(f.agent.where(), {fake_agent::id, 0}, f.output, f.in(1h)));
  run_until(f.context, [&] { return f.output.out == "abc"; });
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::execution_detached>(got));
  CHECK_EQ(std::get<guest::execution_detached>(got.error()).output_offset, 3u);
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "attach-execution"}));
}

SCENARIO("an attach that is refused says why") {
  work_world f;
  auto reason = [&](json event) {
    f.agent.on("attach-execution", {send(event), send_end()});
    const auto got = f.attach();
    return failed_with<guest::not_attachable>(got) ? std::get<guest::not_attachable>(got.error()).reason : std::string{};
  };
  for (const auto* code : {"unknown_execution", "output_not_retained", "invalid_offset", "invalid_execution_id", "agent_retiring"})
    CHECK_EQ(reason(refusal_event(code)), code);
  CHECK_EQ(reason(refusal_event("quiesce_in_progress")), "unknown");
  auto x = refusal_event("output_not_retained");
  x["state"] = "running";
  f.agent.on("attach-execution", {send(x), send_end()});
  const auto got = f.attach();
  REQUIRE(failed_with<guest::not_attachable>(got));
  CHECK_EQ(std::get<guest::not_attachable>(got.error()).state, "running");
}

SCENARIO("an attach that loses its stream says where to go on") {
  work_world f;
  f.agent.on("attach-execution", {send(attached(2)), send(delta("abc", 2)), reset()});
  const auto got = f.attach(2);
  REQUIRE(failed_with<guest::execution_detached>(got));
  CHECK_EQ(std::get<guest::execution_detached>(got.error()).output_offset, 5u);
  f.agent.on("attach-execution", {reset()});
  CHECK(failed_with<guest::lost>(f.attach()));
}

SCENARIO("an execution that failed without a result is the command's failure") {
  work_world f;
  auto end = attach_end("failed", 0, fake_agent::end_event(0));
  end.erase("result");
  end["error"] = "spawn job ENOENT";
  f.agent.on("attach-execution", {send(attached(0, 0, "terminal")), send(end), send_end()});
  const auto got = f.attach();
  REQUIRE(failed_with<guest::command_failed>(got));
  CHECK_EQ(std::get<guest::command_failed>(got.error()).text, "spawn job ENOENT");
}

// -- the confirmed cancel ------------------------------------------------------------

// [G 267] nothing known under that id
SCENARIO("a cancel of an unknown execution is refused at once") {
  work_world f;
  const auto got = f.ask(f.work->cancel(f.agent.where(), fake_agent::id, f.in(1h)));
  REQUIRE(failed_with<guest::not_attachable>(got));
  CHECK_EQ(std::get<guest::not_attachable>(got.error()).reason, "unknown_execution");
  CHECK_EQ(f.agent.count("cancel-execution"), 1u);
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration::zero());
}

SCENARIO("a cancel is repeated until a known state confirms it, or the window is spent") {
  work_world f;
  auto asked = std::make_shared<int>(0);
  f.agent.on("cancel-execution", [asked](const json&) {
    switch (++*asked) {
      case 1: return agent_script{reset()};
      case 2: return agent_script{send(refusal("cancellation_unconfirmed"))};
      case 3: return agent_script{send(json{{"ok", true}, {"state", "odd"}})};
      default: return agent_script{send(json{{"ok", true}, {"state", "completed"}})};
    }
  });
  CHECK(f.ask(f.work->cancel(f.agent.where(), fake_agent::id, f.in(1h))).has_value());
  CHECK_EQ(*asked, 4);
  f.agent.on("cancel-execution", {watch()});
  const auto before = f.time.elapsed();
  const auto got = f.ask(f.work->cancel(f.agent.where(), fake_agent::id, f.in(1h)));
  CHECK(failed_with<guest::cancellation_unknown>(got));
  CHECK_EQ(f.time.elapsed() - before, time_source::clock::duration{8s});
  f.agent.on("cancel-execution", {send(refusal("unauthorized"))});
  CHECK(failed_with<guest::unauthorized>(f.ask(f.work->cancel(f.agent.where(), fake_agent::id, f.in(1h)))));
}
