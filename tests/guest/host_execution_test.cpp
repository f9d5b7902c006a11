#define CAF_SUITE host_execution

#include "base/base64.hpp"
#include "guest/flows/transport.hpp"
#include "tests/support/fake_agent.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <deque>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;
using elapsed = time_source::clock::duration;

namespace {

constexpr auto quietly = boost::asio::as_tuple(boost::asio::use_awaitable);

/// Takes output at once, or holds every piece until `let_go`. Ends when it is cancelled.
class sink final : public guest::output_sink {
public:
  boost::asio::awaitable<void> take(guest::stream which, std::string bytes) override {
    (which == guest::stream::out ? out : err) += bytes;
    largest = std::max(largest, bytes.size());
    ++pieces;
    while (held) {
      auto lane = co_await boost::asio::this_coro::executor;
      bell = std::make_shared<boost::asio::steady_timer>(lane, boost::asio::steady_timer::time_point::max());
      auto [ec] = co_await bell->async_wait(quietly);
      if (ec && held)
        throw boost::system::system_error{boost::asio::error::operation_aborted};
    }
  }
  void let_go() {
    held = false;
    if (bell)
      bell->cancel();
  }
  std::string out;
  std::string err;
  std::size_t pieces = 0;
  std::size_t largest = 0;
  bool held = false;
  std::shared_ptr<boost::asio::steady_timer> bell;
};

/// Gives its pieces, then the end, or never the end.
class source final : public guest::input_source {
public:
  explicit source(std::deque<std::string> all, bool with_end = true) : pieces(std::move(all)), ends(with_end) {
  }
  boost::asio::awaitable<std::string> next() override {
    ++asked;
    if (pieces.empty() && !ends) {
      auto lane = co_await boost::asio::this_coro::executor;
      auto bell = boost::asio::steady_timer{lane, boost::asio::steady_timer::time_point::max()};
      co_await bell.async_wait(boost::asio::use_awaitable);
    }
    if (pieces.empty())
      co_return std::string{};
    auto piece = std::move(pieces.front());
    pieces.pop_front();
    co_return piece;
  }
  std::deque<std::string> pieces;
  bool ends;
  std::size_t asked = 0;
};

template <class T>
bool failed_with(const auto& got) {
  return !got && std::holds_alternative<T>(got.error());
}

guest::command run(std::string line) {
  return {"/bin/sh", {"-c", std::move(line)}, {}, {}, {}, false};
}

agent_step out(const std::string& text) {
  return send(json{{"type", "stdout_delta"}, {"data", text}});
}
agent_step err(const std::string& text) {
  return send(json{{"type", "stderr_delta"}, {"data", text}});
}
agent_step raw_out(const std::string& bytes) {
  return send(json{{"type", "stdout_delta"}, {"encoding", "base64"}, {"data", to_base64(bytes)}});
}
agent_step ended(int code) {
  return send(fake_agent::end_event(code));
}

boost::asio::awaitable<guest::result<guest::execution>> execute_when_withdrawn(guest::host& host, guest::endpoint where, sink& to,
                                                                               deadline until) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  auto lane = co_await boost::asio::this_coro::executor;
  auto bell = boost::asio::steady_timer{lane, boost::asio::steady_timer::time_point::max()};
  [[maybe_unused]] auto [ec] = co_await bell.async_wait(quietly);
  auto got = co_await host.execute(std::move(where), run("x"), to, nullptr, until);
  co_return got;
}

struct fixture {
  boost::asio::io_context context;
  manual_time time;
  fake_agent agent{context};
  std::unique_ptr<guest::host> host = guest::make_host(time);
  sink output;

  using flow = started<guest::result<guest::execution>>;

  flow start(guest::command what, guest::input_source* input = nullptr, elapsed budget = 1h) {
    return start_flow(context, host->execute(agent.where(), std::move(what), output, input, deadline{time, budget}));
  }
  template <class T>
  T finish(started<T> it) {
    run_with_sockets(context, time, [&] { return it.done(); });
    return std::move(it.get());
  }
  guest::result<guest::execution> execute(guest::command what, guest::input_source* input = nullptr, elapsed budget = 1h) {
    return finish(start(std::move(what), input, budget));
  }
  void until_asked(const std::string& op, std::size_t times = 1) {
    run_until(context, [&] { return agent.count(op) >= times; });
  }
  [[nodiscard]] json request(const std::string& op) const {
    for (const auto& x : agent.requests())
      if (x.value("op", "") == op)
        return x;
    return {};
  }
};

} // namespace

// -- the main path ---------------------------------------------------------------

SCENARIO("a command is reserved, executed and ends with its exit code and output") {
  fixture f;
  f.agent.on("execute", {out("caf\xc3\xa9"), err("oops"), out("!"), ended(7), send_end()});
  const auto got = f.execute(run("x"));
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 7);
  CHECK(got->end.took == 7ms);
  CHECK(got->end.lossy);
  CHECK_EQ(got->boot, guest_boot_id{fake_agent::boot});
  CHECK_EQ(f.output.out, "caf\xc3\xa9!");
  CHECK_EQ(f.output.err, "oops");
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "reserve-execution", "execute"}));
  CHECK_EQ(f.agent.connections(), 3u);
  CHECK(f.request("execute")["token"] == "pod-uid");
  CHECK(f.request("execute")["body"]["executionId"] == fake_agent::id);
  CHECK(!f.request("reserve-execution").contains("body"));
}

SCENARIO("features are asked for once an endpoint") {
  fixture f;
  f.agent.on("execute", {ended(0), send_end()});
  CHECK(f.execute(run("x")).has_value());
  CHECK(f.execute(run("y")).has_value());
  CHECK_EQ(f.agent.count("healthz"), 1u);
}

// [G 43] a failed feature probe is not remembered
SCENARIO("a failed feature probe fails the call, and the next call asks again") {
  fixture f;
  f.agent.on("healthz", agent_script{});
  f.agent.on("execute", {ended(0), send_end()});
  CHECK(failed_with<guest::lost>(f.execute(run("x"))));
  CHECK_EQ(f.agent.ops(), std::vector<std::string>{"healthz"});
  f.agent.on("healthz", {send({{"ok", true}, {"protocolVersion", 2}, {"features", json::array()}})});
  CHECK(f.execute(run("x")).has_value());
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "healthz", "reserve-execution", "execute"}));
}

SCENARIO("a guest with exec-bytes gives raw bytes") {
  fixture f;
  const auto bytes = std::string{"\0\xff\xc3", 3};
  f.agent.features({"exec-bytes"});
  f.agent.on("execute", {raw_out(bytes), ended(0), send_end()});
  const auto got = f.execute(run("x"));
  REQUIRE(got.has_value());
  CHECK(!got->end.lossy);
  CHECK_EQ(f.output.out, bytes);
  CHECK(f.request("execute")["body"]["outputEncoding"] == "base64");
  CHECK(!f.request("execute")["body"].contains("stdinStream"));
}

SCENARIO("white space between events is skipped") {
  fixture f;
  f.agent.on("execute", {send(guest::to_frame(" \n\t")), out("a"), ended(0), send_end()});
  CHECK(f.execute(run("x")).has_value());
  CHECK_EQ(f.output.out, "a");
}

// -- input -----------------------------------------------------------------------

SCENARIO("a guest with exec-bytes is fed in frames of at most 64 KiB and told the end") {
  fixture f;
  auto input = source{{std::string(100'000, 'a'), "b"}};
  f.agent.features({"exec-bytes"});
  f.agent.on("execute", {read_input(), ended(0), send_end()});
  const auto got = f.execute(run("cat"), &input);
  REQUIRE(got.has_value());
  CHECK(f.request("execute")["body"]["stdinStream"] == true);
  auto all = std::string{};
  for (const auto& x : f.agent.input())
    if (x["type"] == "stdin") {
      const auto piece = from_base64(x["data"].get<std::string>());
      CHECK_LE(piece->size(), 65'536u);
      all += *piece;
    }
  CHECK_EQ(all, std::string(100'000, 'a') + "b");
  REQUIRE(!f.agent.input().empty());
  CHECK(f.agent.input().back() == (json{{"type", "stdin_end"}}));
}

SCENARIO("output is read while the guest does not take input") {
  fixture f;
  auto pieces = std::deque<std::string>(400, std::string(65'536, 'x'));
  auto input = source{pieces};
  f.agent.features({"exec-bytes"});
  f.agent.on("execute", {raw_out("ready"), wait_for("read"), ended(0), send_end(), half_close(), watch()});
  auto flow = f.start(run("x"), &input);
  run_until(f.context, [&] { return f.output.out == "ready"; });
  const auto asked = [&] {
    run_ready(f.context);
    return input.asked;
  };
  // The input stops moving once the socket buffers are full, far from its end.
  auto before = asked();
  for (auto now = asked(); now != before; now = asked())
    before = now;
  CHECK_LT(before, 400u);
  f.agent.open("read");
  // The command ends without having read any of it.
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 0);
}

SCENARIO("a command that ends while the caller has no input yet ends the call") {
  fixture f;
  auto input = source{{}, false};
  f.agent.features({"exec-bytes"});
  f.agent.on("execute", {ended(3), send_end()});
  const auto got = f.execute(run("true"), &input);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 3);
}

SCENARIO("a guest of text gets its whole input in the request") {
  fixture f;
  auto input = source{{"ab", "c\xc3", "\xa9"}};
  f.agent.on("execute", {out("x"), ended(0), send_end()});
  CHECK(f.execute(run("cat"), &input).has_value());
  CHECK(f.request("execute")["body"]["stdin"] == "abc\xc3\xa9");
}

SCENARIO("input that a guest of text cannot take is refused before anything is reserved") {
  fixture f;
  auto binary = source{{"\xff"}};
  const auto got = f.execute(run("cat"), &binary);
  REQUIRE(failed_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(got.error()).code, "stdin_not_text");
  auto large = source{std::deque<std::string>(1000, std::string(65'536, 'x'))};
  CHECK(failed_with<guest::frame_too_large>(f.execute(run("cat"), &large)));
  // It stops reading once it knows.
  CHECK_LT(large.asked, 140u);
  CHECK_EQ(f.agent.ops(), std::vector<std::string>{"healthz"});
}

SCENARIO("a command that does not fit a request is refused before anything is dialed") {
  fixture f;
  CHECK(failed_with<guest::frame_too_large>(f.execute(run(std::string(9'000'000, 'x')))));
  run_ready(f.context);
  CHECK_EQ(f.agent.connections(), 0u);
}

// -- back-pressure ---------------------------------------------------------------

SCENARIO("a guest is read no faster than its output is taken") {
  fixture f;
  auto script = agent_script{};
  for (auto i = 0; i < 500; ++i)
    script.push_back(out(std::string(65'536, 'x')));
  script.push_back(ended(0));
  script.push_back(send_end());
  f.agent.on("execute", script);
  f.output.held = true;
  auto flow = f.start(run("yes"));
  run_until(f.context, [&] { return f.output.pieces == 1; });
  auto before = std::size_t{0};
  while (before != f.agent.sent()) {
    before = f.agent.sent();
    f.context.restart();
    f.context.run_for(50ms);
  }
  // What has left the guest sits in socket buffers; not one more piece has been taken.
  CHECK_EQ(f.output.pieces, 1u);
  CHECK_LT(f.agent.sent(), 500u * 65'536u);
  f.output.let_go();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(f.output.out.size(), 500u * 65'536u);
  CHECK_EQ(f.output.largest, 65'536u);
}

// -- before anything was started -------------------------------------------------

// [G 238] withdrawn before it began
SCENARIO("a call that was withdrawn before it began dials nothing") {
  fixture f;
  // Withdrawn first: the caller is inside its own coroutine when it hears of it.
  auto flow = start_flow(f.context, execute_when_withdrawn(*f.host, f.agent.where(), f.output, deadline{f.time, 1h}));
  run_ready(f.context);
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 1);
  CHECK(!got->end.timed_out);
  CHECK(f.output.out.empty());
  CHECK(f.output.err.empty());
  run_ready(f.context);
  CHECK_EQ(f.agent.connections(), 0u);
}

SCENARIO("a call whose time is up before it began dials nothing") {
  fixture f;
  CHECK(failed_with<guest::lost>(f.execute(run("x"), nullptr, 0s)));
  run_ready(f.context);
  CHECK_EQ(f.agent.connections(), 0u);
}

SCENARIO("a call withdrawn during its reservation ends without a command and without a cancel") {
  fixture f;
  f.agent.on("reserve-execution", {watch()});
  auto flow = f.start(run("x"));
  f.until_asked("reserve-execution");
  flow.cancel();
  run_until(f.context, [&] { return flow.done(); });
  REQUIRE(flow.get().has_value());
  CHECK_EQ(flow.get()->end.exit_code, 1);
  run_until(f.context, [&] { return f.agent.ended() == 2; });
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "reserve-execution"}));
}

// [G 239] a reservation that is not answered
SCENARIO("a reservation that is not answered within two seconds fails with its name") {
  fixture f;
  f.agent.on("reserve-execution", {watch()});
  const auto got = f.execute(run("x"));
  REQUIRE(failed_with<guest::lost>(got));
  CHECK_EQ(std::get<guest::lost>(got.error()).text, "kubernetes pod-network agent execution reservation exceeded 2000ms");
  CHECK_EQ(f.time.elapsed(), elapsed{2s});
  CHECK_EQ(f.agent.count("execute"), 0u);
}

SCENARIO("a guest that cannot be reached is known not to have been reached") {
  fixture f;
  CHECK(f.finish(start_flow(f.context, f.host->look(f.agent.where(), deadline{f.time, 10s}))).has_value());
  const auto where = f.agent.where();
  f.agent.stop_listening();
  auto flow = start_flow(f.context, f.host->execute(where, run("x"), f.output, nullptr, deadline{f.time, 1h}));
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::dial_failed>(got));
  CHECK_LE(f.time.elapsed(), elapsed{2s});
}

SCENARIO("a refusal of the reservation is passed on by its type, and nothing follows") {
  fixture f;
  f.agent.on("reserve-execution", {send({{"ok", false}, {"error", "unauthorized"}})});
  CHECK(failed_with<guest::unauthorized>(f.execute(run("x"))));
  f.agent.on("reserve-execution", {send({{"ok", false}, {"error", "agent_retiring"}})});
  CHECK(failed_with<guest::retiring>(f.execute(run("x"))));
  f.agent.on("reserve-execution", {send({{"ok", true}, {"protocolVersion", 2}, {"executionId", "exec_1"}, {"leaseExpiresAt", 1}})});
  CHECK(failed_with<guest::protocol_failure>(f.execute(run("x"))));
  CHECK_EQ(f.agent.count("execute"), 0u);
  CHECK_EQ(f.agent.count("cancel-execution"), 0u);
}

// -- the stream fails ------------------------------------------------------------

// [G 242] a lost stream of a command that had started
SCENARIO("a lost stream of a started command is incomplete, with the confirmed state") {
  fixture f;
  f.agent.on("execute", {out("half")});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("completed", true, fake_agent::end_event(0)))});
  const auto got = f.execute(run("x"));
  REQUIRE(failed_with<guest::result_incomplete>(got));
  const auto& why = std::get<guest::result_incomplete>(got.error());
  CHECK_EQ(why.state, "completed");
  CHECK(why.started);
  CHECK_EQ(f.output.out, "half");
  CHECK(f.request("cancel-execution")["body"]["executionId"] == fake_agent::id);
}

// [G 243] a lost stream of a command that had not started
SCENARIO("a lost stream of a command that never started is the loss itself") {
  fixture f;
  f.agent.on("execute", agent_script{});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", false))});
  const auto got = f.execute(run("x"));
  REQUIRE(failed_with<guest::lost>(got));
  CHECK_EQ(std::get<guest::lost>(got.error()).text, "closed before exec stream terminator");
}

// [G 244] a program that cannot be started
SCENARIO("a program that cannot be started is the command's failure") {
  fixture f;
  f.agent.on("execute", {send({{"type", "error"}, {"error", "spawn nope ENOENT"}}), send_end()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("failed", true))});
  const auto got = f.execute(run("nope"));
  REQUIRE(failed_with<guest::command_failed>(got));
  CHECK_EQ(std::get<guest::command_failed>(got.error()).text, "spawn nope ENOENT");
}

// [G 253] a reset after the request
SCENARIO("a connection that is reset after the request was written is not tried again") {
  fixture f;
  f.agent.on("execute", {reset()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", false))});
  CHECK(failed_with<guest::lost>(f.execute(run("x"))));
  CHECK_EQ(f.agent.count("reserve-execution"), 1u);
  CHECK_EQ(f.agent.count("execute"), 1u);
}

SCENARIO("a guest that closes after n bytes of its stream never gives a result before the last") {
  auto script = agent_script{out("one"), err("two"), ended(0), send_end()};
  auto total = std::size_t{0};
  for (const auto& x : script)
    total += x.bytes.size();
  for (auto n = std::size_t{0}; n <= total; ++n) {
    fixture f;
    f.agent.on("execute", script);
    f.agent.limit("execute", n);
    f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("completed", true, fake_agent::end_event(0)))});
    const auto got = f.execute(run("x"));
    if (n < total) {
      CHECK(failed_with<guest::result_incomplete>(got));
      CHECK_EQ(f.agent.count("cancel-execution"), 1u);
    } else {
      CHECK(got.has_value());
      CHECK_EQ(f.agent.count("cancel-execution"), 0u);
    }
    CHECK_EQ(f.agent.count("execute"), 1u);
  }
}

SCENARIO("a guest that closes after n bytes of its reservation has nothing executed") {
  const auto total = guest::to_frame(fake_agent::reservation().dump()).size();
  for (auto n = std::size_t{0}; n < total; n += 7) {
    fixture f;
    f.agent.limit("reserve-execution", n);
    CHECK(failed_with<guest::lost>(f.execute(run("x"))));
    CHECK_EQ(f.agent.count("execute"), 0u);
  }
}

SCENARIO("a stream that breaks the protocol is reconciled") {
  const auto broken = std::vector<agent_script>{
    {send(std::string{"0000zz10\n"}), watch()},
    {send(guest::to_frame("{nope")), watch()},
    {send(json{{"type", "surprise"}}), watch()},
    {send_end(), watch()},
    {ended(0), out("late"), watch()},
    {ended(0), ended(0), watch()},
    {ended(0), send_end(), send(std::string{"x"}), watch()},
    {ended(0), send_end(), watch()},
    {ended(0)},
    {send(std::string{"01000001\n"}), watch()},
  };
  for (const auto& script : broken) {
    fixture f;
    f.agent.on("execute", script);
    f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("completed", true))});
    const auto got = f.execute(run("x"));
    CHECK(failed_with<guest::result_incomplete>(got));
    CHECK_LE(f.time.elapsed(), elapsed{1s});
    if (got)
      MESSAGE("script " << (&script - broken.data()));
  }
}

SCENARIO("a refusal of execute is reconciled and then passed on") {
  fixture f;
  f.agent.on("execute", {send({{"ok", false}, {"error", "agent_retiring"}})});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", false))});
  CHECK(failed_with<guest::retiring>(f.execute(run("x"))));
}

// -- withdrawn while it runs -----------------------------------------------------

// [G 240] the truthful result of a cancelled command
SCENARIO("a command that is cancelled ends with its truthful result and the output so far") {
  fixture f;
  f.agent.on("execute", {out("so far"), wait_for("killed"), send(fake_agent::killed_event("SIGTERM")), send_end()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true, fake_agent::killed_event("SIGTERM")))});
  auto flow = f.start(run("sleep 30"));
  run_until(f.context, [&] { return f.output.out == "so far"; });
  flow.cancel();
  f.until_asked("cancel-execution");
  run_ready(f.context);
  f.agent.open("killed");
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, -1);
  CHECK_EQ(got->end.signal, "SIGTERM");
  CHECK(!got->end.timed_out);
  CHECK_EQ(f.output.out, "so far");
  CHECK_EQ(f.agent.count("cancel-execution"), 1u);
  CHECK_EQ(f.time.elapsed(), elapsed::zero());
}

SCENARIO("output that does not end after a confirmed cancellation is incomplete after the drain") {
  fixture f;
  f.agent.on("execute", {out("so far"), watch()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true, fake_agent::killed_event("SIGTERM")))});
  auto flow = f.start(run("sleep 30"));
  run_until(f.context, [&] { return f.output.out == "so far"; });
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::result_incomplete>(got));
  CHECK_EQ(std::get<guest::result_incomplete>(got.error()).state, "cancelled");
  CHECK_EQ(f.time.elapsed(), elapsed{1500ms});
  // Its socket is destroyed with it.
  run_until(f.context, [&] { return f.agent.ended() == 4; });
}

SCENARIO("a second cancellation during the drain changes nothing") {
  fixture f;
  f.agent.on("execute", {out("so far"), wait_for("killed"), send(fake_agent::killed_event("SIGTERM")), send_end()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true, fake_agent::killed_event("SIGTERM")))});
  auto flow = f.start(run("sleep 30"));
  run_until(f.context, [&] { return f.output.out == "so far"; });
  flow.cancel();
  f.until_asked("cancel-execution");
  run_until(f.context, [&] { return f.agent.ended() == 3; });
  run_ready(f.context);
  REQUIRE(!flow.done());
  flow.cancel();
  run_ready(f.context);
  REQUIRE(!flow.done());
  f.agent.open("killed");
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.signal, "SIGTERM");
  CHECK_EQ(f.agent.count("cancel-execution"), 1u);
}

SCENARIO("a taker that never takes does not hold up a confirmed cancellation") {
  fixture f;
  f.output.held = true;
  f.agent.on("execute", {out("stuck"), watch()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true))});
  auto flow = f.start(run("yes"));
  run_until(f.context, [&] { return f.output.pieces == 1; });
  flow.cancel();
  CHECK(failed_with<guest::result_incomplete>(f.finish(flow)));
  CHECK_EQ(f.time.elapsed(), elapsed{1500ms});
}

SCENARIO("a command that had not started when it was cancelled has the guest's end of it") {
  fixture f;
  f.agent.on("execute", {watch()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", false, fake_agent::end_event(1)))});
  auto flow = f.start(run("x"));
  f.until_asked("execute");
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 1);
  CHECK_EQ(got->boot, guest_boot_id{fake_agent::boot});
}

SCENARIO("a cancellation without an answer for eight seconds is unknown and names who had accepted") {
  fixture f;
  f.agent.on("execute", {watch()});
  f.agent.on("cancel-execution", {watch()});
  auto flow = f.start(run("x"));
  f.until_asked("execute");
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::cancellation_unknown>(got));
  const auto& why = std::get<guest::cancellation_unknown>(got.error());
  CHECK_EQ(why.pod, pod_uid{"pod-uid"});
  CHECK_EQ(why.boot, guest_boot_id{fake_agent::boot});
  CHECK_EQ(guest::to_string(got.error()).find("pod-uid"), std::string::npos);
  CHECK_EQ(f.time.elapsed(), elapsed{8s});
  // Attempts of two seconds with a pause between them.
  CHECK_EQ(f.agent.count("cancel-execution"), 4u);
}

SCENARIO("refusals of a cancellation are asked again until the window is spent") {
  for (const auto* error : {"unauthorized", "unknown_execution", "cancellation_unconfirmed", "agent_retiring"}) {
    MESSAGE(error);
    fixture f;
    auto small = guest::transport_options{};
    small.cancel_window = 1s;
    f.host = guest::make_host(f.time, small);
    f.agent.on("execute", agent_script{});
    f.agent.on("cancel-execution", {send({{"ok", false}, {"error", error}})});
    const auto got = f.execute(run("x"));
    CHECK(failed_with<guest::cancellation_unknown>(got));
    CHECK_EQ(f.time.elapsed(), elapsed{1s});
    CHECK_EQ(f.agent.count("cancel-execution"), 20u);
  }
}

// [G 249] a malformed acknowledgement
SCENARIO("a malformed acknowledgement is asked for again and not accepted") {
  fixture f;
  auto answers = std::make_shared<int>(0);
  f.agent.on("execute", agent_script{});
  f.agent.on("cancel-execution", [answers](const json&) {
    ++*answers;
    if (*answers == 1)
      return agent_script{send({{"ok", true}, {"state", "cancelled"}})};
    if (*answers == 2)
      return agent_script{send({{"ok", true}, {"state", "over"}, {"started", true}})};
    return agent_script{send(fake_agent::acknowledgement("completed", true))};
  });
  const auto got = f.execute(run("x"));
  REQUIRE(failed_with<guest::result_incomplete>(got));
  CHECK_EQ(std::get<guest::result_incomplete>(got.error()).state, "completed");
  CHECK_EQ(f.agent.count("cancel-execution"), 3u);
  CHECK_EQ(f.time.elapsed(), elapsed{100ms});
}

// -- the time is up --------------------------------------------------------------

// [G 248] a limit that the guest does not observe
SCENARIO("a limit that the guest does not observe is enforced half a second later and marked") {
  fixture f;
  f.agent.on("execute", {wait_for("killed"), send(fake_agent::killed_event("SIGTERM")), send_end()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true, fake_agent::killed_event("SIGTERM")))});
  auto what = run("sleep 30");
  what.limit = 200ms;
  auto flow = f.start(what);
  f.until_asked("execute");
  run_with_sockets(f.context, f.time, [&] { return f.agent.count("cancel-execution") == 1; });
  CHECK_EQ(f.time.elapsed(), elapsed{700ms});
  f.agent.open("killed");
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK(got->end.timed_out);
  CHECK_EQ(got->end.signal, "SIGTERM");
  CHECK(f.request("execute")["body"]["timeoutMs"] == 200);
}

SCENARIO("a result that overtakes the confirmation of a timeout is marked as well") {
  fixture f;
  f.agent.on("execute", {wait_for("killed"), send(fake_agent::killed_event("SIGTERM")), send_end()});
  f.agent.on("cancel-execution",
             {wait_for("confirm"), send(fake_agent::acknowledgement("cancelled", true, fake_agent::killed_event("SIGTERM")))});
  auto flow = f.start(run("sleep 30"), nullptr, 3s);
  run_with_sockets(f.context, f.time, [&] { return f.agent.count("cancel-execution") == 1; });
  CHECK_EQ(f.time.elapsed(), elapsed{3s});
  f.agent.open("killed");
  run_until(f.context, [&] { return f.agent.ended() == 3; });
  run_ready(f.context);
  f.agent.open("confirm");
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK(got->end.timed_out);
}

SCENARIO("a command without a limit is observed for five minutes") {
  fixture f;
  f.agent.on("execute", {watch()});
  f.agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", false))});
  const auto got = f.execute(run("x"));
  REQUIRE(got.has_value());
  CHECK(got->end.timed_out);
  CHECK_EQ(f.time.elapsed(), elapsed{300'500ms});
  CHECK(!f.request("execute")["body"].contains("timeoutMs"));
}

// -- cancelled at every step -----------------------------------------------------

// [G 241] a result and a cancellation at once
SCENARIO("a call that is cancelled at step n says the truth, for every n") {
  auto finished = false;
  auto seen = std::map<std::string, int>{};
  for (auto n = 0; n < 500 && !finished; ++n) {
    fixture f;
    f.agent.on("execute", {out("done"), ended(42), send_end()});
    f.agent.on("cancel-execution", [&f](const json&) {
      // The guest knows whether it ever saw the command.
      const auto started = f.agent.count("execute") != 0;
      return agent_script{send(started ? fake_agent::acknowledgement("completed", true, fake_agent::end_event(42))
                                       : fake_agent::acknowledgement("cancelled", false, fake_agent::end_event(1)))};
    });
    auto flow = f.start(run("x"));
    for (auto i = 0; i < n && !flow.done(); ++i) {
      f.context.restart();
      f.context.run_one_for(100ms);
    }
    finished = flow.done();
    flow.cancel();
    const auto got = f.finish(flow);
    const auto executed = f.agent.count("execute");
    const auto cancelled = f.agent.count("cancel-execution");
    CHECK_LE(executed, 1u);
    CHECK_LE(cancelled, 1u);
    REQUIRE(got.has_value());
    if (got->end.exit_code == 42) {
      CHECK_EQ(executed, 1u);
      CHECK_EQ(f.output.out, "done");
      ++seen[cancelled == 0 ? "result" : "result, cancelled"];
    } else {
      CHECK_EQ(got->end.exit_code, 1);
      CHECK(f.output.out.empty() || cancelled == 1u);
      ++seen[cancelled == 0 ? "nothing" : "not started"];
    }
  }
  for (const auto& [what, times] : seen)
    MESSAGE(what << ": " << times);
  CHECK(finished);
  CHECK_GT(seen["nothing"], 0);
  CHECK_GT(seen["result"] + seen["result, cancelled"], 1);
}

SCENARIO("the cancellation stays visible to the caller") {
  fixture f;
  struct caller {
    static boost::asio::awaitable<bool> go(guest::host& host, guest::endpoint where, sink& to, deadline until) {
      auto got = co_await host.execute(std::move(where), run("x"), to, nullptr, until);
      const bool throwing = co_await boost::asio::this_coro::throw_if_cancelled();
      const auto state = co_await boost::asio::this_coro::cancellation_state;
      co_return got.has_value() && throwing&& state.cancelled() != boost::asio::cancellation_type::none;
    }
  };
  f.agent.on("reserve-execution", {watch()});
  auto flow = start_flow(f.context, caller::go(*f.host, f.agent.where(), f.output, deadline{f.time, 1h}));
  f.until_asked("reserve-execution");
  flow.cancel();
  run_until(f.context, [&] { return flow.done(); });
  CHECK(flow.get());
}

SCENARIO("a lane that ends in the middle of an execution drops it without harm") {
  auto f = std::make_unique<fixture>();
  f->agent.features({"exec-bytes"});
  auto input = source{{}, false};
  f->agent.on("execute", {raw_out("x"), watch()});
  f->agent.on("cancel-execution", {watch()});
  auto flow = f->start(run("x"), &input);
  run_until(f->context, [&] { return f->output.out == "x"; });
  flow.cancel();
  f->until_asked("cancel-execution");
  CHECK(!flow.done());
  f.reset();
  CHECK(!flow.done());
}
