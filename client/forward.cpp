#include "client/forward.hpp"

#include "client/stream.hpp"
#include "messages/error.hpp"

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <semaphore>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace paddock::client {

namespace {

constexpr std::size_t most_connections = 256;
constexpr std::ptrdiff_t most_opening = 16;
constexpr auto yes = 1;

/// One accepted connection and the thread that carries it.
struct carried {
  int fd = -1;
  std::atomic<bool> over{false};
  std::thread thread;
};

} // namespace

struct port_forward::state {
  ~state() {
    if (listener >= 0)
      ::close(listener);
  }
  void carry(carried& one) {
    auto what = forward_spec{};
    what.port = remote;
    auto inside = true;
    const auto leave_door = [&] {
      if (std::exchange(inside, false))
        door.release();
    };
    door.acquire();
    if (stopping) {
      leave_door();
      return;
    }
    const auto end = run_stream(*at, what, {one.fd, one.fd, -1}, {}, [&](const call_note&) { leave_door(); });
    leave_door();
    if (const auto* why = std::get_if<problem>(&end.how); why != nullptr && failed)
      failed(*why);
    ::shutdown(one.fd, SHUT_RDWR);
    one.over = true;
  }
  void sweep() {
    for (auto one = all.begin(); one != all.end();) {
      if (!one->over) {
        ++one;
        continue;
      }
      one->thread.join();
      ::close(one->fd);
      one = all.erase(one);
    }
  }

  const target* at = nullptr;
  std::uint16_t remote = 0;
  std::function<void(const problem&)> failed;
  int listener = -1;
  std::uint16_t local = 0;
  /// A guest takes so many strangers at once, and each connection is one until its request has come.
  std::counting_semaphore<most_opening> door{most_opening};
  std::atomic<bool> stopping{false}; // who still waits at the door has nothing to carry
  std::list<carried> all;
};

port_forward::port_forward(std::unique_ptr<state> x) : state_(std::move(x)) {
}

port_forward::~port_forward() = default;

result<std::unique_ptr<port_forward>> port_forward::listen(const target& at, const forwarded_ports& ports,
                                                           std::function<void(const problem&)> failed) {
  auto place = sockaddr_in{};
  place.sin_family = AF_INET;
  place.sin_port = htons(ports.local);
  if (::inet_pton(AF_INET, ports.address.c_str(), &place.sin_addr) != 1 || ntohl(place.sin_addr.s_addr) >> 24 != 127)
    return tl::unexpected{make_problem(verdict::usage, "InvalidArgument", "\"" + ports.address + "\" is no address on loopback")};
  // The read itself says nothing and is withdrawn.
  if (auto admitted = at.start(read_spec{".", {}, 0}); !admitted)
    return tl::unexpected{std::move(admitted.error())};
  auto out = std::make_unique<state>();
  out->at = &at;
  out->remote = ports.remote;
  out->failed = std::move(failed);
  out->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ::setsockopt(out->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(out->listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 || ::listen(out->listener, 64) != 0)
    return tl::unexpected{make_problem(
      verdict::failed, "PortTaken", "cannot listen on " + ports.address + ":" + std::to_string(ports.local) + ": " + std::strerror(errno))};
  auto size = socklen_t{sizeof place};
  ::getsockname(out->listener, reinterpret_cast<sockaddr*>(&place), &size);
  out->local = ntohs(place.sin_port);
  return std::unique_ptr<port_forward>{new port_forward{std::move(out)}};
}

std::uint16_t port_forward::port() const noexcept {
  return state_->local;
}

void port_forward::run(int stop) {
  auto& all = state_->all;
  for (;;) {
    state_->sweep();
    // One that ended is swept within a second.
    std::array<pollfd, 2> ready = {{{stop, POLLIN, 0}, {all.size() < most_connections ? state_->listener : -1, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), 1000);
    if (ready[0].revents != 0)
      break;
    if (ready[1].revents == 0)
      continue;
    const auto fd = ::accept4(state_->listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      // Where no descriptor is left the listener stays readable.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        ::poll(ready.data(), 1, 100);
      continue;
    }
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    auto& one = all.emplace_back();
    one.fd = fd;
    one.thread = std::thread{[this, &one] { state_->carry(one); }};
  }
  state_->stopping = true;
  ::close(std::exchange(state_->listener, -1));
  for (auto& one : all)
    ::shutdown(one.fd, SHUT_RDWR);
  for (auto& one : all) {
    one.thread.join();
    ::close(one.fd);
  }
  all.clear();
}

} // namespace paddock::client
