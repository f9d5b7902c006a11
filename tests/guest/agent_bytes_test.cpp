#define CAF_SUITE agent_bytes

#include "base/base64.hpp"
#include "guest/features.hpp"
#include "tests/guest/agent_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <random>

using namespace paddock;
using namespace paddock::test;

namespace {

std::string random_bytes(std::size_t n, unsigned seed) {
  auto random = std::mt19937{seed};
  auto result = std::string(n, '\0');
  for (auto& x : result)
    x = static_cast<char>(random());
  return result;
}

std::string input_frame(std::string_view bytes) {
  return guest::to_frame(json{{"type", "stdin"}, {"data", to_base64(bytes)}}.dump());
}

const auto end_of_input = guest::to_frame(R"({"type":"stdin_end"})");

json body(const std::string& line) {
  return {{"command", "/bin/sh"}, {"args", {"-c", line}}, {"outputEncoding", "base64"}, {"stdinStream", true}};
}

std::string decoded(const json& event) {
  if (event.value("encoding", "") != "base64")
    return "(not base64)";
  return from_base64(event["data"].get<std::string>()).value_or("(not base64)");
}

std::uint64_t written_by(int pid) {
  auto in = std::ifstream{"/proc/" + std::to_string(pid) + "/io"};
  auto name = std::string{};
  auto value = std::uint64_t{0};
  while (in >> name >> value)
    if (name == "wchar:")
      return value;
  return 0;
}

} // namespace

SCENARIO("bytes of any kind go through a command and come back") {
  const auto seed = std::random_device{}();
  auto sent = random_bytes(5'000'000, seed);
  auto world = agent_world{};
  auto client = world.open("execute", body("cat; echo err >&2"));
  auto sender = std::thread{[&] {
    for (auto at = std::size_t{0}; at < sent.size(); at += guest::exec_bytes_piece)
      client.send(input_frame(std::string_view{sent}.substr(at, guest::exec_bytes_piece)));
    client.send(end_of_input);
  }};
  auto out = std::string{};
  auto err = std::string{};
  auto last = json{};
  for (auto event = client.event(); !event.is_discarded(); event = client.event()) {
    if (event["type"] == "stdout_delta")
      out += decoded(event);
    else if (event["type"] == "stderr_delta")
      err += decoded(event);
    else
      last = event;
  }
  sender.join();
  if (out != sent)
    FAIL("seed " << seed);
  CHECK_EQ(err, "err\n");
  CHECK(last["exitCode"] == 0);
}

SCENARIO("a reader that does not read holds the command up, and loses nothing") {
  auto world = agent_world{};
  constexpr auto size = std::uint64_t{64} << 20;
  auto client = agent_world::connect_to(world.port(), 65536);
  client.send(world.request("execute", body("echo $$; exec head -c 67108864 /dev/zero")));
  auto first = decoded(client.event());
  auto pid = std::stoi(first);
  // The command comes to rest: what it has written no longer changes over many round trips with the guest.
  auto written = std::uint64_t{0};
  for (auto same = 0; same < 200;) {
    world.ask("healthz");
    auto now = written_by(pid);
    if (now == 0 && written > 0)
      written = size; // it has written everything and is gone
    same = now == written || now == 0 ? same + 1 : 0;
    written = std::max(written, now);
  }
  MESSAGE("held up at " << written);
  CHECK_LT(written, size / 2);
  auto total = std::uint64_t{first.size() - first.find('\n') - 1};
  auto last = json{};
  for (auto event = client.event(); !event.is_discarded(); event = client.event()) {
    last = event;
    if (event["type"] == "stdout_delta")
      total += decoded(event).size();
  }
  CHECK_EQ(total, size);
  CHECK(last["exitCode"] == 0);
}

SCENARIO("a command that was held up goes on once its reader is gone") {
  auto world = agent_world{};
  auto id = world.reserve();
  {
    auto client = agent_world::connect_to(world.port(), 65536);
    auto x = body("echo up; head -c 67108864 /dev/zero; echo x > ran");
    x["executionId"] = id;
    client.send(world.request("execute", x));
    client.event();
  }
  REQUIRE(world.reaches(id, "terminal"));
  CHECK_EQ(content_of(world.workspace() / "ran"), "x\n");
}

SCENARIO("a command that does not read holds the sender up") {
  auto world = agent_world{};
  auto client = world.open("execute", body("while [ ! -e go ]; do sleep 0.01; done; wc -c"));
  // More than the window, the pipe and the buffers of both sockets hold.
  auto piece = input_frame(std::string(guest::exec_bytes_piece, 'x'));
  auto sent = std::size_t{0};
  for (auto idle = 0; idle < 50 && sent < 2000 * piece.size();) {
    auto n = ::send(client.fd(), piece.data() + sent % piece.size(), piece.size() - sent % piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    idle = n > 0 ? 0 : idle + 1;
    sent += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    if (n <= 0)
      world.ask("healthz");
  }
  CHECK_LT(sent, 2000 * piece.size());
  auto sender = std::thread{[&] {
    if (auto at = sent % piece.size(); at > 0)
      client.send(std::string_view{piece}.substr(at));
    client.send(end_of_input);
  }};
  put(world.workspace() / "go", "");
  auto pieces = (sent + piece.size() - 1) / piece.size();
  CHECK_EQ(std::stoul(decoded(client.event())), pieces * guest::exec_bytes_piece);
  sender.join();
}

SCENARIO("a piece of input that is too large or not base64 destroys the connection") {
  auto world = agent_world{};
  for (auto& bad : {input_frame(std::string(guest::exec_bytes_piece + 1, 'x')), guest::to_frame(R"({"type":"stdin","data":"*"})"),
                    guest::to_frame(R"({"type":"stdin"})")}) {
    auto client = world.open("execute", body("echo up; cat"));
    client.event();
    client.send(bad);
    CHECK(client.rest().empty());
  }
  // A header above what any frame may have is refused in words, as on every connection.
  auto client = world.open("execute", body("echo up; cat"));
  client.event();
  client.send("7fffffff\n");
  CHECK_NE(client.rest().find("frame_too_large: announced 2147483647 bytes"), std::string::npos);
}

SCENARIO("the pipe is closed when the connection is lost before the end of the input") {
  auto world = agent_world{};
  auto id = world.reserve();
  {
    auto x = body("echo up; cat > got; echo x > ran");
    x["executionId"] = id;
    auto client = world.open("execute", x);
    client.event();
    client.send(input_frame("abc"));
  }
  REQUIRE(world.reaches(id, "terminal"));
  CHECK_EQ(content_of(world.workspace() / "ran"), "x\n");
  CHECK_EQ(content_of(world.workspace() / "got"), "abc");
}

SCENARIO("input after the command has closed its stdin is discarded") {
  auto world = agent_world{};
  auto client = world.open("execute", body("exec <&-; echo closed; while [ ! -e go ]; do sleep 0.01; done; exit 6"));
  client.event();
  for (auto i = 0; i < 20; ++i)
    client.send(input_frame(std::string(guest::exec_bytes_piece, 'x')));
  client.send(end_of_input);
  put(world.workspace() / "go", "");
  CHECK(client.event()["exitCode"] == 6);
}

SCENARIO("without the fields later frames are ignored and deltas are text") {
  auto world = agent_world{};
  auto client = world.open("execute", json{{"command", "/bin/sh"}, {"args", {"-c", "printf 'a\\377b'; cat"}}});
  client.send(input_frame("abc"));
  auto said = listen_to(client);
  CHECK_EQ(said.out, "a\xef\xbf\xbd"
                     "b");
}
