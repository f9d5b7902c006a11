#define CAF_SUITE forward

#include "client/forward.hpp"
#include "messages/error.hpp"
#include "tests/client/scripted_call.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

/// What the other end of a connection to this port on loopback says, to its end.
std::string heard_at(std::uint16_t port) {
  const auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto place = sockaddr_in{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto out = std::string{};
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0) {
    auto piece = std::array<char, 256>{};
    for (auto n = ::read(fd, piece.data(), piece.size()); n > 0; n = ::read(fd, piece.data(), piece.size()))
      out.append(piece.data(), static_cast<std::size_t>(n));
  }
  ::close(fd);
  return out;
}

} // namespace

SCENARIO("a connection is carried to its end, and stopping ends the rest") {
  auto at = scripted_target{};
  at.says = {call_event{output_piece{1, bytes_of("hello")}}, call_event{call_end{}}};
  auto forward = port_forward::listen(at, {"127.0.0.1", 0, 80}, [](const problem&) {});
  REQUIRE(forward);
  const auto stop = ::eventfd(0, EFD_CLOEXEC);
  auto carrying = std::thread{[&] { (*forward)->run(stop); }};
  CHECK_EQ(heard_at((*forward)->port()), "hello");
  CHECK_EQ(heard_at((*forward)->port()), "hello");
  ::eventfd_write(stop, 1);
  carrying.join();
  ::close(stop);
  REQUIRE_EQ(at.started.size(), 3u); // the first one asked whether anybody is let in
  CHECK_EQ(std::get<forward_spec>(at.started[1].what).port, 80);
}

SCENARIO("a connection that cannot be carried is closed, also where nobody wants to hear why") {
  auto at = scripted_target{};
  at.says = {call_event{make_problem(verdict::failed, "RemoteRefused", "nobody listens there")}};
  auto forward = port_forward::listen(at, {"127.0.0.1", 0, 80}, {});
  REQUIRE(forward);
  const auto stop = ::eventfd(0, EFD_CLOEXEC);
  auto carrying = std::thread{[&] { (*forward)->run(stop); }};
  CHECK_EQ(heard_at((*forward)->port()), "");
  ::eventfd_write(stop, 1);
  carrying.join();
  ::close(stop);
}

SCENARIO("what is refused to everybody is refused before anybody connects") {
  auto at = scripted_target{};
  at.refuses = make_problem(verdict::refused, "WorkspaceSuspended", "asleep");
  CHECK_EQ(port_forward::listen(at, {"127.0.0.1", 0, 80}, {}).error().reason, "WorkspaceSuspended");
}

SCENARIO("only loopback is listened on") {
  auto at = scripted_target{};
  for (const auto* address : {"0.0.0.0", "10.0.0.1", "::1", "localhost", ""})
    CHECK_EQ(port_forward::listen(at, {address, 0, 80}, {}).error().how, verdict::usage);
  CHECK(at.started.empty());
}

SCENARIO("a local port that is taken is said to be") {
  auto at = scripted_target{};
  at.says = {call_event{call_end{}}};
  const auto first = port_forward::listen(at, {"127.0.0.1", 0, 80}, {});
  REQUIRE(first);
  CHECK_EQ(port_forward::listen(at, {"127.0.0.1", (*first)->port(), 80}, {}).error().reason, "PortTaken");
}
