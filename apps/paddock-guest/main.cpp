// The guest agent as a program: its variables are those of guest/agent_config.hpp. With `walk` it is no agent: it finds files
// for a host that had it started ([G] 22.2), and ends.

#include "base/signals.hpp"
#include "base/time.hpp"
#include "guest/agent/agent.hpp"
#include "guest/agent/blocking_work.hpp"
#include "guest/agent/walk.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <malloc.h>
#include <string_view>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace {

using namespace paddock;

void log(std::string_view line) {
  std::fprintf(stderr, "paddock-guest: %.*s\n", static_cast<int>(line.size()), line.data());
}

// Descriptors 0 to 2 exist, so that no socket or pipe of ours takes such a number and ends up as a child's output.
void open_standard_descriptors() {
  for (;;) {
    auto fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0)
      return;
    if (fd > 2) {
      ::close(fd);
      return;
    }
  }
}

// SIGTERM promises an end at the deadline whatever is in progress: also when the wire thread itself hangs in the kernel.
void end_at_the_latest(std::chrono::milliseconds deadline) {
  constexpr auto allowance = std::chrono::milliseconds{500}; // the agent's own watchdog comes first
  auto left = deadline + allowance;
  ::signal(SIGALRM, [](int) { ::_exit(0); });
  auto timer = itimerval{};
  timer.it_value.tv_sec = left.count() / 1000;
  timer.it_value.tv_usec = left.count() % 1000 * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

int serve(guest::agent_config config) {
  auto time = real_time{};
  auto io = boost::asio::io_context{1};
  auto work = guest::worker_pool{2};
  auto tcp = std::holds_alternative<guest::agent_config::tcp_listener>(config.listener);
  auto deadline = config.shutdown_deadline;
  auto agent = guest::agent{io, std::move(config), {time, work, log}};
  auto asked = false;
  auto ending = boost::asio::signal_set{io, SIGTERM};
  std::function<void(boost::system::error_code, int)> end = [&](boost::system::error_code ec, int) {
    if (ec)
      return;
    ending.async_wait(end);
    if (!std::exchange(asked, true))
      end_at_the_latest(deadline);
    // Nothing waits for the worker threads: one may hang in the device.
    agent.shut_down([] { std::_Exit(0); });
  };
  ending.async_wait(end);
  auto listened = false;
  auto failed = false;
  auto on_listening = [&](const tl::expected<void, std::string>& bound) {
    if (bound && tcp)
      std::fprintf(stderr, "listening %s\n", agent.address().c_str());
    if (!bound)
      log(bound.error());
    if (!bound && !listened) {
      failed = true;
      io.stop();
    }
    listened = true; // from now on a failure is not the end
  };
  auto reseeding = boost::asio::signal_set{io, SIGUSR1};
  std::function<void(boost::system::error_code, int)> reseed = [&](boost::system::error_code ec, int) {
    if (ec)
      return;
    reseeding.async_wait(reseed);
    agent.reseed_and_listen(on_listening);
  };
  reseeding.async_wait(reseed);
  auto exits = boost::asio::signal_set{io, SIGCHLD};
  std::function<void(boost::system::error_code, int)> reap = [&](boost::system::error_code ec, int) {
    if (ec)
      return;
    exits.async_wait(reap);
    agent.reap();
  };
  exits.async_wait(reap);
  agent.reseed_and_listen(on_listening);
  io.run();
  return failed ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view{argv[1]} == "--version") {
    std::puts("paddock-guest " PADDOCK_VERSION);
    return 0;
  }
  if (argc == 3 && std::string_view{argv[1]} == "walk") {
    ::signal(SIGPIPE, SIG_IGN);
    open_standard_descriptors();
    return guest::walk(argv[2], STDOUT_FILENO);
  }
  if (argc > 1) {
    std::fputs("usage: paddock-guest [--version | walk PLAN]\nAll settings are environment variables, see docs/guest.md.\n", stderr);
    return 2;
  }
  // One arena: the wire is one thread, and a small guest matters more than a fast allocator.
  ::mallopt(M_ARENA_MAX, 1);
  see_children_end();
  auto none = sigset_t{};
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr); // inherited as blocked, SIGTERM would never come
  open_standard_descriptors();
  auto environment = std::vector<std::string>{};
  for (auto** line = environ; *line != nullptr; ++line)
    environment.emplace_back(*line);
  auto config = guest::read_agent_config(std::move(environment));
  if (!config) {
    log(config.error());
    return 1;
  }
  return serve(std::move(*config));
}
