#include "guest/agent/agent.hpp"

#include "guest/agent/connection.hpp"
#include "guest/agent/core.hpp"
#include "guest/agent/flusher.hpp"
#include "guest/agent/process.hpp"
#include "guest/agent/session_table.hpp"
#include "guest/agent/shell_child.hpp"
#include "guest/agent/shutdown.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using error_code = boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr auto keepalive_delay_s = 15;
constexpr auto accept_pause = 25ms;
constexpr auto reseed_bound = 30s; // [G] 14 gives none, and a start that waits for ever helps nobody

struct bound_listener {
  unique_fd fd;
  std::string address;
};

using listening = tl::expected<bound_listener, std::string>;

struct opener {
  listening operator()(const agent_config::unix_listener& x) const {
    auto address = sockaddr_un{};
    address.sun_family = AF_UNIX;
    if (x.path.size() >= sizeof address.sun_path)
      return tl::unexpected{std::string{"NAMZU_AGENT_UNIX_PATH is longer than a socket address holds"}};
    std::memcpy(address.sun_path, x.path.data(), x.path.size());
    ::unlink(x.path.c_str());
    return bind(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address, x.path);
  }

  listening operator()(const agent_config::inherited_listener&) const {
    auto result = bound_listener{unique_fd{::fcntl(3, F_DUPFD_CLOEXEC, 3)}, "descriptor 3"};
    if (!result.fd)
      return tl::unexpected{system_message(errno, "dup", "descriptor 3")};
    ::fcntl(3, F_SETFD, FD_CLOEXEC);
    ::fcntl(result.fd.get(), F_SETFL, ::fcntl(result.fd.get(), F_GETFL) | O_NONBLOCK);
    return result;
  }

  listening operator()(const agent_config::tcp_listener& x) const {
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_port = htons(x.port);
    if (::inet_pton(AF_INET, x.address.c_str(), &address.sin_addr) != 1)
      return tl::unexpected{std::string{"PADDOCK_GUEST_TCP_ADDRESS must be an IPv4 address"}};
    auto result = bind(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address, x.address + ":" + std::to_string(x.port));
    if (!result)
      return result;
    auto size = socklen_t{sizeof address};
    if (::getsockname(result->fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0)
      result->address = x.address + ":" + std::to_string(ntohs(address.sin_port));
    return result;
  }

private:
  static listening bind(int family, const sockaddr* address, socklen_t size, const std::string& name) {
    auto fd = unique_fd{::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd)
      return tl::unexpected{system_message(errno, "socket", name)};
    auto on = 1;
    if (family == AF_INET)
      ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd.get(), address, size) != 0)
      return tl::unexpected{system_message(errno, "bind", name)};
    if (::listen(fd.get(), SOMAXCONN) != 0)
      return tl::unexpected{system_message(errno, "listen", name)};
    return bound_listener{std::move(fd), name};
  }
};

void set_tcp_options(int fd) {
  auto on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  auto delay = int{keepalive_delay_s};
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &delay, sizeof delay);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

} // namespace

struct agent::state : std::enable_shared_from_this<agent::state> {
  state(asio::io_context& io, agent_config config, agent_surroundings around) :
    core(std::make_shared<agent_core>(io, std::move(config), around.time, around.work, std::move(around.files), std::move(around.log),
                                      std::move(around.sync))),
    listener(io),
    retry(io) {
  }

  // -- accepting ------------

  void accept() {
    listener.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](error_code ec) {
      if (ec || !self->listener.is_open())
        return;
      self->accept_all();
    });
  }

  void accept_all() {
    for (auto turn = 0; turn < 16; ++turn) {
      auto peer = sockaddr_storage{};
      auto size = socklen_t{sizeof peer};
      auto fd = ::accept4(listener.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
        continue;
      if (fd < 0 && errno != EAGAIN) {
        // Out of descriptors or memory: the connection waits in the queue until some are free again.
        retry.expires_after(accept_pause);
        retry.async_wait([self = shared_from_this()](error_code ec) {
          if (!ec && self->listener.is_open())
            self->accept();
        });
        return;
      }
      if (fd < 0)
        break;
      auto family = peer.ss_family == AF_INET ? AF_INET : peer.ss_family;
      if (family == AF_INET)
        set_tcp_options(fd);
      auto socket = connection::socket{core->io, asio::generic::stream_protocol{family == 0 ? AF_UNIX : family, 0}, fd};
      auto id = core->next_connection++;
      auto made = std::make_shared<connection>(core, std::move(socket), id);
      core->connections.emplace(id, made);
      made->start();
    }
    accept();
  }

  // -- listening ------------

  void close() {
    auto ignored = error_code{};
    listener.close(ignored);
    retry.cancel();
  }

  tl::expected<void, std::string> listen() {
    close();
    auto bound = std::visit(opener{}, core->config.listener);
    if (!bound)
      return tl::unexpected{bound.error()};
    address = bound->address;
    if (auto* tcp = std::get_if<agent_config::tcp_listener>(&core->config.listener))
      tcp->port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))); // the kernel's choice stays
    listener.assign(bound->fd.release());
    accept();
    return {};
  }

  using listened = std::function<void(tl::expected<void, std::string>)>;

  void listen_unless_ending(const listened& then) {
    if (core->terminating || core->destroyed)
      return;
    auto bound = listen();
    then(std::move(bound));
  }

  void reseed_and_listen(listened then) {
    const auto& hook = core->config.reseed_hook;
    if (!hook)
      return listen_unless_ending(then);
    run_shell(core, *hook, reseed_bound,
              [self = shared_from_this(), then = std::move(then)](const shell_end&) { self->listen_unless_ending(then); });
  }

  std::shared_ptr<agent_core> core;
  asio::posix::stream_descriptor listener;
  asio::steady_timer retry;
  std::string address;
  std::shared_ptr<shutdown_run> ending;
};

agent::agent(asio::io_context& io, agent_config config, agent_surroundings around) :
  state_(std::make_shared<state>(io, std::move(config), std::move(around))) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN); // a write over the limit of a file's size fails, and does not end the agent
  inherit_orphans();
}

agent::~agent() {
  close_listener();
  state_->core->destroyed = true;
  if (state_->ending)
    state_->ending->abandon();
  state_->core->flushing = nullptr; // waits for its thread
  auto connections = state_->core->connections;
  for (const auto& [id, each] : connections)
    if (auto x = each.lock())
      x->destroy();
  state_->core->running.clear();
  auto live = std::exchange(state_->core->live, {});
  for (const auto& each : live)
    each->abandon();
  state_->core->sessions->abandon();
}

tl::expected<void, std::string> agent::listen() {
  return state_->listen();
}

void agent::close_listener() {
  state_->close();
}

void agent::reseed_and_listen(std::function<void(tl::expected<void, std::string>)> then) {
  state_->reseed_and_listen(std::move(then));
}

void agent::reap() {
  reap_orphans([this](pid_t pid) {
    if (state_->core->unreaped.contains(pid))
      return true;
    for (const auto& each : state_->core->live)
      if (each->keeps(pid))
        return true;
    return false;
  });
}

const std::string& agent::address() const noexcept {
  return state_->address;
}

const guest_boot_id& agent::boot() const noexcept {
  return state_->core->boot;
}

bool agent::retiring() const noexcept {
  return state_->core->retiring;
}

void agent::shut_down(std::function<void()> done) {
  auto& core = *state_->core;
  if (core.terminating)
    return core.log("shutdown: already under way");
  close_listener();
  if (std::holds_alternative<agent_config::inherited_listener>(core.config.listener))
    ::close(3); // it would go on listening
  state_->ending = std::make_shared<shutdown_run>(state_->core, std::move(done));
  state_->ending->start();
}

} // namespace paddock::guest
