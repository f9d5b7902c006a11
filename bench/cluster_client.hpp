#pragma once

// What the benchmarks of the embedded cluster share: a client of an API server, and programs that say when they are ready.

#include "base/flows/sleep.hpp"
#include "bench/measure.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/flows/kubeconfig.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace paddock::bench {

using boost::asio::awaitable;

/// A client of one API server, on the thread that runs it. What fails ends the program.
class client {
public:
  explicit client(k8s::cluster_access to) {
    auto made =
      k8s::make_api_client(*exchange_, time_, {std::move(to.server), std::move(to.base_path), std::move(to.credentials), 30'000, {}});
    if (!made)
      give_up(made.error());
    api_ = std::move(*made);
  }

  /// Runs them all at once, until the last is over: connections that are kept would hold the loop until they are old.
  void run(std::vector<awaitable<void>> flows) {
    auto left = flows.size();
    for (auto& x : flows)
      boost::asio::co_spawn(io_, std::move(x), [this, &left](const std::exception_ptr& failed) {
        if (failed)
          std::rethrow_exception(failed);
        if (--left == 0)
          io_.stop();
      });
    io_.restart();
    io_.run();
  }
  awaitable<nlohmann::json> ask(k8s::call what) {
    auto got = co_await api_->send(std::move(what), deadline{time_, std::chrono::seconds{60}});
    if (!got)
      give_up(k8s::to_string(got.error()));
    co_return got->value_or(nlohmann::json{});
  }
  awaitable<void> read(std::string path, std::function<bool(std::string_view)> take) {
    const auto got = co_await api_->stream(k8s::get(std::move(path)), std::move(take), std::chrono::seconds{60},
                                           deadline{time_, std::chrono::seconds{300}});
    if (!got)
      give_up(k8s::to_string(got.error()));
  }

  [[nodiscard]] boost::asio::any_io_executor lane() {
    return io_.get_executor();
  }
  [[nodiscard]] k8s::streaming_api& api() {
    return *api_;
  }
  [[nodiscard]] flow_time& time() {
    return time_;
  }

private:
  boost::asio::io_context io_{1};
  real_flow_time time_;
  std::unique_ptr<http_exchange> exchange_ = make_http_exchange(time_);
  std::unique_ptr<k8s::streaming_api> api_;
};

inline std::vector<awaitable<void>> flows_of(awaitable<void> only) {
  auto out = std::vector<awaitable<void>>{};
  out.push_back(std::move(only));
  return out;
}

/// A program beside this one, until it goes; it dies with this process. It has printed the line that begins with `ready`.
class served_program {
public:
  explicit served_program(std::vector<std::string> words) {
    int ends[2];
    if (::pipe(ends) != 0)
      give_up("pipe");
    words.front() = (own_folder() / words.front()).string();
    auto pointers = std::vector<char*>{};
    for (auto& x : words)
      pointers.push_back(x.data());
    pointers.push_back(nullptr);
    const auto start = clock_type::now();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(pointers.front(), pointers.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    auto line = std::string{};
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';)
      line += c;
    ::close(ends[0]);
    ready_after_ = seconds_since(start);
    if (!line.starts_with("ready "))
      give_up(words.front() + " did not start");
    address_ = line.substr(6);
  }
  ~served_program() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  served_program(const served_program&) = delete;
  served_program& operator=(const served_program&) = delete;

  [[nodiscard]] double ready_after() const {
    return ready_after_;
  }
  /// What it said behind `ready`.
  [[nodiscard]] const std::string& address() const {
    return address_;
  }
  [[nodiscard]] pid_t pid() const {
    return pid_;
  }
  [[nodiscard]] double resident_kib() const {
    return static_cast<double>(status_kib(pid_, "VmRSS"));
  }
  /// Seconds of processor time so far.
  [[nodiscard]] double busy() const {
    auto sum = 0.0;
    for (const auto& x : std::filesystem::directory_iterator{"/proc/" + std::to_string(pid_) + "/task"}) {
      auto in = std::ifstream{x.path() / "schedstat"};
      auto nanoseconds = 0.0;
      in >> nanoseconds;
      sum += nanoseconds / 1e9;
    }
    return sum;
  }

private:
  pid_t pid_ = -1;
  double ready_after_ = 0;
  std::string address_;
};

} // namespace paddock::bench
