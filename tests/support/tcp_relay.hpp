#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace paddock::test {

/// Stands between a client and a server on loopback, passes every byte on and can reset all connections. For one thread; runs on
/// `on`, which it does not outlive.
class tcp_relay {
public:
  tcp_relay(boost::asio::io_context& on, std::uint16_t to) :
    to_(to), acceptor_(on, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}) {
    boost::asio::co_spawn(on, listen(this), boost::asio::detached);
  }
  [[nodiscard]] std::uint16_t port() const {
    return acceptor_.local_endpoint().port();
  }
  /// Resets every connection that was made so far.
  void cut() {
    for (const auto& x : std::exchange(all_, {}))
      for (auto* socket : {&x->near, &x->far}) {
        auto ignored = boost::system::error_code{};
        socket->set_option(boost::asio::socket_base::linger{true, 0}, ignored);
        socket->close(ignored);
      }
  }
  std::size_t connections = 0; // so far

private:
  using tcp = boost::asio::ip::tcp;
  static constexpr auto quietly = boost::asio::as_tuple(boost::asio::use_awaitable);
  struct pair {
    tcp::socket near;
    tcp::socket far;
  };

  static boost::asio::awaitable<void> listen(tcp_relay* me) {
    for (;;) {
      auto [ec, near] = co_await me->acceptor_.async_accept(quietly);
      if (ec)
        co_return;
      ++me->connections;
      auto lane = near.get_executor();
      auto both = std::make_shared<pair>(pair{std::move(near), tcp::socket{lane}});
      const auto where = tcp::endpoint{boost::asio::ip::address_v4::loopback(), me->to_};
      auto [refused] = co_await both->far.async_connect(where, quietly);
      if (refused)
        continue;
      me->all_.push_back(both);
      boost::asio::co_spawn(lane, pump(both, &pair::near, &pair::far), boost::asio::detached);
      boost::asio::co_spawn(lane, pump(both, &pair::far, &pair::near), boost::asio::detached);
    }
  }
  static boost::asio::awaitable<void> pump(std::shared_ptr<pair> both, tcp::socket pair::*from, tcp::socket pair::*to) {
    auto room = std::vector<char>(16 * 1024);
    for (;;) {
      auto [ec, n] = co_await ((*both).*from).async_read_some(boost::asio::buffer(room), quietly);
      auto ignored = boost::system::error_code{};
      if (ec) {
        ((*both).*to).shutdown(tcp::socket::shutdown_send, ignored);
        co_return;
      }
      auto [failed, written] = co_await boost::asio::async_write((*both).*to, boost::asio::buffer(room.data(), n), quietly);
      if (failed)
        co_return;
    }
  }

  std::uint16_t to_;
  tcp::acceptor acceptor_;
  std::vector<std::shared_ptr<pair>> all_;
};

} // namespace paddock::test
