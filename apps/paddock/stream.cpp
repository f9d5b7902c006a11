#include "apps/paddock/stream.hpp"

#include <array>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace paddock::cli {

interrupts::interrupts() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  fd_ = ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

interrupts::~interrupts() {
  ::close(fd_);
}

client::stream_watch interrupts::watch() {
  return {fd_, [this] { return woken(); }};
}

bool interrupts::woken() {
  signalfd_siginfo info{};
  if (::read(fd_, &info, sizeof info) != sizeof info)
    return false;
  const auto which = static_cast<int>(info.ssi_signo);
  if (seen_ != 0)
    ::_exit(128 + which);
  seen_ = which;
  return true;
}

void run_stoppable(interrupts& signals, const std::function<void()>& what, const std::function<void()>& stop) {
  const auto watch = signals.watch();
  const auto over = ::eventfd(0, EFD_CLOEXEC);
  auto working = std::thread{[&] {
    what();
    ::eventfd_write(over, 1);
  }};
  auto ready = std::array<pollfd, 2>{{{over, POLLIN, 0}, {watch.fd, POLLIN, 0}}};
  while (::poll(ready.data(), ready.size(), -1) < 0 || (ready[0].revents & POLLIN) == 0)
    if (watch.woken())
      stop();
  working.join();
  ::close(over);
}

stream_end run_interruptible(const client::target& at, client::job what, client::stream_ends ends) {
  auto signals = interrupts{};
  auto end = client::run_stream(at, std::move(what), ends, signals.watch());
  return {std::move(end), signals.seen()};
}

} // namespace paddock::cli
