#define CAF_SUITE agent_attach

#include "base/base64.hpp"
#include "guest/agent/retained_output.hpp"
#include "tests/guest/agent_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <latch>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto named = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915";
constexpr auto other = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c916";

const auto go = guest::to_frame(json{{"type", "stdin"}, {"data", to_base64("go\n")}}.dump());

const auto retained = json{{"retainOutput", true}, {"stdinStream", true}};

json attach_body(const std::string& id, json from = 0) {
  return {{"executionId", id}, {"fromOffset", std::move(from)}};
}

/// What an attached reader heard after `attached`.
struct followed {
  std::string bytes;
  bool contiguous = true; // each delta begins where the one before it ended, and is as long as its offsets say
  std::uint64_t next = 0;
  json last = json(json::value_t::discarded);
  bool terminated = false;
};

/// To the end of the stream. `from`: where the first delta must begin.
followed follow(raw_client& client, std::uint64_t from) {
  auto result = followed{};
  result.next = from;
  while (auto payload = client.frame()) {
    if (payload->empty()) {
      result.terminated = true;
      continue;
    }
    auto event = json::parse(*payload);
    if (event["type"] != "stdout_delta" && event["type"] != "stderr_delta") {
      result.last = event;
      continue;
    }
    auto data = event["data"].get<std::string>();
    if (event.value("encoding", "") == "base64")
      data = from_base64(data).value_or("");
    if (event["offset"] != result.next || event["nextOffset"] != result.next + data.size())
      result.contiguous = false;
    result.next = event["nextOffset"];
    result.bytes += data;
  }
  return result;
}

json attached(const std::string& id, const char* state, std::uint64_t from = 0, std::uint64_t dropped = 0) {
  return {{"type", "attached"}, {"executionId", id}, {"state", state}, {"fromOffset", from}, {"droppedBytes", dropped}};
}

std::string refused(const std::string& event) {
  return guest::to_frame(event) + std::string{guest::terminator};
}

std::string numbers(int from, int to) {
  auto text = std::string{};
  for (auto i = from; i <= to; ++i)
    text += std::to_string(i) + "\n";
  return text;
}

} // namespace

// [G 86] replay, then live output, then the result
SCENARIO("an attached reader gets what was printed, and goes on with what is printed") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "printf ab; read x; printf cd; exit 3", retained);
  CHECK(client.event() == json({{"type", "stdout_delta"}, {"data", "ab"}, {"offset", 0}, {"nextOffset", 2}}));
  auto reader = world.open("attach-execution", json{{"executionId", id}});
  CHECK(reader.event() == attached(id, "running"));
  CHECK(reader.event() == json({{"type", "stdout_delta"}, {"data", "ab"}, {"offset", 0}, {"nextOffset", 2}}));
  client.send(go);
  auto live = json{{"type", "stdout_delta"}, {"data", "cd"}, {"offset", 2}, {"nextOffset", 4}};
  CHECK(reader.event() == live);
  CHECK(client.event() == live);
  auto result = client.event();
  CHECK(result["type"] == "result");
  CHECK(result["exitCode"] == 3);
  CHECK_EQ(client.rest(), std::string{guest::terminator});
  result.erase("type");
  CHECK(reader.event()
        == json({{"type", "attach_result"},
                 {"executionId", id},
                 {"outcome", "completed"},
                 {"started", true},
                 {"result", result},
                 {"nextOffset", 4}}));
  CHECK_EQ(reader.rest(), std::string{guest::terminator});
}

// [G 87] a finished one, twice; [G 88] from an offset; [G 89] from beyond the end
SCENARIO("the output of a finished command can be had again, from any place in it") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto ran = world.run(id, "printf ab; printf cd >&2; exit 7", {{"retainOutput", true}});
  CHECK_EQ(ran.out + ran.err, "abcd");
  auto first = world.open("attach-execution", attach_body(id)).rest();
  CHECK_EQ(first, world.open("attach-execution", attach_body(id)).rest());
  auto reader = world.open("attach-execution", attach_body(id));
  CHECK(reader.event() == attached(id, "terminal"));
  auto all = follow(reader, 0);
  CHECK_EQ(all.bytes, "abcd");
  CHECK(all.contiguous);
  CHECK(all.terminated);
  auto result = ran.last;
  result.erase("type");
  CHECK(all.last
        == json({{"type", "attach_result"},
                 {"executionId", id},
                 {"outcome", "completed"},
                 {"started", true},
                 {"result", result},
                 {"nextOffset", 4}}));
  auto later = world.open("attach-execution", attach_body(id, 2));
  CHECK(later.event() == attached(id, "terminal", 2, 0));
  auto rest = follow(later, 2);
  CHECK_EQ(rest.bytes, "cd");
  CHECK(rest.contiguous);
  CHECK(rest.last == all.last);
  auto at_end = world.open("attach-execution", attach_body(id, 4));
  CHECK(at_end.event() == attached(id, "terminal", 4, 0));
  CHECK(follow(at_end, 4).last == all.last);
  for (const auto& no : {json(5), json(-1), json(1.5), json("x"), json(nullptr)})
    CHECK_EQ(world.open("attach-execution", attach_body(id, no)).rest(), refused(R"({"type":"error","error":"invalid_offset"})"));
}

// [G 90] an evicted prefix
SCENARIO("what the log has lost is reported as a gap") {
  auto world = agent_world{{{"NAMZU_AGENT_EXECUTION_LOG_BYTES", "8"}}};
  auto id = world.reserve();
  auto ran = world.run(id, "printf 0123456789; printf abcdefghij >&2", {{"retainOutput", true}});
  CHECK_EQ(ran.out.size() + ran.err.size(), 20u); // the executing connection kept up
  auto reader = world.open("attach-execution", attach_body(id));
  CHECK(reader.event() == attached(id, "terminal", 12, 12));
  auto held = follow(reader, 12);
  CHECK_EQ(held.bytes, (ran.out + ran.err).substr(12));
  CHECK(held.contiguous);
  CHECK_EQ(held.next, 20u);
  CHECK(held.last["nextOffset"] == 20);
}

// [G 91] without retention; [G 92] only reserved
SCENARIO("what is not retained cannot be attached to") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto refusal = [](const char* state) {
    return refused(std::string{R"({"type":"error","error":"output_not_retained","state":")"} + state + R"("})");
  };
  CHECK_EQ(world.open("attach-execution", attach_body(id)).rest(), refusal("reserved"));
  auto client = world.start(id, "echo up; read x", {{"stdinStream", true}, {"retainOutput", "true"}});
  CHECK(!client.event().contains("offset"));
  CHECK_EQ(world.open("attach-execution", attach_body(id)).rest(), refusal("running"));
  client.send(go);
  client.rest();
  CHECK_EQ(world.open("attach-execution", attach_body(id)).rest(), refusal("terminal"));
  CHECK_EQ(world.open("attach-execution", attach_body(other)).rest(), refused(R"({"type":"error","error":"unknown_execution"})"));
  CHECK_EQ(world.open("attach-execution", attach_body("exec_1")).rest(), refused(R"({"type":"error","error":"invalid_execution_id"})"));
  CHECK_EQ(world.open("attach-execution").rest(), refused(R"({"type":"error","error":"invalid_execution_id"})"));
}

// [G 93] a reader that leaves; [G 94] one that sends a frame
SCENARIO("whatever a reader does, the command and the other readers go on") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "printf ab; read x; printf cd", retained);
  client.event();
  auto reader = [&] {
    auto made = world.open("attach-execution", attach_body(id));
    CHECK(made.event()["type"] == "attached");
    CHECK(made.event()["data"] == "ab");
    return made;
  };
  auto stays = reader();
  reader().close();
  for (const auto& frame : {guest::to_frame("{}"), std::string{guest::terminator}, std::string{"0fffffff\n"}}) {
    auto speaks = reader();
    speaks.send(frame);
    CHECK_EQ(speaks.rest(), "");
  }
  client.send(go);
  auto rest = follow(stays, 2);
  CHECK_EQ(rest.bytes, "cd");
  CHECK(rest.last["outcome"] == "completed");
  CHECK(rest.terminated);
  CHECK(follow(client, 2).last["exitCode"] == 0);
}

// [G 95] a reader that stops reading
SCENARIO("a reader with more than the log unsent is dropped, and resumes where it was") {
  auto world = agent_world{};
  auto id = world.reserve();
  constexpr auto size = std::uint64_t{32} << 20;
  auto client = world.start(id, "read x; head -c 33554432 /dev/zero | tr '\\0' a", retained);
  client.send(go.substr(0, 9));
  auto reader = agent_world::connect_to(world.port(), 65536);
  reader.send(world.request("attach-execution", attach_body(id)));
  REQUIRE(reader.event()["type"] == "attached");
  client.send(go.substr(9));
  client.close();
  REQUIRE(world.reaches(id, "terminal")); // nobody held it up
  auto got = follow(reader, 0);
  CHECK(got.contiguous);
  CHECK(got.last.is_discarded());
  CHECK(!got.terminated);
  MESSAGE("dropped after " << got.next);
  REQUIRE_LT(got.next, size - (1 << 20));
  auto again = world.open("attach-execution", attach_body(id, got.next));
  CHECK(again.event() == attached(id, "terminal", size - (1 << 20), size - (1 << 20) - got.next));
  auto rest = follow(again, size - (1 << 20));
  CHECK(rest.contiguous);
  CHECK_EQ(rest.bytes, std::string(1 << 20, 'a'));
  CHECK(rest.last["outcome"] == "completed");
}

SCENARIO("an executing host that does not read holds no retained command up, with base64 or without") {
  for (auto encoding : {"base64", "none"}) {
    auto world = agent_world{};
    auto id = world.reserve();
    auto client = agent_world::connect_to(world.port(), 65536);
    client.send(world.request("execute", json{{"executionId", id},
                                              {"command", "head"},
                                              {"args", {"-c", "33554432", "/dev/zero"}},
                                              {"outputEncoding", encoding},
                                              {"retainOutput", true}}));
    REQUIRE(world.reaches(id, "terminal"));
    auto got = follow(client, 0);
    CHECK(got.contiguous);
    CHECK(got.last.is_discarded());
    CHECK(!got.terminated);
    CHECK_LT(got.next, std::uint64_t{32} << 20);
    CHECK_EQ(world.cancel(id)["state"].get<std::string>(), "completed");
  }
}

// [G 96] cancelled elsewhere
SCENARIO("a reader learns that the command was cancelled elsewhere") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "printf ab; exec sleep 60", retained);
  client.event();
  auto reader = world.open("attach-execution", attach_body(id));
  reader.event();
  auto cancelled = world.cancel(id);
  CHECK(cancelled["state"] == "cancelled");
  auto rest = follow(reader, 0);
  CHECK_EQ(rest.bytes, "ab");
  CHECK(rest.terminated);
  CHECK(rest.last
        == json({{"type", "attach_result"},
                 {"executionId", id},
                 {"outcome", "cancelled"},
                 {"started", true},
                 {"result", cancelled["result"]},
                 {"nextOffset", 2}}));
  CHECK(rest.last["result"]["signal"] == "SIGTERM");
}

namespace {

/// An agent that is about to make the working directory of a retained execution, and a reader that is attached to it.
struct starting_world : agent_world {
  explicit starting_world(json body) {
    put(workspace() / "file", "");
    id = reserve();
    work.holding = true;
    body["executionId"] = id;
    body["retainOutput"] = true;
    client.emplace(open("execute", body));
    job = work.take();
    reader.emplace(open("attach-execution", attach_body(id)));
    if (reader->event() != attached(id, "starting"))
      throw std::runtime_error{"it is not starting"};
  }

  std::string id;
  std::optional<raw_client> client;
  std::optional<raw_client> reader;
  std::function<void()> job;
};

} // namespace

SCENARIO("a reader that came before the start learns of a cancel before the start") {
  auto world = starting_world{{{"command", "true"}}};
  auto cancelled = world.cancel(world.id);
  auto heard = follow(*world.reader, 0);
  CHECK(heard.terminated);
  CHECK(heard.last
        == json({{"type", "attach_result"},
                 {"executionId", world.id},
                 {"outcome", "cancelled"},
                 {"started", false},
                 {"result", cancelled["result"]},
                 {"nextOffset", 0}}));
  world.job();
  CHECK_EQ(world.client->rest(), refused(R"({"type":"error","error":"execution_cancelled"})"));
}

SCENARIO("a reader that came before the start learns of a directory that cannot be made") {
  auto world = starting_world{{{"command", "true"}, {"cwd", "file/x"}}};
  world.job();
  auto heard = follow(*world.reader, 0);
  CHECK(heard.terminated);
  CHECK(heard.last["type"] == "attach_result");
  CHECK(heard.last["outcome"] == "failed");
  CHECK(heard.last["started"] == false);
  CHECK(heard.last["error"].get<std::string>().starts_with("mkdir_failed: "));
  CHECK(!heard.last.contains("result"));
  CHECK(world.client->event()["error"] == heard.last["error"]);
}

SCENARIO("a reader that came before the start learns of a program that does not exist") {
  auto world = starting_world{{{"command", "/no/such"}}};
  world.job();
  auto heard = follow(*world.reader, 0);
  CHECK(heard.terminated);
  CHECK(heard.last["outcome"] == "failed");
  CHECK(heard.last["started"] == true);
  CHECK(heard.last["error"] == "spawn /no/such ENOENT");
}

SCENARIO("a reader that came before the start gets everything from the first byte") {
  auto world = starting_world{{{"command", "/bin/sh"}, {"args", {"-c", "echo x; exit 2"}}}};
  world.job();
  auto heard = follow(*world.reader, 0);
  CHECK_EQ(heard.bytes, "x\n");
  CHECK(heard.contiguous);
  CHECK(heard.last["result"]["exitCode"] == 2);
}

SCENARIO("a reader hears no end of a command of which something may still run") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "printf ab; read x; (sleep 2 >/dev/null 2>&1 &); exit 0", retained);
  client.event();
  auto reader = world.open("attach-execution", attach_body(id));
  reader.event();
  client.send(go);
  auto heard = follow(reader, 0);
  CHECK_EQ(heard.bytes, "ab");
  CHECK(heard.last.is_discarded());
  CHECK(!heard.terminated);
}

// [G 97] heavy output while readers attach
SCENARIO("replay and live output join without a seam, for every reader") {
  auto world = agent_world{{{"NAMZU_AGENT_EXECUTION_LOG_BYTES", "4000000"}}};
  auto id = world.reserve();
  auto client = world.start(id, "seq 1 60000; read x; seq 60001 300000", retained);
  client.event();
  auto threads = std::vector<std::thread>{};
  auto heard = std::vector<followed>(8);
  auto state = std::vector<std::string>(8);
  auto early = std::latch{4}; // half of them are attached before the command goes on
  for (auto i = std::size_t{0}; i < 8; ++i) {
    if (i == 4) {
      early.wait();
      client.send(go);
    }
    threads.emplace_back([&, i] {
      auto body = attach_body(id);
      if (i % 2 == 1)
        body["outputEncoding"] = "base64";
      auto reader = world.open("attach-execution", body);
      state[i] = reader.event()["state"];
      if (i < 4)
        early.count_down();
      heard[i] = follow(reader, 0);
    });
  }
  auto executing = std::thread{[&] { client.rest(); }};
  for (auto& each : threads)
    each.join();
  executing.join();
  const auto expected = numbers(1, 300000);
  for (auto& each : heard) {
    CHECK(each.contiguous);
    CHECK(each.bytes == expected);
    CHECK(each.last["outcome"] == "completed");
    CHECK(each.last["nextOffset"] == expected.size());
    CHECK(each.terminated);
  }
  for (auto i = std::size_t{0}; i < 4; ++i)
    CHECK_EQ(state[i], "running");
}

namespace {

/// What is sent over it, and how much of it a test says to be unsent.
struct told_channel final : guest::channel {
  void send(std::string payload) override {
    sent.push_back(json::parse(payload));
  }
  void send_terminator() override {
    ++terminators;
  }
  void finish() override {
    finished = true;
  }
  void destroy() override {
    destroyed = true;
  }
  void cut_off(std::string) override {
  }
  [[nodiscard]] std::size_t unsent() const override {
    return waiting;
  }
  [[nodiscard]] bool gone() const override {
    return destroyed;
  }
  void pause_reading() override {
  }
  void resume_reading() override {
  }
  [[nodiscard]] bool reading_paused() const override {
    return false;
  }
  [[nodiscard]] time_source::clock::time_point last_byte() const override {
    return {};
  }
  /// The data of the deltas, each of which must begin where the one before it ended.
  [[nodiscard]] std::string text() const {
    auto all = std::string{};
    for (const auto& each : sent)
      if (each.contains("offset"))
        all += each["offset"] == all.size() ? each["data"].get<std::string>() : "(gap)";
    return all;
  }

  std::size_t waiting = 0;
  std::vector<json> sent;
  int terminators = 0;
  bool finished = false;
  bool destroyed = false;
};

struct sending {
  explicit sending(std::uint64_t budget) : log(std::make_shared<guest::output_log>(budget)), sender(channel, log, 0, budget, false) {
  }
  void print(std::string_view bytes) {
    auto at = log->append(guest::stream::out, bytes);
    sender.more(guest::stream::out, bytes, at);
  }

  std::shared_ptr<told_channel> channel = std::make_shared<told_channel>();
  std::shared_ptr<guest::output_log> log;
  guest::log_sender sender;
};

} // namespace

SCENARIO("a reader that is behind gets what it missed before what comes now") {
  auto x = sending{1 << 20};
  x.print("ab");
  x.channel->waiting = 256 * 1024 + 1;
  x.print("cd");
  x.print("ef");
  CHECK_EQ(x.channel->text(), "ab");
  x.channel->waiting = 1; // it takes more again, and has not said so
  x.print("gh");
  CHECK_EQ(x.channel->text(), "abcdefgh");
  x.channel->waiting = 1 << 20;
  x.print("ij");
  x.sender.end(R"({"type":"last"})");
  x.sender.pump();
  CHECK(!x.channel->finished);
  x.channel->waiting = 0;
  x.sender.pump();
  CHECK_EQ(x.channel->text(), "abcdefghij");
  CHECK(x.channel->sent.back()["type"] == "last");
  CHECK_EQ(x.channel->terminators, 1);
  CHECK(x.channel->finished);
  CHECK(!x.channel->destroyed);
}

SCENARIO("a reader is dropped once the log has lost what it has not been sent, and not before") {
  auto x = sending{8};
  x.print("0123456789abcdef"); // it keeps up, with more than the log holds
  x.channel->waiting = 9;
  x.print("01234567");
  CHECK(!x.channel->destroyed);
  x.print("8");
  CHECK(x.channel->destroyed);
  CHECK_EQ(x.channel->text(), "0123456789abcdef");
  CHECK(!x.channel->finished);
}

SCENARIO("a reader that asks for base64 gets the bytes as they are") {
  auto world = agent_world{};
  auto id = world.reserve();
  world.run(id, R"(printf '\377\376\000\303'; printf '\251' >&2)", {{"retainOutput", true}});
  auto body = attach_body(id);
  body["outputEncoding"] = "base64";
  auto reader = world.open("attach-execution", body);
  reader.event();
  auto first = reader.event();
  CHECK(first == json({{"type", "stdout_delta"}, {"data", "//4Aww=="}, {"encoding", "base64"}, {"offset", 0}, {"nextOffset", 4}}));
  CHECK(follow(reader, 4).bytes == "\xa9");
}

// [G 64] a character split by a pipe read
SCENARIO("offsets count the bytes that the command wrote, whatever became of them as text") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, R"(printf '\342\202'; read x; printf '\254')", retained);
  auto first = client.event();
  CHECK(first["data"] == "\xef\xbf\xbd");
  CHECK(first["offset"] == 0);
  CHECK(first["nextOffset"] == 2);
  client.send(go);
  auto second = client.event();
  CHECK(second["data"] == "\xef\xbf\xbd");
  CHECK(second["offset"] == 2);
  CHECK(second["nextOffset"] == 3);
  // The log has the whole character.
  auto reader = world.open("attach-execution", attach_body(id));
  reader.event();
  auto whole = reader.event();
  CHECK(whole["data"] == "\xe2\x82\xac");
  CHECK(whole["nextOffset"] == 3);
}

// [G 47] reserving a retained running execution
SCENARIO("reserving a retained execution tells where its output stands") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "printf ab; read x", retained);
  client.event();
  auto reply = world.ask("reserve-execution", json{{"executionId", id}});
  CHECK(reply["state"] == "running");
  CHECK(reply["retainedOutput"] == true);
  CHECK(reply["outputOffset"] == 2);
  auto plain = world.ask("reserve-execution", json{{"executionId", other}});
  CHECK(!plain.contains("retainedOutput"));
  CHECK(!plain.contains("outputOffset"));
}

// [G 72] no slot; [G 73] a slot of a terminal one
SCENARIO("at most 32 executions hold a log") {
  auto world = agent_world{};
  auto running = std::vector<raw_client>{};
  auto ids = std::vector<std::string>{};
  for (auto i = 0; i < 32; ++i) {
    ids.push_back(world.reserve());
    running.push_back(world.start(ids.back(), "printf ab; read x; printf cd", retained));
  }
  for (auto& each : running)
    REQUIRE(each.event()["data"] == "ab");
  auto late = world.reserve();
  auto refusal = world.start(late, "echo late", {{"retainOutput", true}}).rest();
  CHECK_EQ(refusal, refused(R"x({"type":"error","error":"retained_output_capacity: limit 32 (NAMZU_AGENT_MAX_RETAINED_OUTPUT_LOGS)"})x"));
  CHECK(world.ask("reserve-execution", json{{"executionId", late}})["state"] == "reserved");
  running[7].send(go);
  auto ended = follow(running[7], 2);
  REQUIRE(ended.last["type"] == "result");
  CHECK_EQ(world.run(late, "echo late", {{"retainOutput", true}}).out, "late\n");
  auto gap = world.open("attach-execution", attach_body(ids[7]));
  CHECK(gap.event() == attached(ids[7], "terminal", 4, 4));
  auto heard = follow(gap, 4);
  CHECK_EQ(heard.bytes, "");
  ended.last.erase("type");
  CHECK(heard.last["result"] == ended.last);
  CHECK(heard.last["nextOffset"] == 4);
  CHECK(heard.terminated);
  // A running one has lost nothing.
  auto whole = world.open("attach-execution", attach_body(ids[8]));
  CHECK(whole.event() == attached(ids[8], "running"));
  CHECK(whole.event()["data"] == "ab");
}

// [G 98] an old record
SCENARIO("a terminal record with a log is kept for ten minutes") {
  auto world = agent_world{};
  auto id = world.reserve();
  world.run(id, "echo x", {{"retainOutput", true}});
  world.time.advance(599'999ms);
  auto reader = world.open("attach-execution", attach_body(id));
  CHECK(reader.event() == attached(id, "terminal"));
  CHECK_EQ(follow(reader, 0).bytes, "x\n");
  world.time.advance(1ms);
  CHECK_EQ(world.open("attach-execution", attach_body(id)).rest(), refused(R"({"type":"error","error":"unknown_execution"})"));
}

// [G 261] two hosts start the same id, here as bytes; [G 288] exactly one command starts
SCENARIO("of two hosts that execute one id, the second attaches, and both get the result") {
  auto world = agent_world{};
  for (auto i = 0; i < 2; ++i)
    REQUIRE(world.ask("reserve-execution", json{{"executionId", named}})["state"] == "reserved");
  const auto line = "echo ran >> ran; printf ab; read x; printf cd; exit 5";
  auto first = world.start(named, line, retained);
  REQUIRE(first.event()["data"] == "ab");
  auto second = world.start(named, line, retained);
  CHECK_EQ(second.rest(), refused(R"({"type":"error","error":"execution_not_reserved: running"})"));
  auto reader = world.open("attach-execution", attach_body(named));
  CHECK(reader.event() == attached(named, "running"));
  first.send(go);
  auto one = follow(first, 2);
  auto two = follow(reader, 0);
  CHECK_EQ(two.bytes, "abcd");
  CHECK(one.last["exitCode"] == 5);
  one.last.erase("type");
  CHECK(two.last["result"] == one.last);
  CHECK_EQ(content_of(world.workspace() / "ran"), "ran\n");
}

// [G 290] a cancel and a natural exit at the same moment
SCENARIO("a cancel that races with the end tells the same as every later cancel and attach") {
  auto world = agent_world{};
  for (auto i = 0; i < 20; ++i) {
    auto id = world.reserve();
    auto client = world.start(id, "printf a; read x", retained);
    client.event();
    auto reader = world.open("attach-execution", attach_body(id));
    client.send(go);
    auto first = world.cancel(id);
    auto state = first["state"].get<std::string>();
    CHECK((state == "completed" || state == "cancelled"));
    CHECK(world.cancel(id) == first);
    auto later = world.open("attach-execution", attach_body(id));
    for (auto* each : {&reader, &later}) {
      REQUIRE(each->event()["type"] == "attached");
      auto heard = follow(*each, 0);
      CHECK(heard.last["outcome"] == state);
      CHECK(heard.last["result"] == first["result"]);
    }
    auto last = follow(client, 1).last;
    last.erase("type");
    CHECK(last == first["result"]);
  }
}

SCENARIO("attaching is advertised, and its refusals by the gates have the shape of a stream") {
  auto world = agent_world{};
  auto features = world.ask("healthz")["features"];
  REQUIRE(features.size() > 1);
  CHECK(features[1] == "execution-attach");
  world.fence();
  auto refusal = world.open("attach-execution", attach_body(named));
  auto event = refusal.event();
  CHECK(event["type"] == "error");
  CHECK(event["error"] == "agent_retiring");
  CHECK_EQ(refusal.rest(), std::string{guest::terminator});
}
