#define CAF_SUITE proc

#include "guest/agent/process_table.hpp"
#include "guest/proc.hpp"

#include <boost/asio/io_context.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <random>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace paddock::guest;

namespace {

constexpr auto tail = " S 7 41 40 34816 42 4194304 100 0 0 0 1 2 3 4 20 0 1 0 8867 2600000 200 18446744073709551615 1 1 0 0\n";

std::string line(const std::string& name, const std::string& rest = tail) {
  return "42 (" + name + ")" + rest;
}

/// A child that is over only when the test says so.
class sleeping_child {
public:
  sleeping_child() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;)
        ::pause();
  }
  ~sleeping_child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const {
    return pid_;
  }

private:
  pid_t pid_;
};

process_scan scan(process_filter keep) {
  auto io = boost::asio::io_context{1};
  auto result = process_scan{};
  scan_processes(io, std::move(keep), [&](process_scan x) { result = std::move(x); });
  io.run();
  return result;
}

} // namespace

SCENARIO("a stat line is read field by field") {
  auto got = read_proc_stat(line("sleep"));
  REQUIRE(got.has_value());
  CHECK_EQ(got->pid, 42);
  CHECK_EQ(got->comm, "sleep");
  CHECK_EQ(got->state, 'S');
  CHECK_EQ(got->parent, 7);
  CHECK_EQ(got->group, 41);
  CHECK_EQ(got->session, 40);
  CHECK_EQ(got->threads, 1);
  CHECK_EQ(got->start, 8867u);
  CHECK(!got->over());
}

SCENARIO("a name may hold any byte and cannot forge a field") {
  for (auto name : {std::string{""}, std::string{") S 1 1 1 ("}, std::string{"a) Z 1 1 1"}, std::string{"a\nb (c) d"},
                    std::string{"\xff\xfe )"}, std::string{"((("}, std::string{")))"}, std::string{" "}, std::string(63, ')')}) {
    auto got = read_proc_stat(line(name));
    REQUIRE(got.has_value());
    CHECK_EQ(got->comm, name);
    CHECK_EQ(got->session, 40);
    CHECK_EQ(got->start, 8867u);
  }
}

SCENARIO("a stat line that is cut short or is something else is refused") {
  auto whole = line("sleep");
  auto needed = whole.find(" 2600000");
  for (auto size = std::size_t{0}; size <= whole.size(); ++size)
    CHECK_EQ(read_proc_stat(whole.substr(0, size)).has_value(), size > needed - 4);
  for (auto bad : {"x (sleep) S 1 1 1", "-1 (sleep)", "0 (sleep)", "42 sleep S", "42 )sleep("})
    CHECK(!read_proc_stat(bad + std::string{tail}).has_value());
  CHECK(!read_proc_stat(line("sleep", " S 99999999999 41 40 34816 42 4 1 0 0 0 1 2 3 4 20 0 1 0 8867 2\n")).has_value());
  CHECK(!read_proc_stat(line("sleep", " S  7 41 40 34816 42 4 1 0 0 0 1 2 3 4 20 0 1 0 8867 2\n")).has_value());
  CHECK(!read_proc_stat(line(std::string(1000, 'x'))).has_value());
}

SCENARIO("bytes of anyone's choosing never break the parsers") {
  auto seed = std::random_device{}();
  auto random = std::mt19937{seed};
  auto valid = line("sl)ee(p");
  for (auto i = 0; i < 20'000; ++i) {
    auto text = valid;
    for (auto flips = random() % 4; flips > 0; --flips)
      text[random() % text.size()] = static_cast<char>(random());
    if (auto got = read_proc_stat(text); got && got->pid <= 0)
      CHECK_EQ(seed, 0u); // prints the seed
    (void)read_real_uid("\nUid:\t" + text);
  }
}

SCENARIO("a zombie is over, a zombie leader with threads is not") {
  auto zombie = line("x", " Z 7 41 40 0 -1 4 1 0 0 0 1 2 3 4 20 0 1 0 8867 0\n");
  auto leader = line("x", " Z 7 41 40 0 -1 4 1 0 0 0 1 2 3 4 20 0 2 0 8867 0\n");
  CHECK(read_proc_stat(zombie)->over());
  CHECK(!read_proc_stat(leader)->over());
  CHECK(read_proc_stat(line("x", " X 7 41 40 0 -1 4 1 0 0 0 1 2 3 4 20 0 0 0 8867 0\n"))->over());
}

SCENARIO("the real uid is the first of its line") {
  CHECK_EQ(read_real_uid("Name:\tx\nUid:\t1001\t0\t0\t0\nGid:\t1\n").value_or(0), 1001u);
  CHECK_EQ(read_real_uid("Name:\tUid:\\n\nState:\tS\nUid:\t5\t6\t7\t8\n").value_or(0), 5u);
  for (auto* bad : {"", "Uid:\t5\t6", "\nUid:\t", "\nUid:\t-1\t", "\nUid:\t99999999999\t", "\nUid:\t5", "\nUid: 5\t"})
    CHECK(!read_real_uid(bad).has_value());
}

SCENARIO("the kernel's own table is read, with this process and its children in it") {
  auto child = sleeping_child{};
  auto all = scan([](const proc_stat&) { return true; });
  REQUIRE(all.has_value());
  auto seen = 0;
  for (const auto& x : *all)
    if (x.stat.pid == ::getpid() || x.stat.pid == child.pid()) {
      ++seen;
      CHECK_EQ(x.real_uid, ::getuid());
      CHECK_EQ(x.stat.session, ::getsid(0));
      CHECK_EQ(x.stat.group, ::getpgrp());
    }
  CHECK_EQ(seen, 2);
  auto one = scan([&](const proc_stat& x) { return x.pid == child.pid() && x.parent == ::getpid(); });
  REQUIRE(one.has_value());
  REQUIRE_EQ(one->size(), 1u);
  CHECK_EQ(one->front().stat.pid, child.pid());
}

SCENARIO("other work has its turn between the slices of a scan") {
  auto io = boost::asio::io_context{1};
  auto done = false;
  auto turns = 0;
  // Each look costs 200 µs, so a slice holds but a few.
  scan_processes(
    io,
    [](const proc_stat&) {
      auto until = std::chrono::steady_clock::now() + std::chrono::microseconds{200};
      while (std::chrono::steady_clock::now() < until) {
      }
      return false;
    },
    [&](const process_scan&) { done = true; });
  CHECK(!done); // never before it returns
  while (!done && io.run_one() > 0)
    ++turns;
  auto all = scan([](const proc_stat&) { return true; });
  REQUIRE(all.has_value());
  CHECK(turns >= static_cast<int>(all->size()) / 8);
}

SCENARIO("a signal goes to the very process that was seen, and to no other with its number") {
  auto child = sleeping_child{};
  auto seen = process_now(child.pid());
  REQUIRE(seen && *seen);
  auto other = **seen;
  other.start += 1;
  CHECK(signal_process(other, SIGKILL) == delivery::gone);
  CHECK(still_runs(**seen));
  CHECK(!still_runs(other));
  CHECK(signal_process(**seen, SIGKILL) == delivery::sent);
  auto info = siginfo_t{};
  ::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT);
  CHECK(!still_runs(**seen)); // a zombie
  CHECK(signal_process(**seen, SIGTERM) == delivery::gone);
}

SCENARIO("a process whose main thread has ended while another runs still runs") {
  auto pid = ::fork();
  if (pid == 0) {
    auto other = pthread_t{};
    auto wait = [](void*) -> void* {
      for (;;)
        ::pause();
    };
    ::pthread_create(&other, nullptr, wait, nullptr);
    ::syscall(SYS_exit, 0); // this thread only
  }
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  auto seen = proc_stat{};
  while (seen.state != 'Z' && std::chrono::steady_clock::now() < until)
    seen = process_now(pid)->value();
  CHECK_EQ(seen.state, 'Z');
  CHECK(still_runs(seen));
  CHECK(signal_process(seen, SIGKILL) == delivery::sent);
  ::waitpid(pid, nullptr, 0);
  CHECK(!still_runs(seen));
}
