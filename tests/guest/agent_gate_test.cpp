#define CAF_SUITE agent_gate

#include "guest/gate.hpp"
#include "tests/guest/agent_world.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;

namespace {

const auto unauthorized = std::string{"00000023\n{\"ok\":false,\"error\":\"unauthorized\"}"};
const auto healthz = std::string{"00000010\n{\"op\":\"healthz\"}"};

std::string frame_with(std::string op, json body, std::optional<std::string> with) {
  auto object = json{{"op", std::move(op)}, {"body", std::move(body)}};
  if (with)
    object["token"] = *with;
  return guest::to_frame(object.dump());
}

std::string answer_to(const agent_world& world, std::string_view bytes) {
  auto client = world.connect();
  client.send(bytes);
  return client.rest();
}

} // namespace

SCENARIO("a gate compares tokens, and binds the first one for good") {
  auto preset = guest::credential_gate{secret{"T"}, true};
  CHECK(!preset.admit(std::nullopt));
  CHECK(!preset.admit(""));
  CHECK(!preset.admit("t"));
  CHECK(preset.admit("T"));
  auto first = guest::credential_gate{std::nullopt, true};
  CHECK(!first.open());
  CHECK(!first.admit(""));
  CHECK(first.admit("A"));
  CHECK(!first.admit("B"));
  CHECK(first.admit("A"));
  CHECK(guest::credential_gate(std::nullopt, false).open());
}

SCENARIO("the pool gives up its oldest and counts what is held") {
  auto pool = guest::preauth_pool{2, 10};
  CHECK(!pool.join(1));
  CHECK(!pool.join(2));
  CHECK(pool.charge(1, 6));
  CHECK(pool.charge(2, 4));
  CHECK(!pool.charge(2, 5));
  CHECK(pool.join(3) == std::uint64_t{1});
  pool.leave(1);
  CHECK_EQ(pool.bytes(), 5u);
  CHECK_EQ(pool.size(), 2u);
  auto one = guest::preauth_pool{1, 10};
  CHECK(!one.join(1)); // a newcomer alone evicts nobody
}

// [G 23] no token
SCENARIO("a read without a token is refused") {
  auto world = agent_world{};
  put(world.workspace() / "f", "content");
  CHECK_EQ(answer_to(world, frame_with("read-file", {{"path", "f"}}, std::nullopt)), unauthorized);
  CHECK_EQ(answer_to(world, frame_with("read-file", {{"path", "f"}}, "")), unauthorized);
}

// [G 24] a wrong token
SCENARIO("a write with a wrong token leaves no file") {
  auto world = agent_world{};
  CHECK_EQ(answer_to(world, frame_with("write-file", {{"path", "d/f"}, {"content", "x"}}, "wrong")), unauthorized);
  CHECK(fs::is_empty(world.workspace()));
}

// [G 25] a stream op
SCENARIO("a terminal with a wrong token gets the bare refusal") {
  auto world = agent_world{};
  CHECK_EQ(answer_to(world, frame_with("terminal", {{"command", "/bin/sh"}, {"args", {"-c", "echo x > ran"}}, {"cols", 80}, {"rows", 24}},
                                       "wrong")),
           unauthorized);
  CHECK(fs::is_empty(world.workspace()));
}

// [G 26] healthz is exempt and proves nothing
SCENARIO("healthz needs no token and does not raise the ceiling") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES", "200"},
                            {"NAMZU_AGENT_PREAUTH_IDLE_TIMEOUT_MS", "600000"},
                            {"NAMZU_AGENT_PREAUTH_DEADLINE_MS", "600000"}}};
  GIVEN("a connection whose probe was answered") {
    auto client = world.connect();
    client.send(healthz);
    CHECK(client.event()["ok"] == true);
    WHEN("a header over the ceiling of unknown peers follows") {
      client.send("000000c9\n");
      THEN("the connection is destroyed: it may neither send more nor be told") {
        CHECK(client.rest().empty());
        auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        auto destroyed = false;
        while (!destroyed && std::chrono::steady_clock::now() < until)
          destroyed = !client.send("x");
        CHECK(destroyed);
      }
    }
  }
  GIVEN("a connection that has sent nothing yet") {
    THEN("the same header is refused by name") {
      CHECK_EQ(answer_to(world, "000000c9\n"),
               guest::to_frame(
                 R"x({"ok":false,"error":"frame_too_large: announced 201 bytes, limit 200 (NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES)"})x"));
    }
  }
}

SCENARIO("the ceiling of unknown peers is 8 MiB by default") {
  auto world = agent_world{};
  CHECK_EQ(
    answer_to(world, "00800001\n"),
    "00000074\n{\"ok\":false,\"error\":\"frame_too_large: announced 8388609 bytes, limit 8388608 (NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES)\"}");
}

// [G 27] first use
SCENARIO("the first token is the token") {
  auto world = agent_world{{{"NAMZU_AGENT_BIND_TOKEN", "-"}, {"NAMZU_AGENT_REQUIRE_TOKEN", "1"}}};
  auto ask = [&](const char* with) { return answer_to(world, frame_with("reserve-execution", json::object(), with)); };
  CHECK(ask("A").find("\"ok\":true") != std::string::npos);
  CHECK_EQ(ask("B"), unauthorized);
  CHECK(ask("A").find("\"ok\":true") != std::string::npos);
  CHECK_EQ(ask("B"), unauthorized);
}

// [G 28] an empty first token
SCENARIO("an empty token binds nothing") {
  auto world = agent_world{{{"NAMZU_AGENT_BIND_TOKEN", "-"}, {"NAMZU_AGENT_REQUIRE_TOKEN", "1"}}};
  CHECK_EQ(answer_to(world, frame_with("reserve-execution", json::object(), "")), unauthorized);
  CHECK(answer_to(world, frame_with("reserve-execution", json::object(), "B")).find("\"ok\":true") != std::string::npos);
}

// [G 29] a full pool
SCENARIO("a newcomer takes the place of the oldest unknown connection") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_PREAUTH_CONNECTIONS", "2"}}};
  auto oldest = world.connect();
  auto second = world.connect();
  auto third = world.connect();
  third.send(healthz);
  CHECK(third.event()["ok"] == true);
  CHECK_EQ(
    oldest.rest(),
    guest::to_frame(R"x({"ok":false,"error":"too_many_unauthenticated_connections: limit 2 (NAMZU_AGENT_MAX_PREAUTH_CONNECTIONS)"})x"));
  second.send(healthz);
  CHECK(second.event()["ok"] == true);
}

// [G 30] a trickle
SCENARIO("bytes do not put off the deadline of an unknown connection") {
  auto world = agent_world{{{"NAMZU_AGENT_PREAUTH_IDLE_TIMEOUT_MS", "2000"}, {"NAMZU_AGENT_PREAUTH_DEADLINE_MS", "300"}}};
  auto begin = std::chrono::steady_clock::now();
  auto client = world.connect();
  client.send("00100000\n");
  auto gone = false;
  while (!gone && std::chrono::steady_clock::now() - begin < std::chrono::seconds{20}) {
    client.send("x");
    auto wanted = pollfd{client.fd(), POLLIN, 0};
    gone = ::poll(&wanted, 1, 20) == 1;
  }
  CHECK(gone);
  CHECK(client.closed_silently());
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds{290});
}

// [G 31] silence
SCENARIO("a silent unknown connection is destroyed") {
  auto world = agent_world{{{"NAMZU_AGENT_PREAUTH_IDLE_TIMEOUT_MS", "50"}, {"NAMZU_AGENT_PREAUTH_DEADLINE_MS", "600000"}}};
  auto client = world.connect();
  CHECK(client.closed_silently());
}

SCENARIO("an authenticated connection is not aged out") {
  auto world = agent_world{{{"NAMZU_AGENT_PREAUTH_IDLE_TIMEOUT_MS", "100"}, {"NAMZU_AGENT_PREAUTH_DEADLINE_MS", "100"}}};
  auto client = world.open("execute", json{{"command", "sleep"}, {"args", {"0.4"}}});
  CHECK(listen_to(client).last["exitCode"] == 0);
}

// [G 33] the shared buffer
SCENARIO("the peer whose bytes exceed what all may hold is refused, the others go on") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES", "1000"}, {"NAMZU_AGENT_MAX_PREAUTH_BUFFER_BYTES", "1000"}}};
  auto first = world.connect();
  auto request = world.request("frobnicate", json{{"pad", std::string(700, ' ')}});
  first.send(request.substr(0, 600));
  CHECK(world.ask("healthz")["ok"] == true);
  auto second = world.connect();
  second.send("000003e8\n" + std::string(500, ' '));
  CHECK_EQ(
    second.rest(),
    guest::to_frame(R"x({"ok":false,"error":"preauth_buffer_exhausted: limit 1000 bytes (NAMZU_AGENT_MAX_PREAUTH_BUFFER_BYTES)"})x"));
  first.send(request.substr(600));
  CHECK_EQ(first.rest(), guest::to_frame(R"({"ok":false,"error":"unknown_op: frobnicate"})"));
}
