#include "apps/paddock/forward.hpp"

#include "client/stream.hpp"
#include "messages/error.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <list>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <semaphore>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace paddock::cli {

namespace {

constexpr std::size_t most_connections = 256;
constexpr std::ptrdiff_t most_opening = 16;

/// One accepted connection and the thread that carries it.
struct carried {
  int fd = -1;
  std::atomic<bool> over{false};
  std::thread thread;
};

/// A guest takes so many strangers at once, and each connection is one until its request has come.
using opening = std::counting_semaphore<most_opening>;

void carry(const client::target& at, const arguments& args, std::uint16_t remote, opening& door, carried& one) {
  auto what = forward_spec{};
  what.port = remote;
  auto inside = true;
  const auto leave_door = [&] {
    if (std::exchange(inside, false))
      door.release();
  };
  door.acquire();
  const auto end = client::run_stream(at, what, {one.fd, one.fd, -1}, {}, [&](const call_note&) { leave_door(); });
  leave_door();
  if (const auto* why = std::get_if<problem>(&end.how))
    print_problem(std::cerr, args.how(), *why);
  ::shutdown(one.fd, SHUT_RDWR);
  one.over = true;
}

void sweep(std::list<carried>& all) {
  for (auto at = all.begin(); at != all.end();) {
    if (!at->over) {
      ++at;
      continue;
    }
    at->thread.join();
    ::close(at->fd);
    at = all.erase(at);
  }
}

} // namespace

int run_forward(const client::target& at, const arguments& args, const forwarded& ports) {
  const auto cannot = [&](const char* what) {
    return refuse(args,
                  make_problem(verdict::failed, "PortTaken",
                               std::string{what} + " " + ports.address + ":" + std::to_string(ports.local) + ": " + std::strerror(errno)));
  };
  // What is refused to everybody is refused before anybody connects. The read itself says nothing and is withdrawn.
  if (auto admitted = at.start(read_spec{".", {}, 0}); !admitted)
    return refuse(args, admitted.error());
  const auto listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  auto place = sockaddr_in{};
  place.sin_family = AF_INET;
  place.sin_port = htons(ports.local);
  if (::inet_pton(AF_INET, ports.address.c_str(), &place.sin_addr) != 1)
    return misuse(args, "\"" + ports.address + "\" is no address on loopback");
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 || ::listen(listener, 64) != 0)
    return cannot("cannot listen on");
  auto size = socklen_t{sizeof place};
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size);
  std::cout << "forwarding " << ports.address << ":" << ntohs(place.sin_port) << std::endl;
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  const auto signals = ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
  auto door = opening{most_opening};
  auto all = std::list<carried>{};
  for (;;) {
    sweep(all);
    // One that ended is swept within a second.
    std::array<pollfd, 2> ready = {{{signals, POLLIN, 0}, {all.size() < most_connections ? listener : -1, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), 1000);
    if (ready[0].revents != 0)
      break;
    if (ready[1].revents == 0)
      continue;
    const auto fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0)
      continue;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    auto& one = all.emplace_back();
    one.fd = fd;
    one.thread = std::thread{[&at, &args, remote = ports.remote, &door, &one] { carry(at, args, remote, door, one); }};
  }
  ::close(listener);
  for (auto& one : all)
    ::shutdown(one.fd, SHUT_RDWR);
  for (auto& one : all) {
    one.thread.join();
    ::close(one.fd);
  }
  ::close(signals);
  return 0;
}

} // namespace paddock::cli
