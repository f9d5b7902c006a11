// guest_stream: 1 GiB read and 1 GiB written through the host transport, each divided by a plain TCP copy of as many bytes in the
// same run, out of a file or into one and on to the disk (the ratio is ours over plain, so that larger is slower: bar 1 / 0.6); how much
// either process grew; 1 GiB of command output against a plain pipe (bar 1 / 0.3); and the memory of both while nobody takes the output.

#include "bench/guest_process.hpp"
#include "bench/report.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;

constexpr std::uint64_t whole = 1024ull * 1024 * 1024;
constexpr std::size_t piece = 64 * 1024;

class counting_bytes final : public guest::byte_sink {
public:
  boost::asio::awaitable<void> take(std::string bytes) override {
    taken += bytes.size();
    co_return;
  }
  std::uint64_t taken = 0;
};

class counting_output final : public guest::output_sink {
public:
  boost::asio::awaitable<void> take(guest::stream, std::string bytes) override {
    taken += bytes.size();
    if (pause == 0s)
      co_return;
    auto lane = co_await boost::asio::this_coro::executor;
    auto timer = boost::asio::steady_timer{lane};
    timer.expires_after(pause);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  std::uint64_t taken = 0;
  std::chrono::milliseconds pause{0};
};

class zeros final : public guest::input_source {
public:
  boost::asio::awaitable<std::string> next() override {
    const auto n = std::min<std::uint64_t>(piece, whole - given_);
    given_ += n;
    co_return std::string(n, 'z');
  }

private:
  std::uint64_t given_ = 0;
};

boost::asio::awaitable<guest::result<guest::file_read>> read(guest::file_host& by, guest::endpoint where, counting_bytes& to,
                                                             deadline until) {
  auto path = std::string{"big"};
  co_return co_await by.read(std::move(where), std::move(path), guest::file_part(), to, until);
}

boost::asio::awaitable<guest::result<guest::file_written>> write(guest::file_host& by, guest::endpoint where, zeros& from, deadline until) {
  auto path = std::string{"big"};
  auto size = std::optional<std::uint64_t>{whole};
  co_return co_await by.write(std::move(where), std::move(path), from, size, until);
}

boost::asio::awaitable<guest::result<guest::execution>> flood(guest::host& by, guest::endpoint where, std::string bytes,
                                                              counting_output& to, deadline until) {
  auto what = guest::command{};
  what.program = "head";
  what.arguments = {"-c", std::move(bytes), "/dev/zero"};
  co_return co_await by.execute(std::move(where), std::move(what), to, nullptr, until);
}

/// Seconds for `whole` bytes through a plain loopback connection, one thread sending and one receiving: from the file, or into it and on to
/// the disk, as the agent does.
double plain_copy(const std::filesystem::path& file, bool into) {
  const auto listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto place = sockaddr_in{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto size = socklen_t{sizeof place};
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&place), size) != 0 || ::listen(listener, 1) != 0)
    give_up("listen");
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size);
  const auto start = clock_type::now();
  auto sender = std::thread{[&] {
    const auto to = ::accept(listener, nullptr, nullptr);
    const auto in = into ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    auto bytes = std::vector<char>(piece, 'z');
    auto left = whole;
    while (left > 0) {
      const auto n = into ? static_cast<ssize_t>(std::min<std::uint64_t>(piece, left)) : ::read(in, bytes.data(), bytes.size());
      if (n <= 0)
        give_up("read");
      left -= static_cast<std::uint64_t>(n);
      for (ssize_t sent = 0; sent < n;) {
        const auto more = ::send(to, bytes.data() + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL);
        if (more <= 0)
          give_up("send");
        sent += more;
      }
    }
    ::close(to);
    if (in >= 0)
      ::close(in);
  }};
  const auto from = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(from, reinterpret_cast<const sockaddr*>(&place), size) != 0)
    give_up("connect");
  auto bytes = std::vector<char>(piece);
  const auto out = into ? ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  auto got = std::uint64_t{0};
  for (auto n = ::recv(from, bytes.data(), bytes.size(), 0); n > 0; n = ::recv(from, bytes.data(), bytes.size(), 0)) {
    got += static_cast<std::uint64_t>(n);
    if (into && ::write(out, bytes.data(), static_cast<std::size_t>(n)) != n)
      give_up("write");
  }
  if (into && ::fsync(out) != 0)
    give_up("fsync");
  if (into)
    ::close(out);
  sender.join();
  ::close(from);
  ::close(listener);
  if (got != whole)
    give_up("the plain copy was cut");
  return seconds_since(start);
}

/// Seconds for `whole` bytes of `head` through a pipe.
double plain_pipe() {
  const auto start = clock_type::now();
  auto* from = ::popen(("head -c " + std::to_string(whole) + " /dev/zero").c_str(), "r");
  if (from == nullptr)
    give_up("popen");
  auto bytes = std::vector<char>(piece);
  auto got = std::uint64_t{0};
  for (auto n = ::read(::fileno(from), bytes.data(), bytes.size()); n > 0; n = ::read(::fileno(from), bytes.data(), bytes.size()))
    got += static_cast<std::uint64_t>(n);
  ::pclose(from);
  if (got != whole)
    give_up("the pipe was cut");
  return seconds_since(start);
}

/// How far the peaks of both processes go above where they stand now, while `work` runs, in MiB: ours and the agent's.
template <class Work>
std::pair<double, double> growth(const guest_process& agent, Work work) {
  const auto own = ::getpid();
  forget_peak(own);
  forget_peak(agent.pid());
  const auto ours = status_kib(own, "VmRSS");
  const auto theirs = status_kib(agent.pid(), "VmRSS");
  work();
  const auto above = [](std::uint64_t peak, std::uint64_t before) { return peak > before ? static_cast<double>(peak - before) / 1024 : 0; };
  return {above(status_kib(own, "VmHWM"), ours), above(status_kib(agent.pid(), "VmHWM"), theirs)};
}

} // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  auto agent = guest_process{};
  auto host = lane{};
  const auto until = host.in(600s);
  const auto file = agent.workspace() / "big";
  auto took_write = double{0};
  auto took_read = double{0};
  plain_copy(file, true); // what the machine does for the first GiB only, it does now
  std::filesystem::remove(file);
  const auto grew_writing = growth(agent, [&] {
    auto from = zeros{};
    const auto start = clock_type::now();
    const auto got = good(host.run(write(*host.guests.files, agent.where(), from, until)));
    took_write = seconds_since(start);
    if (got.bytes != whole)
      give_up("the write was cut");
  });
  std::filesystem::remove(file);
  const auto copy_in = plain_copy(file, true);
  const auto grew_reading = growth(agent, [&] {
    auto to = counting_bytes{};
    const auto start = clock_type::now();
    good(host.run(read(*host.guests.files, agent.where(), to, until)));
    took_read = seconds_since(start);
    if (to.taken != whole)
      give_up("the read was cut");
  });
  const auto copy_out = plain_copy(file, false);
  std::filesystem::remove(file);
  std::cerr << "1 GiB out of a file: plain " << copy_out << " s, read " << took_read << " s\n1 GiB into a file and on to the disk: plain "
            << copy_in << " s, written " << took_write << " s\n";
  report("guest_read", took_read / copy_out, "ratio", 1 / 0.6);
  report("guest_write", took_write / copy_in, "ratio", 1 / 0.6);
  report("guest_read_growth_host", grew_reading.first, "MiB", 16);
  report("guest_read_growth_agent", grew_reading.second, "MiB", 16);
  report("guest_write_growth_host", grew_writing.first, "MiB", 16);
  report("guest_write_growth_agent", grew_writing.second, "MiB", 16);

  auto took_flood = double{0};
  growth(agent, [&] {
    auto to = counting_output{};
    const auto start = clock_type::now();
    good(host.run(flood(*host.guests.commands, agent.where(), std::to_string(whole), to, until)));
    took_flood = seconds_since(start);
    if (to.taken != whole)
      give_up("the output was cut");
  });
  const auto pipe = plain_pipe();
  std::cerr << "1 GiB of output: plain pipe " << pipe << " s, command " << took_flood << " s\n";
  report("guest_output", took_flood / pipe, "ratio", 1 / 0.3);
  // A reader that sleeps 50 ms a piece for two seconds: what it does not take stands in nobody's memory.
  const auto grew_waiting = growth(agent, [&] {
    auto to = counting_output{};
    to.pause = 50ms;
    static_cast<void>(host.run(flood(*host.guests.commands, agent.where(), std::to_string(whole), to, host.in(2s))));
  });
  report("guest_output_waiting_growth_host", grew_waiting.first, "MiB", 16);
  report("guest_output_waiting_growth_agent", grew_waiting.second, "MiB", 16);
}
