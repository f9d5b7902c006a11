#pragma once

#include "base/flows/io_lane.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

/// What a scripted server does next on one connection.
struct step {
  enum class kind { read_request, read_some, send, stall, close, reset } what;
  std::string bytes;
};

namespace script {

/// Reads one HTTP request, its body by Content-Length included.
inline step read_request() {
  return {step::kind::read_request, {}};
}
/// Reads whatever comes next, at least one byte.
inline step read_some() {
  return {step::kind::read_some, {}};
}
inline step send(std::string bytes) {
  return {step::kind::send, std::move(bytes)};
}
/// Does nothing until the peer closes.
inline step stall() {
  return {step::kind::stall, {}};
}
/// An orderly end of the connection.
inline step close() {
  return {step::kind::close, {}};
}
/// A TCP reset.
inline step reset() {
  return {step::kind::reset, {}};
}
/// The bytes of a whole HTTP answer.
inline std::string answer(unsigned status, const std::string& body, const std::string& type = "application/json",
                          const std::string& more = {}) {
  return "HTTP/1.1 " + std::to_string(status) + " Scripted\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size())
         + "\r\n" + more + "\r\n" + body;
}

} // namespace script

/// A raw TCP server on loopback that plays one script a connection, in the order they arrive; a connection beyond the
/// scripts is closed at once. A script that has ended closes its connection. It runs on a thread of its own and records
/// what it saw; every reading function may be called from any thread. The port is the kernel's choice.
class scripted_server {
public:
  using connection = std::vector<step>;

  explicit scripted_server(std::vector<connection> scripts) : scripts_(std::move(scripts)) {
    using boost::asio::ip::tcp;
    // The coroutine owns the acceptor, so that it goes with the lane and not while the lane still uses it.
    tcp::acceptor acceptor{lane_.context(), tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}};
    port_ = acceptor.local_endpoint().port();
    boost::asio::co_spawn(lane_.context(), listen(this, std::move(acceptor)), boost::asio::detached);
  }

  [[nodiscard]] std::uint16_t port() const {
    return port_;
  }
  /// Every request read so far, head and body as they came.
  [[nodiscard]] std::vector<std::string> requests() const {
    auto lock = std::lock_guard{guard_};
    return requests_;
  }
  /// Connections accepted so far.
  [[nodiscard]] std::size_t connections() const {
    auto lock = std::lock_guard{guard_};
    return connections_;
  }
  /// Waits until the peers have closed `n` connections that stalled. False: not within `bound`.
  [[nodiscard]] bool wait_for_closed(std::size_t n, std::chrono::seconds bound = std::chrono::seconds{10}) const {
    auto lock = std::unique_lock{guard_};
    return changed_.wait_for(lock, bound, [&] { return closed_ >= n; });
  }
  /// Waits until `n` requests were read. False: not within `bound`.
  [[nodiscard]] bool wait_for_requests(std::size_t n, std::chrono::seconds bound = std::chrono::seconds{10}) const {
    auto lock = std::unique_lock{guard_};
    return changed_.wait_for(lock, bound, [&] { return requests_.size() >= n; });
  }

private:
  using socket = boost::asio::ip::tcp::socket;
  static constexpr auto quietly = boost::asio::as_tuple(boost::asio::use_awaitable);

  static boost::asio::awaitable<void> listen(scripted_server* me, boost::asio::ip::tcp::acceptor acceptor) {
    for (;;) {
      auto [ec, peer] = co_await acceptor.async_accept(quietly);
      if (ec)
        co_return;
      auto mine = connection{};
      {
        auto lock = std::lock_guard{me->guard_};
        if (me->connections_ < me->scripts_.size())
          mine = me->scripts_[me->connections_];
        ++me->connections_;
      }
      boost::asio::co_spawn(me->lane_.context(), play(me, std::move(peer), std::move(mine)), boost::asio::detached);
    }
  }

  static std::size_t missing(const std::string& text) {
    const auto head = text.find("\r\n\r\n");
    if (head == std::string::npos)
      return 1;
    auto lower = text.substr(0, head);
    std::ranges::transform(lower, lower.begin(), [](char x) { return x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x; });
    const auto at = lower.find("\r\ncontent-length:");
    const auto body = at == std::string::npos ? 0 : std::stoul(lower.substr(at + 17));
    const auto whole = head + 4 + body;
    return whole > text.size() ? whole - text.size() : 0;
  }

  static boost::asio::awaitable<void> play(scripted_server* me, socket peer, connection steps) {
    auto text = std::string{};
    auto room = std::string(16 * 1024, '\0');
    for (const auto& next : steps) {
      if (next.what == step::kind::send) {
        auto [ec, n] = co_await boost::asio::async_write(peer, boost::asio::buffer(next.bytes), quietly);
        if (ec)
          co_return;
      } else if (next.what == step::kind::close) {
        co_return;
      } else if (next.what == step::kind::reset) {
        peer.set_option(boost::asio::socket_base::linger{true, 0});
        co_return;
      } else {
        auto enough = next.what == step::kind::read_request && missing(text) == 0;
        while (!enough) {
          auto [ec, n] = co_await peer.async_read_some(boost::asio::buffer(room), quietly);
          if (ec) {
            me->note([&] { ++me->closed_; });
            co_return;
          }
          text.append(room, 0, n);
          enough = next.what == step::kind::read_some || (next.what == step::kind::read_request && missing(text) == 0);
        }
        me->note([&] { me->requests_.push_back(std::exchange(text, {})); });
      }
    }
  }

  template <class F>
  void note(F what) {
    {
      auto lock = std::lock_guard{guard_};
      what();
    }
    changed_.notify_all();
  }

  std::vector<connection> scripts_;
  std::uint16_t port_ = 0;
  mutable std::mutex guard_; // of what follows
  mutable std::condition_variable changed_;
  std::vector<std::string> requests_;
  std::size_t connections_ = 0;
  std::size_t closed_ = 0;
  io_lane lane_; // ends before what its coroutines use
};

} // namespace paddock::test
