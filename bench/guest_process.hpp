#pragma once

// What the guest benchmarks share: a real agent in a process of its own, sleepers, flows that are run to their end.

#include "base/flows/sleep.hpp"
#include "bench/measure.hpp"
#include "guest/flows/hosts.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace paddock::bench {

/// One agent on a loopback port that the kernel chose; it dies with this process.
class guest_process {
public:
  guest_process() {
    int ends[2];
    if (::pipe(ends) != 0)
      give_up("pipe");
    const auto program = (own_folder() / "paddock-guest").string();
    const auto workspace = "NAMZU_SANDBOX_WORKSPACE=" + folder_.path().string();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      const char* const words[] = {program.c_str(), nullptr};
      const char* const environment[] = {"NAMZU_AGENT_TCP_PORT=0",
                                         "PADDOCK_GUEST_TCP_ADDRESS=127.0.0.1",
                                         "NAMZU_AGENT_BIND_TOKEN=bench",
                                         workspace.c_str(),
                                         "NAMZU_AGENT_QUIESCE_SCOPE=owned-sessions",
                                         "PATH=/usr/local/bin:/usr/bin:/bin",
                                         "HOME=/tmp",
                                         nullptr};
      ::execve(program.c_str(), const_cast<char* const*>(words), const_cast<char* const*>(environment));
      ::_exit(127);
    }
    ::close(ends[1]);
    auto line = std::string{};
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';)
      line += c;
    log_ = ends[0]; // kept open: the agent may still say something
    const auto colon = line.rfind(':');
    if (!line.starts_with("listening ") || colon == std::string::npos)
      give_up("the agent did not start: " + line);
    where_ = {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(line.substr(colon + 1))), secret{"bench"}};
  }
  ~guest_process() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(log_);
  }
  guest_process(const guest_process&) = delete;
  guest_process& operator=(const guest_process&) = delete;

  [[nodiscard]] const guest::endpoint& where() const {
    return where_;
  }
  [[nodiscard]] pid_t pid() const {
    return pid_;
  }
  [[nodiscard]] const std::filesystem::path& workspace() const {
    return folder_.path();
  }

private:
  temporary_folder folder_;
  pid_t pid_ = -1;
  int log_ = -1;
  guest::endpoint where_;
};

/// So many processes that do nothing, until it goes.
class sleepers {
public:
  explicit sleepers(int n) {
    for (auto i = 0; i < n; ++i) {
      const auto pid = ::fork();
      if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
          ::pause();
      }
      if (pid < 0)
        give_up("only " + std::to_string(i) + " processes could be started");
      all_.push_back(pid);
    }
  }
  ~sleepers() {
    for (const auto pid : all_)
      ::kill(pid, SIGKILL);
    for (const auto pid : all_)
      ::waitpid(pid, nullptr, 0);
  }
  sleepers(const sleepers&) = delete;
  sleepers& operator=(const sleepers&) = delete;

private:
  std::vector<pid_t> all_;
};

/// The hosts of one lane, and the way to run their flows from this thread.
struct lane {
  boost::asio::io_context io{1};
  real_flow_time time;
  guest::hosts guests = guest::make_hosts(time, (own_folder() / "paddock-guest").string());

  [[nodiscard]] deadline in(std::chrono::seconds bound) const {
    return {time, bound};
  }
  template <class T>
  T run(boost::asio::awaitable<T> flow) {
    auto future = boost::asio::co_spawn(io, std::move(flow), boost::asio::use_future);
    io.restart();
    io.run();
    return future.get();
  }
};

template <class T>
T good(guest::result<T> x) {
  if (!x)
    give_up(guest::to_string(x.error()));
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

} // namespace paddock::bench
