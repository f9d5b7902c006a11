// guest_exec: p50 of `/bin/true` run in a warm agent over loopback, divided by p50 of posix_spawn and waitpid of the same
// program in this process; and the same exec with 4,000 sleeping processes on the machine, divided by it without them.

#include "bench/guest_process.hpp"
#include "bench/report.hpp"

#include <spawn.h>

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;

constexpr auto rounds = 400;
constexpr auto warm_up = 50;

class no_output final : public guest::output_sink {
public:
  boost::asio::awaitable<void> take(guest::stream, std::string) override {
    co_return;
  }
};

boost::asio::awaitable<std::vector<double>> execs(guest::host& by, guest::endpoint where, deadline until, int n) {
  no_output output;
  auto took = std::vector<double>{};
  for (auto i = 0; i < n; ++i) {
    auto what = guest::command{};
    what.program = "/bin/true";
    const auto start = clock_type::now();
    auto place = where;
    auto got = co_await by.execute(std::move(place), std::move(what), output, nullptr, until);
    if (!got || got->end.exit_code != 0)
      give_up("exec: " + (got ? std::to_string(got->end.exit_code) : guest::to_string(got.error())));
    took.push_back(seconds_since(start));
  }
  co_return took;
}

std::vector<double> spawns(int n) {
  auto took = std::vector<double>{};
  char program[] = "/bin/true";
  char* const words[] = {program, nullptr};
  char* const environment[] = {nullptr};
  for (auto i = 0; i < n; ++i) {
    const auto start = clock_type::now();
    auto pid = pid_t{};
    if (::posix_spawn(&pid, program, nullptr, nullptr, words, environment) != 0)
      give_up("posix_spawn");
    ::waitpid(pid, nullptr, 0);
    took.push_back(seconds_since(start));
  }
  return took;
}

} // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  auto agent = guest_process{};
  auto host = lane{};
  const auto until = host.in(300s);
  const auto measure = [&](int n) { return quantile(host.run(execs(*host.guests.commands, agent.where(), until, n)), 0.5); };
  spawns(warm_up);
  measure(warm_up);
  // In turns, so that both see the same machine.
  auto exec = std::vector<double>{};
  auto spawn = std::vector<double>{};
  for (auto i = 0; i < 8; ++i) {
    exec.push_back(measure(rounds / 8));
    spawn.push_back(quantile(spawns(rounds / 8), 0.5));
  }
  const auto alone = quantile(exec, 0.5);
  const auto bare = quantile(spawn, 0.5);
  std::cerr << "exec " << alone * 1e3 << " ms, posix_spawn " << bare * 1e3 << " ms (p50)\n";
  report("guest_exec", alone / bare, "ratio", 3);
  auto crowded = double{0};
  {
    auto crowd = sleepers{4000};
    measure(warm_up);
    crowded = measure(rounds);
  }
  const auto after = measure(rounds);
  std::cerr << "exec with 4000 sleeping processes " << crowded * 1e3 << " ms, without them again " << after * 1e3 << " ms (p50)\n";
  report("guest_exec_crowded", crowded / std::max(alone, after), "ratio", 1.2);
}
