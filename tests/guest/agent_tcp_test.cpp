#define CAF_SUITE agent_tcp

#include "base/base64.hpp"
#include "guest/tcp_request.hpp"
#include "tests/guest/agent_world.hpp"
#include "tests/guest/other_end.hpp"
#include "tests/guest/terminal_client.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <random>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto much = std::size_t{64} << 20;

/// A listening socket on a loopback port of the kernel's choice.
class service {
public:
  explicit service(bool six = false) {
    fd_ = ::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto v4 = sockaddr_in{};
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto v6 = sockaddr_in6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_addr = in6addr_loopback;
    auto* address = six ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
    auto size = static_cast<socklen_t>(six ? sizeof v6 : sizeof v4);
    if (::bind(fd_, address, size) != 0 || ::listen(fd_, 8) != 0 || ::getsockname(fd_, address, &size) != 0)
      throw std::runtime_error{"no port"};
    port_ = ntohs(six ? v6.sin6_port : v4.sin_port);
  }
  ~service() {
    close();
  }
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  int port() const {
    return port_;
  }
  void close() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }
  raw_client accept() const {
    auto wanted = pollfd{fd_, POLLIN, 0};
    if (::poll(&wanted, 1, 20'000) != 1)
      throw std::runtime_error{"nobody connected for 20 s"};
    return raw_client{::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)};
  }

private:
  int fd_ = -1;
  int port_ = 0;
};

std::string data_frame(std::string_view bytes) {
  return guest::to_frame(R"({"type":"data","data":")" + to_base64(bytes) + R"("})");
}

const auto end_frame = guest::to_frame(R"({"type":"end"})");

std::string event_frame(const std::string& text) {
  return guest::to_frame(text);
}

/// The bytes of data events until `n` have come.
std::string bytes_of(raw_client& client, std::size_t n) {
  auto result = std::string{};
  while (result.size() < n) {
    auto event = client.event();
    if (event.is_discarded() || event["type"] != "data")
      throw std::runtime_error{"no data: " + event.dump()};
    result += from_base64(event["data"].get<std::string>()).value();
  }
  return result;
}

std::string exactly(raw_client& service_side, std::size_t n) {
  auto result = std::string{};
  while (result.size() < n) {
    auto more = service_side.some();
    if (more.empty())
      throw std::runtime_error{"the service got only " + std::to_string(result.size())};
    result += more;
  }
  return result;
}

std::string random_bytes(std::size_t n, unsigned seed) {
  auto random = std::mt19937{seed};
  auto result = std::string(n, '\0');
  for (auto& x : result)
    x = static_cast<char>(random());
  return result;
}

/// Whether `bytes` are what stands at `at` of `piece` said again and again.
bool goes_on(std::string_view piece, std::size_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    auto expected = piece.substr(at % piece.size(), bytes.size());
    if (!bytes.starts_with(expected))
      return false;
    bytes.remove_prefix(expected.size());
    at += expected.size();
  }
  return true;
}

/// Waits until the sender of `much` bytes on `fd` comes to rest: it is not done, and over many round trips with the guest the
/// kernel takes nothing of it.
std::size_t rest_of(const agent_world& world, int fd, const std::atomic<std::size_t>& sent) {
  auto last = sent.load();
  for (auto same = 0; same < 200 && last < much;) {
    world.ask("healthz");
    auto wanted = pollfd{fd, POLLOUT, 0};
    auto now = sent.load();
    same = now == last && ::poll(&wanted, 1, 0) == 0 ? same + 1 : 0;
    last = now;
  }
  return last;
}

/// An open connection to a service, with both ends.
struct open_world : agent_world {
  explicit open_world(json extra = json::object(), int receive_buffer = 0) : client(agent_world::connect_to(port(), receive_buffer)) {
    auto body = json{{"port", listening.port()}};
    body.update(extra);
    client.send(request("tcp-connect", body));
    ready = client.event();
    peer.emplace(listening.accept());
  }

  service listening;
  raw_client client;
  json ready;
  std::optional<raw_client> peer;
};

} // namespace

// [G 179] bytes both ways
SCENARIO("a connection to a service carries any bytes both ways") {
  for (auto six : {false, true}) {
    auto world = agent_world{};
    auto listening = service{six};
    auto body = json{{"port", listening.port()}};
    if (six)
      body["host"] = "::1";
    auto client = world.open("tcp-connect", body);
    CHECK_EQ(client.frame().value_or(""), R"({"type":"ready","guestBootId":")" + world.agent->boot().text() + R"("})");
    auto peer = listening.accept();
    auto bytes = random_bytes(100'000, 7);
    client.send(data_frame(bytes));
    CHECK(exactly(peer, bytes.size()) == bytes);
    std::reverse(bytes.begin(), bytes.end());
    peer.send(bytes);
    CHECK(bytes_of(client, bytes.size()) == bytes);
  }
}

SCENARIO("what the host sends before ready reaches the service, in order") {
  auto world = agent_world{};
  auto listening = service{};
  auto client = world.connect();
  client.send(world.request("tcp-connect", json{{"port", listening.port()}, {"host", "127.0.0.1"}}) + data_frame("ab") + data_frame("cd")
              + end_frame + data_frame("ef"));
  auto peer = listening.accept();
  CHECK_EQ(peer.rest(), "abcd");
  CHECK(client.event()["type"] == "ready");
}

// [G 180] the guest's half: only its loopback, in these words
SCENARIO("nothing but the guest's loopback is connected to") {
  auto world = agent_world{};
  const auto refusal = event_frame(R"({"type":"error","error":"invalid_loopback_target"})");
  for (const auto& body :
       {json{{"host", "10.0.0.1"}, {"port", 80}}, json{{"host", "localhost"}, {"port", 80}}, json{{"host", "127.0.0.2"}, {"port", 80}},
        json{{"host", "::"}, {"port", 80}}, json{{"host", nullptr}, {"port", 80}}, json{{"host", 1}, {"port", 80}}, json{{"port", 0}},
        json{{"port", 65536}}, json{{"port", 1.5}}, json{{"port", -1}}, json{{"port", "x"}}, json::object()})
    CHECK_EQ(world.open("tcp-connect", body).rest(), refusal);
  CHECK_EQ(world.open("tcp-connect").rest(), refusal);
}

// [G 181] a closed port
SCENARIO("a port that nobody listens on is an error, and nothing else") {
  auto world = agent_world{};
  for (auto six : {false, true}) {
    auto listening = service{six};
    listening.close();
    auto port = std::to_string(listening.port());
    auto said = world.open("tcp-connect", json{{"port", listening.port()}, {"host", six ? "::1" : "127.0.0.1"}}).rest();
    CHECK_EQ(said, event_frame(R"({"type":"error","error":"connect ECONNREFUSED )" + std::string{six ? "[::1]" : "127.0.0.1"} + ":" + port
                               + R"("})"));
  }
}

// [G 182] the host ends its side; [G 183] the service closes
SCENARIO("the service sees the end of the host's side and may still answer, and its own end ends everything") {
  auto world = open_world{};
  world.client.send(data_frame("question") + end_frame);
  CHECK_EQ(world.peer->rest(), "question");
  world.peer->send("answer");
  CHECK_EQ(bytes_of(world.client, 6), "answer");
  world.client.send(data_frame("late"));
  world.peer->send("more");
  CHECK_EQ(bytes_of(world.client, 4), "more");
  world.peer->close();
  CHECK_EQ(world.client.rest(), end_frame);
}

SCENARIO("the end of the service ends a connection whose host has not ended") {
  auto world = open_world{};
  world.peer->send("bye");
  world.peer->close();
  CHECK_EQ(bytes_of(world.client, 3), "bye");
  CHECK_EQ(world.client.rest(), end_frame);
}

SCENARIO("a service that breaks off is an error, after what it had sent") {
  auto world = open_world{};
  auto hard = linger{1, 0};
  ::setsockopt(world.peer->fd(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  world.peer->close();
  auto last = world.client.event();
  CHECK(last["type"] == "error");
  CHECK(last["error"].get<std::string>().find("ECONNRESET") != std::string::npos);
  CHECK_EQ(world.client.rest(), "");
}

// [G 184] the host leaves
SCENARIO("a host that leaves takes the connection to the service with it") {
  auto world = open_world{};
  world.client.close();
  CHECK_EQ(world.peer->rest(), "");
  // Not only the guest's side has ended: what the service sends comes to nobody.
  auto refused = false;
  for (auto until = std::chrono::steady_clock::now() + 20s; !refused && std::chrono::steady_clock::now() < until;)
    refused = ::send(world.peer->fd(), "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN;
  CHECK(refused);
}

SCENARIO("a host that leaves while the service holds it up takes the connection to the service with it") {
  auto world = open_world{};
  const auto to_service = other_end(*world.peer);
  const auto to_host = other_end(world.client);
  REQUIRE(to_service >= 0);
  REQUIRE(to_host >= 0);
  // One piece more whenever the guest has read all, until it leaves one unread: so the end of the host waits behind little.
  const auto frame = data_frame(std::string(64 * 1024, 'x'));
  auto sent = 0;
  CHECK(comes_to_rest([&] { return sent; },
                      [&] {
                        if (all_read(world.client, to_host)) {
                          world.client.send(frame);
                          ++sent;
                        }
                        world.ask("healthz");
                      }));
  world.client.close();
  // The service reads nothing, so it cannot tell; the guest's end of the connection is gone.
  CHECK(eventually([&] { return other_end(*world.peer) < 0; }));
}

SCENARIO("destroy tears both sides down, and the guest says nothing more") {
  auto world = open_world{};
  world.client.send(event_frame(R"({"type":"destroy"})"));
  CHECK_EQ(world.client.rest(), "");
  CHECK_EQ(world.peer->rest(), "");
}

// [G 185] 9 MiB in one frame
SCENARIO("a frame of more than 8 MiB is dropped, and the connection stays") {
  auto world = open_world{};
  auto sender = std::thread{[&] {
    world.client.send(data_frame(std::string(9U << 20, 'x')));
    world.client.send(data_frame(std::string(24U << 20, 'y'))); // not even kept
    world.client.send(data_frame(std::string(8U << 20, 'z')));
    world.client.send(data_frame("after") + end_frame);
  }};
  auto got = world.peer->rest();
  sender.join();
  CHECK(got == std::string(8U << 20, 'z') + "after");
  world.peer->send("still");
  CHECK_EQ(bytes_of(world.client, 5), "still");
}

SCENARIO("frames that are not understood are ignored") {
  auto world = open_world{};
  for (const auto& payload : {R"({"type":"data","data":"!!"})", R"({"type":"data","data":7})", R"({"type":"data"})", R"({"type":"other"})",
                              R"({"type":7})", "[]", "no json", R"({"data":"YWI="})", R"({"type":"heartbeat"})", ""})
    world.client.send(event_frame(payload));
  // Another order, another notation, the other alphabet.
  world.client.send(event_frame(R"({"data":"YW\u0049","type":"data","x":1})") + event_frame(R"({"type":"data","data":"\/_8="})"));
  world.client.send(end_frame);
  CHECK_EQ(world.peer->rest(), "ab\xff\xff");
}

SCENARIO("a service that does not read holds the host up, and nothing is lost") {
  auto world = open_world{};
  const auto piece = random_bytes(64 * 1024, 11);
  auto sent = std::atomic<std::size_t>{0};
  auto sender = std::thread{[&] {
    auto frame = data_frame(piece);
    for (auto at = std::size_t{0}; at < much && world.client.send(frame); at += piece.size())
      sent = at + piece.size();
    world.client.send(end_frame);
  }};
  auto held = rest_of(world, world.client.fd(), sent);
  MESSAGE("held up at " << held);
  CHECK_LT(held, much / 2);
  auto same = true;
  auto total = std::size_t{0};
  for (auto more = world.peer->some(); !more.empty(); more = world.peer->some()) {
    same = same && goes_on(piece, total, more);
    total += more.size();
  }
  sender.join();
  CHECK_EQ(total, much);
  CHECK(same);
}

SCENARIO("a host that does not read holds the service up, and nothing is lost") {
  auto world = open_world{json::object(), 65536};
  const auto piece = random_bytes(64 * 1024, 13);
  const auto service_end = world.peer->fd(); // the sender closes it
  auto sent = std::atomic<std::size_t>{0};
  auto sender = std::thread{[&] {
    for (auto at = std::size_t{0}; at < much && world.peer->send(piece); at += piece.size())
      sent = at + piece.size();
    world.peer->close();
  }};
  auto held = rest_of(world, service_end, sent);
  MESSAGE("held up at " << held);
  CHECK_LT(held, much / 2);
  auto same = true;
  auto total = std::size_t{0};
  auto last = json{};
  for (auto event = world.client.event(); !event.is_discarded(); event = world.client.event()) {
    last = event;
    if (event["type"] != "data")
      continue;
    auto bytes = from_base64(event["data"].get<std::string>()).value();
    same = same && goes_on(piece, total, bytes);
    total += bytes.size();
  }
  sender.join();
  CHECK_EQ(total, much);
  CHECK(same);
  CHECK(last["type"] == "end");
}

SCENARIO("an armed connection beats, and a silent host loses it with its service") {
  auto world = open_world{{{"heartbeatMs", 100}}};
  CHECK(world.ready["heartbeatMs"] == 100);
  world.time.advance(100ms);
  // The heart may have been armed only after that: then it beats one interval later, and still before it would give up.
  auto beat = pollfd{world.client.fd(), POLLIN, 0};
  if (::poll(&beat, 1, 2'000) == 0)
    world.time.advance(100ms);
  CHECK(world.client.event() == json({{"type", "heartbeat"}}));
  world.client.send(event_frame(R"({"type":"heartbeat"})") + data_frame("x"));
  CHECK_EQ(exactly(*world.peer, 1), "x");
  world.time.advance(300ms);
  CHECK_EQ(world.peer->rest(), "");
  world.client.rest();
}

SCENARIO("a host that is held up is not taken for dead") {
  auto world = open_world{{{"heartbeatMs", 100}}};
  const auto piece = std::string(64 * 1024, 'p');
  auto sent = std::atomic<std::size_t>{0};
  auto sender = std::thread{[&] {
    auto frame = data_frame(piece);
    for (auto at = std::size_t{0}; at < much && world.client.send(frame); at += piece.size())
      sent = at + piece.size();
    world.client.send(end_frame);
  }};
  rest_of(world, world.client.fd(), sent);
  world.time.advance(10s);
  CHECK(world.client.event() == json({{"type", "heartbeat"}})); // it has polled since
  auto total = std::size_t{0};
  for (auto more = world.peer->some(); !more.empty(); more = world.peer->some())
    total += more.size();
  sender.join();
  CHECK_EQ(total, much);
}

// [G 194] a fenced guest
SCENARIO("a fenced guest refuses the streams that are no attachment with a bare reply") {
  auto world = agent_world{};
  auto listening = service{};
  put(world.workspace() / "file", "x");
  world.fence();
  const auto refusal = event_frame(R"({"ok":false,"error":"agent_retiring","guestBootId":")" + world.agent->boot().text() + R"("})");
  CHECK_EQ(world.open("execute", json{{"command", "true"}}).rest(), refusal);
  CHECK_EQ(world.open("terminal", json{{"cols", 80}, {"rows", 24}}).rest(), refusal);
  CHECK_EQ(world.open("read-file-stream", json{{"path", "file"}}).rest(), refusal);
  CHECK_EQ(world.open("tcp-connect", json{{"port", listening.port()}}).rest(), refusal);
}
