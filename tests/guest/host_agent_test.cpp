#define CAF_SUITE host_agent

// The host's side against the guest agent itself, over loopback, each on a thread of its own.

#include "guest/agent/agent.hpp"
#include "guest/agent_config.hpp"
#include "guest/flows/transport.hpp"
#include "tests/guest/memory.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t large = 100 * 1024 * 1024; // more than the kernel holds of a connection: its buffers grow to tens of MiB
constexpr std::size_t memory_bound = 24 * 1024 * 1024;

/// The largest growth of this process over where it began.
class memory_watch {
public:
  void look() {
    if (++looked_ % 64 == 0)
      peak_ = std::max(peak_, resident_bytes());
  }
  [[nodiscard]] std::size_t growth() const {
    return peak_ > base_ ? peak_ - base_ : 0;
  }

private:
  std::size_t base_ = resident_bytes();
  std::size_t peak_ = 0;
  std::size_t looked_ = 0;
};

class sink final : public guest::output_sink {
public:
  boost::asio::awaitable<void> take(guest::stream which, std::string bytes) override {
    memory.look();
    size += bytes.size();
    if (keep)
      (which == guest::stream::out ? out : err) += bytes;
    while (held_at && size >= *held_at) {
      auto lane = co_await boost::asio::this_coro::executor;
      bell = std::make_shared<boost::asio::steady_timer>(lane, boost::asio::steady_timer::time_point::max());
      [[maybe_unused]] auto [ec] = co_await bell->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
  }
  void let_go() {
    held_at.reset();
    bell->cancel();
  }
  memory_watch memory;
  std::string out;
  std::string err;
  std::size_t size = 0;
  bool keep = true;
  std::optional<std::size_t> held_at;
  std::shared_ptr<boost::asio::steady_timer> bell;
};

class zeros final : public guest::input_source {
public:
  explicit zeros(std::size_t bytes) : left(bytes) {
  }
  boost::asio::awaitable<std::string> next() override {
    memory.look();
    const auto n = std::min<std::size_t>(left, 64 * 1024);
    left -= n;
    co_return std::string(n, '\0');
  }
  memory_watch memory;
  std::size_t left;
};

class one_piece final : public guest::input_source {
public:
  explicit one_piece(std::string bytes) : piece(std::move(bytes)) {
  }
  boost::asio::awaitable<std::string> next() override {
    co_return std::exchange(piece, {});
  }
  std::string piece;
};

struct temporary_folder {
  temporary_folder() {
    auto name = (std::filesystem::temp_directory_path() / "paddock-host-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error{"mkdtemp"};
    path = std::filesystem::canonical(name);
  }
  ~temporary_folder() {
    auto ignored = std::error_code{};
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

/// An agent on its own thread.
class running_agent {
public:
  running_agent() {
    auto config =
      guest::read_agent_config({"NAMZU_AGENT_TCP_PORT=0", "PADDOCK_GUEST_TCP_ADDRESS=127.0.0.1", "NAMZU_AGENT_BIND_TOKEN=pod-uid",
                                "NAMZU_SANDBOX_WORKSPACE=" + folder.path.string(), "PATH=/usr/local/bin:/usr/bin:/bin"});
    if (!config)
      throw std::runtime_error{config.error()};
    agent_.emplace(context_, *config, guest::agent_surroundings{time_, work_, [](std::string_view) {}});
    if (auto bound = agent_->listen(); !bound)
      throw std::runtime_error{bound.error()};
    const auto& address = agent_->address();
    where = {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))), secret{"pod-uid"}};
    boot = agent_->boot();
    thread_ = std::thread{[this] { context_.run(); }};
  }
  ~running_agent() {
    boost::asio::post(context_, [this] {
      agent_.reset();
      context_.stop();
    });
    thread_.join();
  }
  running_agent(const running_agent&) = delete;
  running_agent& operator=(const running_agent&) = delete;

  temporary_folder folder;
  guest::endpoint where;
  guest_boot_id boot;

private:
  real_time time_;
  guest::worker_pool work_{2};
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_{context_.get_executor()};
  std::optional<guest::agent> agent_;
  std::thread thread_;
};

const auto written_by_yes = std::string{"echo $$ >leader; exec yes"};

/// Bytes that a process has written so far; 0: none, or there is no such process.
std::uint64_t written_by(pid_t process) {
  auto file = std::ifstream{"/proc/" + std::to_string(process) + "/io"};
  for (auto line = std::string{}; std::getline(file, line);)
    if (line.starts_with("wchar: "))
      return std::stoull(line.substr(7));
  return 0;
}

struct fixture {
  running_agent agent;
  boost::asio::io_context context;
  real_flow_time time;
  std::unique_ptr<guest::host> host = guest::make_host(time);
  sink output;

  using flow = started<guest::result<guest::execution>>;

  flow start(std::string line, guest::input_source* input = nullptr, std::optional<std::chrono::milliseconds> limit = {}) {
    auto what = guest::command{"/bin/sh", {"-c", std::move(line)}, {}, {}, limit, false};
    return start_flow(context, host->execute(agent.where, std::move(what), output, input, deadline{time, 50s}));
  }
  [[nodiscard]] pid_t leader() const {
    auto process = pid_t{0};
    std::ifstream{agent.folder.path / "leader"} >> process;
    return process;
  }
  /// Until the command has begun to write and writes no more: everything between it and the sink is full.
  void wait_until_held_up() {
    using clock = std::chrono::steady_clock;
    auto last = std::uint64_t{0};
    auto since = clock::now();
    run_until(
      context,
      [&] {
        if (const auto now = written_by(leader()); now != last)
          last = now, since = clock::now();
        return output.bell && last > 0 && clock::now() - since > 200ms;
      },
      55s);
  }
  template <class T>
  T finish(started<T> it) {
    run_until(
      context, [&] { return it.done(); }, 55s);
    return std::move(it.get());
  }
  guest::result<guest::execution> execute(std::string line, guest::input_source* input = nullptr,
                                          std::optional<std::chrono::milliseconds> limit = {}) {
    return finish(start(std::move(line), input, limit));
  }
};

} // namespace

SCENARIO("bytes that are no text come out as they went in, with the exit code and the boot id") {
  fixture f;
  const auto got = f.execute(R"(printf '\000\377caf\303'; printf '\200' >&2; exit 7)");
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 7);
  CHECK_EQ(got->end.signal, std::nullopt);
  CHECK(!got->end.lossy);
  CHECK_EQ(f.output.out, std::string("\0\377caf\303", 6));
  CHECK_EQ(f.output.err, "\200");
  CHECK_EQ(got->boot, f.agent.boot);
}

SCENARIO("a command that a signal ends says which") {
  fixture f;
  const auto got = f.execute("kill -KILL $$");
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, -1);
  CHECK_EQ(got->end.signal, "SIGKILL");
}

SCENARIO("a program that does not exist is the command's failure") {
  fixture f;
  auto what = guest::command{"no-such-program", {}, {}, {}, {}, false};
  const auto got = f.finish(start_flow(f.context, f.host->execute(f.agent.where, what, f.output, nullptr, deadline{f.time, 20s})));
  REQUIRE(!got);
  CHECK(std::holds_alternative<guest::command_failed>(got.error()));
}

SCENARIO("the guest's own limit ends a command as timed out") {
  fixture f;
  const auto got = f.execute("sleep 30", nullptr, 100ms);
  REQUIRE(got.has_value());
  CHECK(got->end.timed_out);
  CHECK_EQ(got->end.signal, "SIGTERM");
}

SCENARIO("a cancelled command is gone, and its output so far has arrived") {
  fixture f;
  auto flow = f.start("echo $$; exec sleep 30");
  run_until(f.context, [&] { return f.output.out.ends_with('\n'); });
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, -1);
  CHECK_EQ(got->end.signal, "SIGTERM");
  CHECK(!got->end.timed_out);
  const auto process = std::stoi(f.output.out);
  CHECK_EQ(::kill(process, 0), -1);
}

SCENARIO("a command that is cancelled while its output is held up is confirmed all the same") {
  fixture f;
  f.output.held_at = 1;
  f.output.keep = false;
  auto flow = f.start(written_by_yes);
  f.wait_until_held_up();
  flow.cancel();
  const auto got = f.finish(flow);
  REQUIRE(!got);
  REQUIRE(std::holds_alternative<guest::result_incomplete>(got.error()));
  CHECK_EQ(std::get<guest::result_incomplete>(got.error()).state, "cancelled");
}

SCENARIO("much output that is taken slowly waits in the command and not in memory") {
  fixture f;
  f.output.keep = false;
  f.output.held_at = 1024 * 1024;
  f.output.memory = {};
  const auto marker = f.agent.folder.path / "over";
  auto flow = f.start("head -c " + std::to_string(large) + " /dev/zero; touch over");
  run_until(f.context, [&] { return f.output.bell != nullptr; });
  // Nothing is taken now: the command comes to rest in the middle of its output.
  f.context.restart();
  f.context.run_for(300ms);
  CHECK(!std::filesystem::exists(marker));
  CHECK_LT(f.output.size, 2u * 1024 * 1024);
  f.output.let_go();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 0);
  CHECK(!got->end.out_truncated);
  CHECK(!got->end.lossy);
  CHECK_EQ(f.output.size, large);
  CHECK(std::filesystem::exists(marker));
  MESSAGE("memory grew by " << f.output.memory.growth());
  if (memory_is_measured)
    CHECK_LT(f.output.memory.growth(), memory_bound);
}

SCENARIO("much input reaches a command whole and does not gather in memory") {
  fixture f;
  auto input = zeros{large};
  const auto got = f.execute("wc -c", &input);
  REQUIRE(got.has_value());
  CHECK_EQ(std::stoull(f.output.out), large);
  MESSAGE("memory grew by " << input.memory.growth());
  if (memory_is_measured)
    CHECK_LT(input.memory.growth(), memory_bound);
}

SCENARIO("a command that reads none of its input ends as if there were none") {
  fixture f;
  auto input = zeros{large};
  const auto got = f.execute("exit 3", &input);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end.exit_code, 3);
  CHECK_GT(input.left, 0u);
}

SCENARIO("input comes back as it went in") {
  fixture f;
  auto bytes = std::string(300'000, '\0');
  for (auto i = std::size_t{0}; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 131 % 251);
  auto input = one_piece{bytes};
  const auto got = f.execute("cat", &input);
  REQUIRE(got.has_value());
  CHECK(f.output.out == bytes);
}

SCENARIO("a file is read back as it was written") {
  fixture f;
  const auto bytes = std::string("\0\377 abc", 6);
  const auto written = f.finish(start_flow(f.context, f.host->write_file(f.agent.where, "d/f", bytes, deadline{f.time, 10s})));
  REQUIRE(written.has_value());
  CHECK_EQ(written->bytes, 6u);
  CHECK_EQ(written->boot, f.agent.boot);
  const auto read = f.finish(start_flow(f.context, f.host->read_file(f.agent.where, "d/f", 6, deadline{f.time, 10s})));
  REQUIRE(read.has_value());
  CHECK_EQ(read->bytes, bytes);
  const auto absent = f.finish(start_flow(f.context, f.host->read_file(f.agent.where, "none", 6, deadline{f.time, 10s})));
  REQUIRE(!absent);
  CHECK(std::holds_alternative<guest::refused>(absent.error()));
}

SCENARIO("a wrong token runs nothing") {
  fixture f;
  auto where = f.agent.where;
  where.token = secret{"another-pod"};
  const auto got = f.finish(
    start_flow(f.context, f.host->execute(where, {"/bin/touch", {"ran"}, {}, {}, {}, false}, f.output, nullptr, deadline{f.time, 20s})));
  REQUIRE(!got);
  CHECK(std::holds_alternative<guest::unauthorized>(got.error()));
  CHECK(!std::filesystem::exists(f.agent.folder.path / "ran"));
}

SCENARIO("many commands run at once over one host") {
  fixture f;
  auto sinks = std::vector<sink>(20);
  auto flows = std::vector<fixture::flow>{};
  for (auto i = 0; i < 20; ++i) {
    auto what = guest::command{"/bin/sh", {"-c", "echo " + std::to_string(i) + "; exit " + std::to_string(i)}, {}, {}, {}, false};
    flows.push_back(start_flow(
      f.context, f.host->execute(f.agent.where, std::move(what), sinks[static_cast<std::size_t>(i)], nullptr, deadline{f.time, 40s})));
  }
  for (auto i = 0; i < 20; ++i) {
    const auto got = f.finish(flows[static_cast<std::size_t>(i)]);
    REQUIRE(got.has_value());
    CHECK_EQ(got->end.exit_code, i);
    CHECK_EQ(sinks[static_cast<std::size_t>(i)].out, std::to_string(i) + "\n");
  }
}
