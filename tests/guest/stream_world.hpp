#pragma once

#include "guest/flows/stream_transport.hpp"
#include "guest/frame.hpp"
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
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

/// The guest's end of streams, made of bytes and moved by the test: it answers `healthz`, greets every other request with
/// `greeting`, and then says what the test tells it to say on the newest stream. It keeps every frame it gets.
class stream_guest {
public:
  using tcp = boost::asio::ip::tcp;
  using json = nlohmann::json;

  explicit stream_guest(boost::asio::io_context& on) :
    it_(std::make_shared<state>(on)),
    features(it_->features),
    greeting(it_->greeting),
    ops(it_->ops),
    requests(it_->requests),
    frames(it_->frames),
    reading(it_->reading) {
    boost::asio::co_spawn(on, accept(it_), boost::asio::detached);
  }
  ~stream_guest() {
    auto ignored = boost::system::error_code{};
    it_->listener.close(ignored);
    hang_up();
  }
  stream_guest(const stream_guest&) = delete;
  stream_guest& operator=(const stream_guest&) = delete;

private:
  struct state;
  std::shared_ptr<state> it_;

public:
  std::vector<std::string>& features;
  std::vector<json>& greeting;   // sent as soon as a stream is asked for
  std::vector<std::string>& ops; // of all requests
  std::vector<json>& requests;   // for streams
  std::vector<json>& frames;     // what came after the request, on every stream
  bool& reading;                 // false: later frames are left in the socket

  [[nodiscard]] guest::endpoint where() const {
    return {"127.0.0.1", it_->listener.local_endpoint().port(), secret{"pod-uid"}};
  }
  void say(const json& frame) {
    say_bytes(guest::to_frame(frame.dump()));
  }
  void say_bytes(std::string bytes) {
    it_->saying.push_back(std::move(bytes));
    it_->bell.cancel();
  }
  /// Into the socket before this returns, when nothing else is being said.
  void say_now(const json& frame) {
    boost::asio::write(*it_->socket, boost::asio::buffer(guest::to_frame(frame.dump())));
  }
  /// Ends the newest connection once all was said.
  void finish() {
    it_->finishing = true;
    it_->bell.cancel();
  }
  void hang_up() {
    auto ignored = boost::system::error_code{};
    if (it_->socket)
      it_->socket->close(ignored);
    it_->bell.cancel();
  }
  void reset() {
    it_->socket->set_option(boost::asio::socket_base::linger{true, 0});
    hang_up();
  }
  void read_on() {
    it_->reading = true;
    it_->bell.cancel();
  }
  /// The host has closed the newest stream.
  [[nodiscard]] bool left() const {
    return it_->left;
  }
  /// Everything was handed to the kernel.
  [[nodiscard]] bool all_said() const {
    return it_->saying.empty();
  }
  [[nodiscard]] std::size_t said() const {
    return it_->said;
  }
  /// The frames of one type.
  [[nodiscard]] std::vector<json> of_type(const std::string& type) const {
    auto got = std::vector<json>{};
    std::ranges::copy_if(it_->frames, std::back_inserter(got), [&](const json& x) { return x.value("type", "") == type; });
    return got;
  }

private:
  static constexpr auto quietly = boost::asio::as_tuple(boost::asio::use_awaitable);

  struct state {
    explicit state(boost::asio::io_context& on) :
      listener(on, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}), bell(on, boost::asio::steady_timer::time_point::max()) {
    }
    tcp::acceptor listener;
    boost::asio::steady_timer bell;
    std::vector<std::string> features;
    std::vector<json> greeting;
    std::vector<std::string> ops;
    std::vector<json> requests;
    std::vector<json> frames;
    std::shared_ptr<tcp::socket> socket;
    std::deque<std::string> saying;
    std::size_t said = 0;
    bool reading = true;
    bool finishing = false;
    bool left = false;
  };

  static boost::asio::awaitable<void> accept(std::shared_ptr<state> s) {
    while (s->listener.is_open()) {
      auto [ec, socket] = co_await s->listener.async_accept(quietly);
      if (ec)
        co_return;
      // A small frame must not wait for the acknowledgement of the one before: the kernel's time is not the test's.
      socket.set_option(tcp::no_delay{true});
      auto lane = s->listener.get_executor();
      boost::asio::co_spawn(lane, serve(s, std::make_shared<tcp::socket>(std::move(socket))), boost::asio::detached);
    }
  }

  static boost::asio::awaitable<std::optional<json>> next_frame(std::shared_ptr<tcp::socket> socket,
                                                                std::shared_ptr<guest::frame_reader> reader) {
    auto chunk = std::string(64 * 1024, '\0');
    while (true) {
      auto step = reader->next(256 * 1024 * 1024);
      if (auto* whole = std::get_if<guest::frame_reader::frame>(&step))
        co_return json::parse(whole->payload, nullptr, false);
      auto [ec, n] = co_await socket->async_read_some(boost::asio::buffer(chunk), quietly);
      if (ec)
        co_return std::nullopt;
      reader->push(std::string_view{chunk}.substr(0, n));
    }
  }

  static boost::asio::awaitable<void> serve(std::shared_ptr<state> s, std::shared_ptr<tcp::socket> socket) {
    auto reader = std::make_shared<guest::frame_reader>();
    auto request = co_await next_frame(socket, reader);
    if (!request)
      co_return;
    s->ops.push_back(request->value("op", ""));
    if (s->ops.back() == "healthz") {
      auto reply = json{{"ok", true}, {"protocolVersion", 2}, {"features", s->features}};
      auto bytes = guest::to_frame(reply.dump());
      co_await boost::asio::async_write(*socket, boost::asio::buffer(bytes), quietly);
      co_return;
    }
    s->requests.push_back(*request);
    s->socket = socket;
    s->left = false;
    s->finishing = false;
    for (const auto& x : s->greeting)
      s->saying.push_back(guest::to_frame(x.dump()));
    auto lane = s->listener.get_executor();
    boost::asio::co_spawn(lane, speak(s, socket), boost::asio::detached);
    while (true) {
      while (!s->reading)
        co_await s->bell.async_wait(quietly);
      auto frame = co_await next_frame(socket, reader);
      if (!frame)
        break;
      s->frames.push_back(*frame);
    }
    s->left = true;
  }

  static boost::asio::awaitable<void> speak(std::shared_ptr<state> s, std::shared_ptr<tcp::socket> socket) {
    while (socket->is_open()) {
      if (s->saying.empty()) {
        if (s->finishing) {
          auto ignored = boost::system::error_code{};
          socket->shutdown(tcp::socket::shutdown_send, ignored);
          co_return;
        }
        co_await s->bell.async_wait(quietly);
        continue;
      }
      auto rest = std::string_view{s->saying.front()};
      while (!rest.empty()) {
        auto [ec, n] = co_await socket->async_write_some(boost::asio::buffer(rest), quietly);
        if (ec) {
          s->saying.clear();
          co_return;
        }
        s->said += n;
        rest.remove_prefix(n);
      }
      s->saying.pop_front();
    }
  }
};

/// A host of streams and its guest, on one context and in the test's time.
struct stream_world {
  boost::asio::io_context context;
  manual_time time;
  stream_guest guest{context};
  std::unique_ptr<guest::stream_host> host = guest::make_stream_host(time);

  using terminal = std::unique_ptr<guest::terminal_stream>;
  using tcp = std::unique_ptr<guest::tcp_stream>;

  static nlohmann::json ready() {
    return {{"type", "ready"}, {"guestBootId", "boot"}};
  }
  static nlohmann::json session_ready(std::uint64_t from = 0, std::uint64_t next = 0) {
    return {{"type", "ready"},    {"guestBootId", "boot"}, {"sessionId", "dev"}, {"kind", "terminal"},
            {"state", "running"}, {"fromOffset", from},    {"droppedBytes", 0},  {"nextOffset", next}};
  }
  static nlohmann::json data(const std::string& text) {
    return {{"type", "data"}, {"data", text}};
  }

  void options(guest::stream_options how) {
    host = guest::make_stream_host(time, {}, how);
  }
  [[nodiscard]] deadline soon() const {
    return deadline{time, std::chrono::minutes{10}};
  }
  /// Lets everything happen that can happen before time moves. Loopback delivers at once.
  void settle() {
    for (auto quiet = 0; quiet < 3;) {
      context.restart();
      quiet = context.poll() == 0 ? quiet + 1 : 0;
    }
  }
  /// Moves time in steps that no sleeper is late for.
  void pass(time_source::clock::duration how_long) {
    const auto end = time.now() + how_long;
    settle();
    for (auto next = time.next(); next && *next <= end; next = time.next()) {
      time.advance_to(*next);
      settle();
    }
    time.advance_to(end);
    settle();
  }
  /// Runs until `enough`, in real time: for what takes many turns of the kernel.
  void until(const std::function<bool()>& enough) {
    run_until(context, enough, std::chrono::seconds{60});
  }
  template <class T>
  T finish(started<T> flow) {
    until([&] { return flow.done(); });
    return std::move(flow.get());
  }
  template <class T>
  T finish(boost::asio::awaitable<T> flow) {
    return finish(start(std::move(flow)));
  }
  template <class T>
  started<T> start(boost::asio::awaitable<T> flow) {
    return start_flow(context, std::move(flow));
  }

  guest::result<terminal> try_terminal(guest::terminal_request what = {}) {
    return finish(host->open_terminal(guest.where(), std::move(what), soon()));
  }
  terminal open_terminal(guest::terminal_request what = {}) {
    if (guest.greeting.empty())
      guest.greeting = {ready()};
    return std::move(try_terminal(std::move(what)).value());
  }
  guest::result<terminal> try_attach(std::uint64_t from = 0) {
    guest.features.push_back("sessions");
    return finish(host->attach_session(guest.where(), {"dev", from, std::nullopt}, soon()));
  }
  terminal attach(std::uint64_t from = 0) {
    if (guest.greeting.empty())
      guest.greeting = {session_ready(from, from)};
    return std::move(try_attach(from).value());
  }
  guest::result<tcp> try_tcp(std::string to = "127.0.0.1", int port = 8080) {
    return finish(host->open_tcp(guest.where(), std::move(to), port, soon()));
  }
  tcp open_tcp() {
    if (guest.greeting.empty())
      guest.greeting = {ready()};
    return std::move(try_tcp().value());
  }
};

template <class T, class Result>
bool failed_with(const Result& got) {
  return !got && std::holds_alternative<T>(got.error());
}

} // namespace paddock::test
