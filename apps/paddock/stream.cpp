#include "apps/paddock/stream.hpp"

#include <csignal>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace paddock::cli {

stream_end run_interruptible(const client::target& at, client::job what, client::stream_ends ends) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  const auto signals = ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
  auto seen = 0;
  const auto woken = [&] {
    signalfd_siginfo info{};
    if (::read(signals, &info, sizeof info) != sizeof info)
      return false;
    const auto which = static_cast<int>(info.ssi_signo);
    if (seen != 0)
      ::_exit(128 + which);
    seen = which;
    return true;
  };
  auto end = client::run_stream(at, std::move(what), ends, {signals, woken});
  ::close(signals);
  return {std::move(end), seen};
}

} // namespace paddock::cli
