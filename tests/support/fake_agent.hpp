#pragma once

#include "base/secret.hpp"
#include "guest/frame.hpp"
#include "guest/identity.hpp"
#include "tests/support/manual_time.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// One thing that a `fake_agent` does on a connection, after it has read the request.
struct agent_step {
  enum class kind {
    send,       // writes `bytes`
    wait,       // waits, reading nothing, until the test opens the gate `bytes`
    read_input, // reads frames into `input` until `stdin_end` or the end of the connection
    half_close, // says that nothing more comes; the host sees the end of the stream
    watch,      // reads and drops until the host has closed
    reset,      // ends the connection with a reset
  };
  kind what = kind::send;
  std::string bytes;
};

using agent_script = std::vector<agent_step>;

inline agent_step send(std::string bytes) {
  return {agent_step::kind::send, std::move(bytes)};
}
inline agent_step send(const nlohmann::json& payload) {
  return {agent_step::kind::send, guest::to_frame(payload.dump())};
}
inline agent_step send_end() {
  return {agent_step::kind::send, std::string{guest::terminator}};
}
inline agent_step wait_for(std::string gate) {
  return {agent_step::kind::wait, std::move(gate)};
}
inline agent_step read_input() {
  return {agent_step::kind::read_input, {}};
}
inline agent_step watch() {
  return {agent_step::kind::watch, {}};
}
inline agent_step half_close() {
  return {agent_step::kind::half_close, {}};
}
inline agent_step reset() {
  return {agent_step::kind::reset, {}};
}

/// A guest made of bytes: it listens on loopback, reads the first frame of each connection and then follows the script
/// that `on` has for the op; the end of a script closes the connection. Defaults: `healthz` is well, with `features`;
/// `reserve-execution` gives `id`; `cancel-execution` knows nothing; every other op just closes. All on one io_context.
class fake_agent {
public:
  using script_for = std::function<agent_script(const nlohmann::json& request)>;

  explicit fake_agent(boost::asio::io_context& on_context) : state_(std::make_shared<state>(on_context)) {
    state_->on["healthz"] = [s = std::weak_ptr{state_}](const nlohmann::json&) {
      return agent_script{send({{"ok", true}, {"protocolVersion", 2}, {"features", s.lock()->features}})};
    };
    state_->on["reserve-execution"] = [](const nlohmann::json&) { return agent_script{send(reservation())}; };
    state_->on["cancel-execution"] = [](const nlohmann::json&) {
      return agent_script{send({{"ok", false}, {"guestBootId", boot}, {"error", "unknown_execution"}})};
    };
    boost::asio::co_spawn(on_context, accept(state_), boost::asio::detached);
  }
  ~fake_agent() {
    auto ignored = boost::system::error_code{};
    state_->listener.close(ignored);
  }
  fake_agent(const fake_agent&) = delete;
  fake_agent& operator=(const fake_agent&) = delete;

  static constexpr const char* id = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915";
  static constexpr const char* boot = "3f0a9d62-7b1c-4e55-9d3a-61b8c2e47f90";

  static nlohmann::json reservation() {
    return {{"ok", true}, {"guestBootId", boot}, {"protocolVersion", 2}, {"executionId", id}, {"leaseExpiresAt", 1767225630000}};
  }
  static nlohmann::json end_event(int exit_code) {
    return {{"type", "result"}, {"exitCode", exit_code},    {"timedOut", false},
            {"durationMs", 7},  {"stdoutTruncated", false}, {"stderrTruncated", false}};
  }
  /// A result of a command that a signal ended.
  static nlohmann::json killed_event(const char* signal) {
    auto x = end_event(-1);
    x["signal"] = signal;
    return x;
  }
  static nlohmann::json acknowledgement(const char* outcome, bool started, std::optional<nlohmann::json> end = std::nullopt) {
    auto x = nlohmann::json{{"ok", true}, {"guestBootId", boot}, {"state", outcome}, {"started", started}};
    if (end) {
      end->erase("type");
      x["result"] = *end;
    }
    return x;
  }

  [[nodiscard]] guest::endpoint where(std::string token = "pod-uid") const {
    return {"127.0.0.1", state_->listener.local_endpoint().port(), secret{std::move(token)}};
  }
  /// The script of an op; replaces the one before.
  void on(const std::string& op, script_for script) {
    state_->on[op] = std::move(script);
  }
  void on(const std::string& op, agent_script script) {
    state_->on[op] = [script = std::move(script)](const nlohmann::json&) { return script; };
  }
  void features(std::vector<std::string> all) {
    state_->features = std::move(all);
  }
  /// Lets every script go on that waits, or will wait, for `gate`.
  void open(const std::string& gate) {
    state_->gates[gate] = true;
    for (auto& x : state_->waiting)
      x->cancel();
  }
  /// From now on at most `bytes` of `op` are sent, over all connections; the connection is then closed.
  void limit(const std::string& op, std::size_t bytes) {
    state_->limits[op] = bytes;
  }
  /// Stops listening: connections are refused.
  void stop_listening() {
    state_->listener.close();
  }

  // -- what it has seen --------------------------------------------------------

  [[nodiscard]] const std::vector<nlohmann::json>& requests() const {
    return state_->requests;
  }
  [[nodiscard]] std::vector<std::string> ops() const {
    auto all = std::vector<std::string>{};
    for (const auto& x : state_->requests)
      all.push_back(x.value("op", ""));
    return all;
  }
  [[nodiscard]] std::size_t count(const std::string& op) const {
    const auto all = ops();
    return static_cast<std::size_t>(std::ranges::count(all, op));
  }
  [[nodiscard]] std::size_t connections() const {
    return state_->connections;
  }
  /// Connections that have ended, on either side.
  [[nodiscard]] std::size_t ended() const {
    return state_->ended;
  }
  /// The payloads that `read_input` steps have read.
  [[nodiscard]] const std::vector<nlohmann::json>& input() const {
    return state_->input;
  }
  /// The bytes that `send` steps handed to the kernel.
  [[nodiscard]] std::size_t sent() const {
    return state_->sent;
  }

private:
  using tcp = boost::asio::ip::tcp;
  static constexpr auto quietly = boost::asio::as_tuple(boost::asio::use_awaitable);

  struct state {
    explicit state(boost::asio::io_context& context) : listener(context, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}) {
    }
    tcp::acceptor listener;
    std::map<std::string, script_for> on;
    std::map<std::string, bool> gates;
    std::map<std::string, std::size_t> limits;
    std::vector<std::shared_ptr<boost::asio::steady_timer>> waiting;
    std::vector<std::string> features;
    std::vector<nlohmann::json> requests;
    std::vector<nlohmann::json> input;
    std::size_t connections = 0;
    std::size_t ended = 0;
    std::size_t sent = 0;
  };

  static boost::asio::awaitable<void> accept(std::shared_ptr<state> s) {
    while (s->listener.is_open()) {
      auto [ec, socket] = co_await s->listener.async_accept(quietly);
      if (ec)
        co_return;
      ++s->connections;
      auto lane = s->listener.get_executor();
      boost::asio::co_spawn(lane, serve(s, std::move(socket)), boost::asio::detached);
    }
  }

  static boost::asio::awaitable<std::optional<std::string>> next_frame(tcp::socket& socket, guest::frame_reader& frames) {
    auto chunk = std::string(64 * 1024, '\0');
    while (true) {
      auto step = frames.next(256 * 1024 * 1024);
      if (auto* whole = std::get_if<guest::frame_reader::frame>(&step))
        co_return std::move(whole->payload);
      if (!std::holds_alternative<guest::frame_reader::need_more>(step))
        co_return std::nullopt;
      auto [ec, n] = co_await socket.async_read_some(boost::asio::buffer(chunk), quietly);
      if (ec)
        co_return std::nullopt;
      frames.push(std::string_view{chunk}.substr(0, n));
    }
  }

  static boost::asio::awaitable<void> wait_gate(std::shared_ptr<state> s, std::string gate) {
    auto timer = std::make_shared<boost::asio::steady_timer>(s->listener.get_executor(), boost::asio::steady_timer::time_point::max());
    s->waiting.push_back(timer);
    while (!s->gates[gate]) {
      [[maybe_unused]] auto [ec] = co_await timer->async_wait(quietly);
    }
    std::erase(s->waiting, timer);
  }

  /// False: nothing more can be sent.
  static boost::asio::awaitable<bool> send_bytes(std::shared_ptr<state> s, tcp::socket& socket, std::string op, std::string bytes) {
    auto cut = false;
    if (auto limit = s->limits.find(op); limit != s->limits.end()) {
      cut = bytes.size() > limit->second;
      bytes.resize(std::min(bytes.size(), limit->second));
      limit->second -= bytes.size();
    }
    auto rest = std::string_view{bytes};
    while (!rest.empty()) {
      auto [ec, n] = co_await socket.async_write_some(boost::asio::buffer(rest), quietly);
      if (ec)
        co_return false;
      s->sent += n;
      rest.remove_prefix(n);
    }
    co_return !cut;
  }

  static boost::asio::awaitable<void> serve(std::shared_ptr<state> s, tcp::socket socket) {
    co_await follow(s, socket);
    ++s->ended;
  }

  static boost::asio::awaitable<void> follow(std::shared_ptr<state> s, tcp::socket& socket) {
    auto frames = guest::frame_reader{};
    auto first = co_await next_frame(socket, frames);
    if (!first)
      co_return;
    auto request = nlohmann::json::parse(*first, nullptr, false);
    s->requests.push_back(request);
    const auto op = request.value("op", std::string{});
    const auto found = s->on.find(op);
    if (found == s->on.end())
      co_return;
    auto script = found->second(request);
    for (auto& step : script) {
      switch (step.what) {
        case agent_step::kind::send: {
          const bool more = co_await send_bytes(s, socket, op, std::move(step.bytes));
          if (!more)
            co_return;
          break;
        }
        case agent_step::kind::wait: co_await wait_gate(s, step.bytes); break;
        case agent_step::kind::read_input:
          while (true) {
            auto frame = co_await next_frame(socket, frames);
            if (!frame)
              break;
            s->input.push_back(nlohmann::json::parse(*frame, nullptr, false));
            if (s->input.back().value("type", "") == "stdin_end")
              break;
          }
          break;
        case agent_step::kind::half_close: {
          auto ignored = boost::system::error_code{};
          socket.shutdown(tcp::socket::shutdown_send, ignored);
          break;
        }
        case agent_step::kind::watch: {
          auto chunk = std::string(64 * 1024, '\0');
          auto open = true;
          while (open) {
            auto [ec, n] = co_await socket.async_read_some(boost::asio::buffer(chunk), quietly);
            open = !ec && n != 0;
          }
          break;
        }
        case agent_step::kind::reset:
          socket.set_option(boost::asio::socket_base::linger{true, 0});
          socket.close();
          co_return;
      }
    }
  }

  std::shared_ptr<state> state_;
};

/// Runs `on` until `enough`. When nothing has happened for a while of real time, nothing will before time moves: `time`
/// then moves to its earliest sleeper, so that a bound of minutes passes in milliseconds. Sockets on loopback deliver at
/// once; a while that is too short would make a bound pass too early and is seen as a failed test, not as a passed one.
inline void run_with_sockets(boost::asio::io_context& on, manual_time& time, const std::function<bool()>& enough,
                             std::chrono::seconds bound = std::chrono::seconds{30}) {
  constexpr auto quiet = std::chrono::milliseconds{20};
  const auto end = std::chrono::steady_clock::now() + bound;
  while (!enough()) {
    on.restart();
    if (on.run_one_for(quiet) != 0)
      continue;
    if (auto at = time.next())
      time.advance_to(*at);
    if (std::chrono::steady_clock::now() >= end)
      throw std::runtime_error{"the flow did not end within the bound of the test"};
  }
}

} // namespace paddock::test
