#pragma once

// An agent on a loopback port with a thread of its own, and a client that speaks to it in bytes.

#include "base/time.hpp"
#include "guest/agent/agent.hpp"
#include "guest/agent_config.hpp"
#include "guest/envelope.hpp"
#include "guest/frame.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace paddock::test {

using nlohmann::json;
namespace fs = std::filesystem;

/// Moved by hand, read by the agent's thread.
class hand_time final : public time_source {
public:
  clock::time_point now() const override {
    return clock::time_point{std::chrono::milliseconds{1'000'000 + moved_.load()}};
  }
  wall_clock::time_point wall() const override {
    return wall_clock::time_point{std::chrono::milliseconds{1'767'225'600'000 + moved_.load()}};
  }
  void advance(std::chrono::milliseconds by) {
    moved_ += by.count();
  }

private:
  std::atomic<std::int64_t> moved_{0};
};

/// One connection, in bytes. Every wait is bounded; a wait that runs out is a failure of the test and throws.
class raw_client {
public:
  explicit raw_client(int fd) : fd_(fd) {
  }
  raw_client(raw_client&& other) noexcept : fd_(std::exchange(other.fd_, -1)), held_(std::move(other.held_)) {
  }
  ~raw_client() {
    close();
  }

  void close() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

  int fd() const {
    return fd_;
  }

  /// False: the guest has destroyed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  /// The next bytes; empty at the end of the stream, however it came about.
  std::string some() {
    wait_readable();
    char buffer[65536];
    auto n = ::recv(fd_, buffer, sizeof buffer, 0);
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
  }

  /// All bytes to the end of the stream.
  std::string rest() {
    auto all = std::exchange(held_, {});
    for (auto more = some(); !more.empty(); more = some())
      all += more;
    return all;
  }

  /// The payload of the next frame (empty: the terminator). Absent: the stream has ended.
  std::optional<std::string> frame() {
    for (;;) {
      if (held_.size() >= guest::frame_header_size) {
        auto size = std::stoul(held_.substr(0, 8), nullptr, 16);
        if (held_.size() >= guest::frame_header_size + size) {
          auto payload = held_.substr(guest::frame_header_size, size);
          held_.erase(0, guest::frame_header_size + size);
          return payload;
        }
      }
      auto more = some();
      if (more.empty())
        return std::nullopt;
      held_ += more;
    }
  }

  /// The next frame as JSON; a discarded value at the end of the stream or at the terminator.
  json event() {
    auto payload = frame();
    return payload && !payload->empty() ? json::parse(*payload) : json(json::value_t::discarded);
  }

  /// Whether the guest closes, without a byte.
  bool closed_silently() {
    return rest().empty();
  }

private:
  void wait_readable() {
    auto wanted = pollfd{fd_, POLLIN, 0};
    if (::poll(&wanted, 1, 20'000) != 1)
      throw std::runtime_error{"the guest said nothing for 20 s"};
  }

  int fd_;
  std::string held_;
};

/// What an execution said until its end.
struct transcript {
  std::string out;
  std::string err;
  json last = json(json::value_t::discarded); // result or error; discarded: severed
  bool terminated = false;
  bool ended = false;
};

inline transcript listen_to(raw_client& client) {
  auto result = transcript{};
  for (;;) {
    auto payload = client.frame();
    if (!payload) {
      result.ended = true;
      return result;
    }
    if (payload->empty()) {
      result.terminated = true;
      continue;
    }
    auto event = json::parse(*payload);
    auto& type = event["type"];
    if (type == "stdout_delta")
      result.out += event["data"].get<std::string>();
    else if (type == "stderr_delta")
      result.err += event["data"].get<std::string>();
    else
      result.last = event;
  }
}

class temp_directory {
public:
  temp_directory() {
    auto name = (fs::temp_directory_path() / "paddock-agent-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error{"mkdtemp"};
    path_ = fs::canonical(name);
  }
  ~temp_directory() {
    auto ec = std::error_code{};
    fs::remove_all(path_, ec);
  }
  const fs::path& path() const {
    return path_;
  }

private:
  fs::path path_;
};

inline std::string content_of(const fs::path& path) {
  auto in = std::ifstream{path, std::ios::binary};
  auto text = std::stringstream{};
  text << in.rdbuf();
  return text.str();
}

inline void put(const fs::path& path, std::string_view content) {
  auto out = std::ofstream{path, std::ios::binary};
  out << content;
}

/// Work that waits until the test lets it go on, job by job.
class held_work final : public guest::blocking_work {
public:
  void run(std::function<void()> job) override {
    if (!holding)
      return behind.run(std::move(job));
    auto lock = std::lock_guard{mutex};
    held.push_back(std::move(job));
    arrived.notify_all();
  }
  /// Waits until a job has come, then takes it.
  std::function<void()> take() {
    auto lock = std::unique_lock{mutex};
    if (!arrived.wait_for(lock, std::chrono::seconds{20}, [this] { return !held.empty(); }))
      throw std::runtime_error{"no job came"};
    auto job = std::move(held.front());
    held.erase(held.begin());
    return job;
  }

  std::atomic<bool> holding{false};
  guest::worker_pool behind{2};

private:
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::function<void()>> held;
};

constexpr auto token = "b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311";

class agent_world {
public:
  using variables = std::map<std::string, std::string>;

  explicit agent_world(variables extra = {}, guest::file_calls calls = {}, std::function<int(const std::string&)> sync = {}) {
    auto values = variables{{"NAMZU_AGENT_TCP_PORT", "0"},
                            {"PADDOCK_GUEST_TCP_ADDRESS", "127.0.0.1"},
                            {"NAMZU_AGENT_BIND_TOKEN", token},
                            {"NAMZU_SANDBOX_WORKSPACE", (root.path() / "ws").string()},
                            {"NAMZU_AGENT_CANCEL_GRACE_MS", "200"},
                            {"NAMZU_AGENT_QUIESCE_SCOPE", "owned-sessions"}, // whoever runs the tests may be a child of init
                            {"PATH", "/usr/local/bin:/usr/bin:/bin"},
                            {"HOME", "/home/somebody"}};
    for (auto& [name, value] : extra)
      values[name] = value;
    fs::create_directories(workspace());
    auto environment = std::vector<std::string>{};
    for (auto& [name, value] : values)
      if (value != "-") // absent
        environment.push_back(name + "=" + value);
    auto config = guest::read_agent_config(environment);
    if (!config)
      throw std::runtime_error{config.error()};
    agent.emplace(io, *config,
                  guest::agent_surroundings{time, work,
                                            [this](std::string_view line) {
                                              auto lock = std::lock_guard{log_mutex_};
                                              log_ += std::string{line} + "\n";
                                            },
                                            std::move(calls), std::move(sync)});
    if (auto bound = agent->listen(); !bound)
      throw std::runtime_error{bound.error()};
    thread_ = std::thread{[this] { io.run(); }};
  }

  ~agent_world() {
    boost::asio::post(io, [this] {
      agent.reset();
      io.stop();
    });
    thread_.join();
  }

  fs::path workspace() const {
    return root.path() / "ws";
  }

  raw_client connect() const {
    if (agent->address().front() == '/') {
      auto fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      auto address = sockaddr_un{};
      address.sun_family = AF_UNIX;
      agent->address().copy(address.sun_path, sizeof address.sun_path - 1);
      if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error{"connect"};
      return raw_client{fd};
    }
    return connect_to(static_cast<std::uint16_t>(std::stoi(agent->address().substr(agent->address().find(':') + 1))));
  }

  static raw_client connect_to(std::uint16_t port, int receive_buffer = 0) {
    auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0)
      ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ::close(fd);
      throw std::runtime_error{"connect"};
    }
    return raw_client{fd};
  }

  std::uint16_t port() const {
    return static_cast<std::uint16_t>(std::stoi(agent->address().substr(agent->address().find(':') + 1)));
  }

  /// The frame of a request with the right token.
  static std::string request(std::string op, std::optional<json> body = std::nullopt, std::optional<std::string> pin = std::nullopt) {
    auto x = guest::request{};
    x.op = std::move(op);
    if (body)
      x.body = nlohmann::ordered_json::parse(body->dump());
    x.token = token;
    x.expected_guest_boot_id = std::move(pin);
    return guest::to_frame(guest::to_payload(x));
  }

  raw_client open(std::string op, std::optional<json> body = std::nullopt, std::optional<std::string> pin = std::nullopt) const {
    auto client = connect();
    client.send(request(std::move(op), std::move(body), std::move(pin)));
    return client;
  }

  /// The reply of a reply op; it must be one frame and the end.
  json ask(std::string op, std::optional<json> body = std::nullopt, std::optional<std::string> pin = std::nullopt) const {
    auto client = open(std::move(op), std::move(body), std::move(pin));
    auto reply = client.event();
    if (!client.rest().empty())
      throw std::runtime_error{"more than one frame"};
    return reply;
  }

  std::string reserve() const {
    return ask("reserve-execution").at("executionId");
  }

  raw_client start(const std::string& id, const std::string& line, json extra = json::object()) const {
    auto body = json{{"executionId", id}, {"command", "/bin/sh"}, {"args", {"-c", line}}};
    body.update(extra);
    return open("execute", body);
  }

  transcript run(const std::string& id, const std::string& line, json extra = json::object()) const {
    auto client = start(id, line, std::move(extra));
    return listen_to(client);
  }

  json cancel(const std::string& id) const {
    return ask("cancel-execution", json{{"executionId", id}});
  }

  /// Asks for `id` until it is in `state`. Each question is a round trip; bounded by time.
  bool reaches(const std::string& id, const std::string& state) const {
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (std::chrono::steady_clock::now() < until)
      if (ask("reserve-execution", json{{"executionId", id}}).at("state") == state)
        return true;
    return false;
  }

  /// Calls `f` on the agent's thread.
  template <class F>
  auto on_wire(F f) {
    auto promise = std::promise<decltype(f())>{};
    auto future = promise.get_future();
    boost::asio::post(io, [&] {
      if constexpr (std::is_void_v<decltype(f())>) {
        f();
        promise.set_value();
      } else {
        promise.set_value(f());
      }
    });
    return future.get();
  }

  /// Fences the agent as [G] 6.4 describes.
  void fence() {
    auto client = open("execute", json{{"command", "/bin/sh"}, {"args", {"-c", "sleep 2 >/dev/null 2>&1 & exit 0"}}});
    client.rest();
  }

  std::string log() {
    auto lock = std::lock_guard{log_mutex_};
    return log_;
  }

  temp_directory root;
  boost::asio::io_context io{1};
  hand_time time;
  held_work work;
  std::optional<guest::agent> agent;

private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{io.get_executor()};
  std::mutex log_mutex_;
  std::string log_;
  std::thread thread_;
};

inline bool alive(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

} // namespace paddock::test
