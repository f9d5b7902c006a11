// guest_pause: how long the agent's wire keeps a caller waiting while 4,000 processes sleep on the machine, 16 sessions run, and
// quiesces and walks go on one after another: `healthz` is asked every millisecond for five seconds; p99 and the longest.
//
// Between them a process that does nothing but answer is asked in the same way. It waits for the machine only: what it takes at most
// is what no agent can stay below on this machine.

#include "bench/guest_process.hpp"
#include "bench/report.hpp"

#include <atomic>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;

class no_entries final : public guest::entry_sink {
public:
  boost::asio::awaitable<bool> take(guest::listed_file) override {
    co_return true;
  }
};

boost::asio::awaitable<guest::result<guest::session_row>> start(guest::work_host& by, guest::endpoint where, int n, deadline until) {
  auto what = guest::session_start{};
  what.session = "s" + std::to_string(n);
  what.program = "sh";
  what.arguments = {"-c", "trap '' TERM; while :; do echo tick; sleep 0.05; done"};
  co_return co_await by.start_detached(std::move(where), std::move(what), until);
}

boost::asio::awaitable<guest::result<guest::quiesce_report>> look_for_work(guest::work_host& by, guest::endpoint where, deadline until) {
  auto how = guest::quiesce_request{};
  how.idle_only = true; // scans as the other does, and leaves the sessions for the next
  co_return co_await by.quiesce(std::move(where), how, until);
}

boost::asio::awaitable<guest::result<void>> walk(guest::file_host& by, guest::endpoint where, deadline until) {
  auto what = guest::walk_request{};
  what.root = "/usr";
  what.max_entries = 5'000;
  auto to = no_entries{};
  co_return co_await by.walk(std::move(where), std::move(what), to, until);
}

sockaddr_in loopback(std::uint16_t port) {
  auto place = sockaddr_in{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return place;
}

/// A process that answers what it reads first on each connection, and does nothing else. It dies with this one.
class bare_answerer {
public:
  bare_answerer() {
    const auto listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto place = loopback(0);
    auto size = socklen_t{sizeof place};
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&place), size) != 0 || ::listen(listener, 128) != 0
        || ::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size) != 0)
      give_up("the bare process cannot listen");
    port_ = ntohs(place.sin_port);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      char any[1024];
      for (;;) {
        const auto fd = ::accept(listener, nullptr, nullptr);
        const auto got = ::recv(fd, any, sizeof any, 0);
        if (got > 0)
          static_cast<void>(::send(fd, any, static_cast<std::size_t>(got), MSG_NOSIGNAL));
        ::close(fd);
      }
    }
    ::close(listener);
  }
  ~bare_answerer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bare_answerer(const bare_answerer&) = delete;
  bare_answerer& operator=(const bare_answerer&) = delete;

  [[nodiscard]] std::uint16_t port() const {
    return port_;
  }

private:
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

/// Seconds until the answer to one `healthz`.
double ping(std::uint16_t port) {
  static const auto request = std::string{"00000010\n{\"op\":\"healthz\"}"};
  const auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto place = loopback(port);
  const auto start = clock_type::now();
  char answer[1024];
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0
      || ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())
      || ::recv(fd, answer, sizeof answer, 0) <= 0)
    give_up("healthz");
  const auto took = seconds_since(start);
  ::close(fd);
  return took;
}

} // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  auto agent = guest_process{};
  auto bare = bare_answerer{};
  auto crowd = sleepers{4000};
  auto setting_up = lane{};
  for (auto i = 0; i < 16; ++i)
    good(setting_up.run(start(*setting_up.guests.work, agent.where(), i, setting_up.in(60s))));
  auto over = std::atomic<bool>{false};
  auto quiesces = 0;
  auto walks = 0;
  auto busy = std::thread{[&] {
    auto host = lane{};
    while (!over) {
      const auto looked = host.run(look_for_work(*host.guests.work, agent.where(), host.in(60s)));
      if (looked)
        give_up("the sessions are gone");
      const auto* refusal = std::get_if<guest::quiesce_unconfirmed>(&looked.error());
      if (refusal == nullptr || refusal->reason != "quiesce_not_idle")
        give_up(guest::to_string(looked.error()));
      ++quiesces;
      good(host.run(walk(*host.guests.files, agent.where(), host.in(60s))));
      ++walks;
    }
  }};
  ::setpriority(PRIO_PROCESS, 0, -10); // this thread: what is measured is the wire, and not how long the caller waits to hear the answer
  auto took = std::vector<double>{};
  auto bare_took = std::vector<double>{};
  for (const auto end = clock_type::now() + 5s; clock_type::now() < end;) {
    const auto next = clock_type::now() + 1ms;
    took.push_back(ping(agent.where().port) * 1e3);
    bare_took.push_back(ping(bare.port()) * 1e3);
    std::this_thread::sleep_until(next);
  }
  over = true;
  busy.join();
  std::cerr << took.size() << " answers, " << quiesces << " quiesces, " << walks << " walks; p50 " << quantile(took, 0.5) << " ms\n";
  report("guest_pause_p99", quantile(took, 0.99), "ms", 5);
  report("guest_pause_longest", quantile(took, 1), "ms", 5);
  report("guest_pause_p99_of_bare_process", quantile(took, 0.99) / quantile(bare_took, 0.99), "ratio", 1.5);
  const auto late = [](const std::vector<double>& all) { return std::count_if(all.begin(), all.end(), [](double x) { return x > 5; }); };
  std::cerr << "longer than 5 ms: " << late(took) << "; a process that only answers: p99 " << quantile(bare_took, 0.99) << " ms, longest "
            << quantile(bare_took, 1) << " ms, longer than 5 ms: " << late(bare_took) << '\n';
}
