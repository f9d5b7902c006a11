#define CAF_SUITE agent_wire

#include "tests/guest/file_world.hpp"
#include "tests/guest/memory.hpp"
#include "tests/guest/other_end.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <netinet/tcp.h>

using namespace paddock;
using namespace paddock::test;

namespace {

const auto healthz = std::string{"00000010\n{\"op\":\"healthz\"}"};
const auto features =
  json{"write-file-parts", "execution-attach", "stream-heartbeat",  "read-file-stream", "sessions",    "quiesce", "flush",
       "guest-boot-id",    "pinned-guest",     "quiesce-idle-only", "exec-bytes",       "stream-bytes"};
const auto healthy = "000000e4\n{\"ok\":true,\"protocolVersion\":2,\"features\":" + features.dump() + "}";

std::string answer_to(const agent_world& world, std::string_view bytes) {
  auto client = world.connect();
  client.send(bytes);
  return client.rest();
}

} // namespace

// [G 1] the example, byte for byte
SCENARIO("healthz is answered by one frame and the end of the stream") {
  auto world = agent_world{};
  CHECK_EQ(healthz.size(), 25u);
  CHECK_EQ(answer_to(world, healthz), healthy);
}

// [G 37] a healthy guest
SCENARIO("a healthy guest names its version and what it does, and nothing else") {
  auto world = agent_world{};
  auto reply = world.ask("healthz");
  CHECK_EQ(reply.size(), 3u);
  CHECK(reply["ok"] == true);
  CHECK(reply["protocolVersion"] == 2);
  CHECK(reply["features"] == features);
}

// [G 2] one-byte writes
SCENARIO("a request in pieces of one byte is served once") {
  auto world = agent_world{};
  auto client = world.connect();
  auto on = 1;
  ::setsockopt(client.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto request = world.request("execute", json{{"command", "/bin/sh"}, {"args", {"-c", "echo x >> count"}}});
  for (auto byte : request)
    CHECK(client.send({&byte, 1}));
  auto said = listen_to(client);
  CHECK(said.last["exitCode"] == 0);
  CHECK_EQ(content_of(world.workspace() / "count"), "x\n");
}

// [G 3] bytes, not characters
SCENARIO("the length of a frame counts bytes") {
  auto world = agent_world{};
  put(world.workspace() / "f", "caf\xc3\xa9");
  auto client = world.open("read-file", json{{"path", "f"}});
  auto bytes = client.rest();
  REQUIRE(bytes.find("caf\xc3\xa9") != std::string::npos);
  CHECK_EQ(std::stoul(bytes.substr(0, 8), nullptr, 16), bytes.size() - 9);
}

// [G 4] upper-case digits
SCENARIO("the guest reads upper-case digits and writes lower-case ones") {
  auto world = agent_world{};
  auto padded = std::string{R"({"op":"healthz"  })"};    // 0x12 bytes
  padded.insert(padded.size() - 1, std::string(8, ' ')); // 0x1a
  CHECK_EQ(answer_to(world, "0000001A\n" + padded), healthy);
  auto letters = 0;
  for (auto size = std::size_t{200}; size < 216; ++size) {
    put(world.workspace() / "f", std::string(size, 'x'));
    auto header = world.open("read-file", json{{"path", "f"}}).rest().substr(0, 8);
    letters += header.find_first_of("abcdef") != std::string::npos ? 1 : 0;
    CHECK(header.find_first_of("ABCDEF") == std::string::npos);
  }
  CHECK_GE(letters, 1);
}

// [G 5] nine bytes without a newline
SCENARIO("a header without a newline ends the connection") {
  auto world = agent_world{};
  auto client = world.connect();
  client.send("00000010");
  CHECK_EQ(answer_to(world, healthz), healthy); // the guest has had its turn
  auto probe = pollfd{client.fd(), POLLIN, 0};
  CHECK_EQ(::poll(&probe, 1, 0), 0);
  client.send("x");
  CHECK(client.closed_silently());
}

// [G 6] an early newline
SCENARIO("a newline before its place ends the connection") {
  auto world = agent_world{};
  auto client = world.connect();
  client.send("00000\n000");
  CHECK(client.closed_silently());
}

// [G 7] not hexadecimal
SCENARIO("a digit that is none ends the connection") {
  auto world = agent_world{};
  auto client = world.connect();
  client.send("0000zz10\n");
  CHECK(client.closed_silently());
}

// [G 8] not JSON
SCENARIO("a first frame that is not JSON ends the connection") {
  auto world = agent_world{};
  for (auto* payload : {"nonsense", "{", ""}) {
    auto client = world.connect();
    client.send(guest::to_frame(payload));
    CHECK(client.closed_silently());
  }
}

// [G 9] an unknown op
SCENARIO("an op that the guest does not know is named") {
  auto world = agent_world{};
  CHECK_EQ(world.open("frobnicate").rest(), guest::to_frame(R"({"ok":false,"error":"unknown_op: frobnicate"})"));
}

// [G 10] over the ceiling on an open guest
SCENARIO("an open guest names the general ceiling") {
  auto directory = temp_directory{};
  auto world = agent_world{{{"NAMZU_AGENT_UNIX_PATH", (directory.path() / "s").string()},
                            {"NAMZU_AGENT_BIND_TOKEN", "-"},
                            {"NAMZU_AGENT_MAX_FRAME_BYTES", "1000"}}};
  CHECK_EQ(answer_to(world, "000003e9\n"),
           guest::to_frame(R"x({"ok":false,"error":"frame_too_large: announced 1001 bytes, limit 1000 (NAMZU_AGENT_MAX_FRAME_BYTES)"})x"));
  auto client = world.connect();
  client.send("000003e8\n");
  client.send(R"({"op":"frobnicate")" + std::string(1000 - 19, ' ') + "}");
  CHECK_EQ(client.rest(), guest::to_frame(R"({"ok":false,"error":"unknown_op: frobnicate"})"));
}

// [G 11] a larger header behind a valid request
SCENARIO("a header behind an authenticated request is judged by the general ceiling") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES", "200"}}};
  auto client = world.connect();
  client.send(world.request("frobnicate") + "00001000\n");
  CHECK_EQ(client.rest(), guest::to_frame(R"({"ok":false,"error":"unknown_op: frobnicate"})"));
}

// [G 12] a second request
SCENARIO("a second request on a connection is ignored") {
  auto world = agent_world{};
  auto client = world.connect();
  client.send(world.request("write-file", json{{"path", "a"}, {"content", "1"}})
              + world.request("write-file", json{{"path", "b"}, {"content", "2"}}));
  auto reply = client.event();
  CHECK(reply["ok"] == true);
  CHECK(client.rest().empty());
  CHECK(fs::exists(world.workspace() / "a"));
  CHECK(!fs::exists(world.workspace() / "b"));
}

// [G 13] a reset in the middle of a frame
SCENARIO("a connection that resets harms no other") {
  auto world = agent_world{};
  {
    auto client = world.connect();
    client.send("00000010\n{\"op\"");
    auto hard = linger{1, 0};
    ::setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  }
  CHECK_EQ(answer_to(world, healthz), healthy);
}

// [G 20] keepalive
SCENARIO("connections over TCP are kept alive, those over a unix socket are not") {
  auto value = 0;
  auto size = socklen_t{sizeof value};
  {
    auto world = agent_world{};
    auto client = world.connect();
    client.send("0");
    world.ask("healthz");
    auto end = other_end(client);
    REQUIRE(end >= 0);
    ::getsockopt(end, SOL_SOCKET, SO_KEEPALIVE, &value, &size);
    CHECK_EQ(value, 1);
    ::getsockopt(end, IPPROTO_TCP, TCP_KEEPIDLE, &value, &size);
    CHECK_EQ(value, 15);
  }
  // The first agent is gone, so no number is given back while the second one's are looked for.
  auto directory = temp_directory{};
  auto local = agent_world{{{"NAMZU_AGENT_UNIX_PATH", (directory.path() / "s").string()}}};
  auto before = std::vector<bool>(1024);
  for (auto fd = 0; fd < 1024; ++fd)
    before[static_cast<std::size_t>(fd)] = ::fcntl(fd, F_GETFD) >= 0;
  auto peer = local.connect();
  local.ask("healthz");
  auto seen = 0;
  for (auto fd = 0; fd < 1024; ++fd) {
    auto type = 0;
    if (before[static_cast<std::size_t>(fd)] || fd == peer.fd() || ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
      continue;
    ++seen;
    ::getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &size);
    CHECK_EQ(value, 0);
  }
  CHECK_GE(seen, 1);
}

// [G 215] one process, one boot id
SCENARIO("one agent answers with one boot id") {
  auto world = agent_world{};
  auto boot = world.ask("reserve-execution")["guestBootId"].get<std::string>();
  CHECK_EQ(boot.size(), 36u);
  CHECK_EQ(boot[14], '4');
  CHECK_EQ(world.ask("write-file", json{{"path", "a"}, {"content", ""}})["guestBootId"].get<std::string>(), boot);
  CHECK_EQ(world.ask("read-file", json{{"path", "a"}})["guestBootId"].get<std::string>(), boot);
  CHECK_EQ(world.cancel(world.reserve())["guestBootId"].get<std::string>(), boot);
}

// [G 216] a restart
SCENARIO("a restarted agent has another boot id under the same token") {
  auto boot = std::string{};
  {
    auto world = agent_world{};
    boot = world.ask("reserve-execution")["guestBootId"].get<std::string>();
  }
  auto world = agent_world{};
  auto reply = world.ask("reserve-execution");
  CHECK(reply["ok"] == true);
  CHECK_NE(reply["guestBootId"].get<std::string>(), boot);
}

SCENARIO("what follows a request that waits for its reply is not kept") {
  auto folder = temp_directory{};
  const auto go = folder.path() / "go";
  auto world = agent_world{
    {{"NAMZU_AGENT_FLUSH_COMMAND", "while [ ! -e " + go.string() + " ]; do sleep 0.01; done"}, {"NAMZU_AGENT_FLUSH_TIMEOUT_MS", "60000"}}};
  auto client = raw_client{agent_world::connect_to(world.port())};
  client.send(world.request("flush"));
  auto end = -1;
  REQUIRE(comes_true(world, [&] {
    end = other_end(client);
    return end >= 0 && all_read(client, end);
  }));
  const auto rest = "007fffff\n" + std::string((8 << 20) - 2, 'x'); // all but its last byte
  const auto memory = resident_bytes();
  client.send(rest);
  CHECK(comes_true(world, [&] { return all_read(client, end); }));
  if (memory_is_measured)
    CHECK_LT(resident_bytes(), memory + (4 << 20));
  put(go, "");
  CHECK(client.event()["ok"] == true);
}

// [G 224] a matching pin
SCENARIO("a request that is pinned to this guest is served") {
  auto world = agent_world{};
  auto boot = world.ask("reserve-execution")["guestBootId"].get<std::string>();
  CHECK(world.ask("reserve-execution", std::nullopt, boot)["ok"] == true);
  CHECK(world.ask("write-file", json{{"path", "a"}, {"content", "x"}}, boot)["ok"] == true);
  CHECK(world.ask("read-file", json{{"path", "a"}}, boot)["ok"] == true);
  auto client = world.open("execute", json{{"command", "true"}}, boot);
  CHECK(listen_to(client).last["exitCode"] == 0);
  for (const auto* op : {"list-sessions", "quiesce", "flush"})
    CHECK(world.ask(op, std::nullopt, boot)["ok"] == true);
  // Those that want more than this say the same as without a pin.
  for (const auto* op :
       {"attach-execution", "read-file-stream", "terminal", "attach-session", "start-detached", "kill-session", "tcp-connect"})
    CHECK_EQ(world.open(op, std::nullopt, boot).rest(), world.open(op).rest());
  CHECK_EQ(world.ask("frobnicate", std::nullopt, boot)["error"].get<std::string>(), "unknown_op: frobnicate");
  CHECK_EQ(world.ask("cancel-execution", json{{"executionId", "x"}}, boot)["error"].get<std::string>(), "invalid_execution_id");
}

// [G 225] a mismatching pin on write-file
SCENARIO("a write that is pinned to another guest touches nothing") {
  auto world = agent_world{};
  auto boot = world.ask("reserve-execution")["guestBootId"].get<std::string>();
  auto reply = world.ask("write-file", json{{"path", "d/a"}, {"content", "x"}}, "c81d40ee-15f7-4b2a-b0a9-2e6d93f1587c");
  CHECK_EQ(reply.dump(), R"({"error":"guest_mismatch","guestBootId":")" + boot + R"(","ok":false})");
  CHECK(fs::is_empty(world.workspace()));
}

// [G 226] a mismatching pin on execute
SCENARIO("an execute that is pinned to another guest leaves the reservation") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.open("execute", json{{"executionId", id}, {"command", "/bin/sh"}, {"args", {"-c", "echo x > ran"}}}, "other");
  auto said = listen_to(client);
  CHECK_EQ(said.last["type"].get<std::string>(), "error");
  CHECK_EQ(said.last["error"].get<std::string>(), "guest_mismatch");
  CHECK(said.terminated);
  CHECK(!fs::exists(world.workspace() / "ran"));
  CHECK(world.run(id, "exit 3").last["exitCode"] == 3);
}

// [G 227] the gate comes first
SCENARIO("a wrong token hides a wrong pin") {
  auto world = agent_world{};
  auto client = world.connect();
  client.send(guest::to_frame(R"({"op":"reserve-execution","token":"x","expectedGuestBootId":"other"})"));
  CHECK_EQ(client.rest(), guest::to_frame(R"({"ok":false,"error":"unauthorized"})"));
}

// [G 228] pin before fence
SCENARIO("a fenced guest tells another pin from its own") {
  auto world = agent_world{};
  auto boot = world.ask("reserve-execution")["guestBootId"].get<std::string>();
  world.fence();
  CHECK_EQ(world.ask("reserve-execution", std::nullopt, "other")["error"].get<std::string>(), "guest_mismatch");
  CHECK_EQ(world.ask("reserve-execution", std::nullopt, boot)["error"].get<std::string>(), "agent_retiring");
}

// [G 229] a malformed pin
SCENARIO("a pin that is no boot id is invalid") {
  auto world = agent_world{};
  CHECK_EQ(world.ask("reserve-execution", std::nullopt, "").dump(), R"({"error":"invalid_expected_guest_boot_id","ok":false})");
}

// [G 39] a fenced guest
SCENARIO("a fenced guest says so") {
  auto world = agent_world{};
  world.fence();
  CHECK_EQ(world.ask("healthz").dump(), R"({"features":)" + features.dump() + R"(,"ok":false,"protocolVersion":2,"retiring":true})");
}

// [G 194] the fence before stream ops
SCENARIO("a fenced guest refuses stream ops by a bare reply") {
  auto world = agent_world{};
  auto boot = world.ask("reserve-execution")["guestBootId"].get<std::string>();
  world.fence();
  for (auto* op : {"execute", "terminal", "read-file-stream", "tcp-connect"})
    CHECK_EQ(world.open(op, json::object()).rest(),
             guest::to_frame(R"({"ok":false,"error":"agent_retiring","guestBootId":")" + boot + "\"}"));
}

// [G 99] the fence before attach
SCENARIO("a fenced guest refuses to attach by an event and a terminator") {
  auto world = agent_world{};
  world.fence();
  auto client = world.open("attach-execution", json::object());
  auto said = listen_to(client);
  CHECK_EQ(said.last["type"].get<std::string>(), "error");
  CHECK_EQ(said.last["error"].get<std::string>(), "agent_retiring");
  CHECK(said.terminated);
}
