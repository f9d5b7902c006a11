#include "base/flows/dial.hpp"

#include "base/bracketed.hpp"
#include "base/flows/unthrown.hpp"
#include "base/flows/wire.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace paddock {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);

/// A look-up that nobody needs to wait for: the system's resolver cannot be stopped, so it is left behind.
struct look_up {
  explicit look_up(const asio::any_io_executor& lane) : resolver(lane), bell(lane) {
  }
  tcp::resolver resolver;
  asio::steady_timer bell;
  bool done = false;
  error_code ec;
  std::vector<tcp::endpoint> found;
};

io_failure withdrawn_failure() {
  return {io_failure::stage::cancelled, false, "withdrawn by the caller"};
}

io_failure late_failure(const std::string& what) {
  return {io_failure::stage::timeout, false, what + ": out of time"};
}

asio::awaitable<io_result<std::vector<tcp::endpoint>>> addresses(std::string host, std::uint16_t port, deadline until) {
  auto ec = error_code{};
  const auto literal = asio::ip::make_address(host, ec);
  if (!ec)
    co_return std::vector{tcp::endpoint{literal, port}};
  auto lane = co_await asio::this_coro::executor;
  auto it = std::make_shared<look_up>(lane);
  it->bell.expires_at(until.at());
  it->resolver.async_resolve(host, std::to_string(port), tcp::resolver::numeric_service,
                             [it](error_code why, tcp::resolver::results_type all) {
                               it->done = true;
                               it->ec = why;
                               for (const auto& x : all)
                                 it->found.push_back(x.endpoint());
                               it->bell.cancel();
                             });
  [[maybe_unused]] auto [rung] = co_await it->bell.async_wait(quietly);
  auto gone = co_await withdrawn();
  if (gone)
    co_return tl::unexpected{withdrawn_failure()};
  if (!it->done)
    co_return tl::unexpected{late_failure("looking up " + host)};
  if (it->ec || it->found.empty())
    co_return tl::unexpected{io_failure{io_failure::stage::resolve, false,
                                        host + ": " + (it->ec ? it->ec.message() : std::string{"no address"}),
                                        it->ec == asio::error::host_not_found_try_again}};
  co_return std::move(it->found);
}

/// A socket that a timer may close, whoever of the two goes first.
struct attempt {
  attempt(const asio::any_io_executor& lane, deadline until) : socket(lane), bell(lane, until.at()) {
  }
  tcp::socket socket;
  asio::steady_timer bell;
  bool late = false;
};

asio::awaitable<io_result<tcp::socket>> connect(std::string host, std::uint16_t port, deadline until) {
  const auto what = bracketed(host) + ":" + std::to_string(port);
  auto gone = co_await withdrawn();
  if (gone)
    co_return tl::unexpected{withdrawn_failure()};
  auto all = co_await addresses(host, port, until);
  if (!all)
    co_return tl::unexpected{std::move(all.error())};
  auto lane = co_await asio::this_coro::executor;
  auto last = io_failure{io_failure::stage::connect, false, what};
  for (const auto& to : *all) {
    if (std::chrono::steady_clock::now() >= until.at())
      co_return tl::unexpected{late_failure("connecting to " + what)};
    auto it = std::make_shared<attempt>(lane, until);
    it->bell.async_wait([weak = std::weak_ptr{it}](error_code ec) {
      auto me = weak.lock();
      if (ec || !me)
        return;
      me->late = true;
      auto ignored = error_code{};
      me->socket.close(ignored);
    });
    auto [ec] = co_await it->socket.async_connect(to, quietly);
    it->bell.cancel();
    gone = co_await withdrawn();
    if (gone)
      co_return tl::unexpected{withdrawn_failure()};
    if (it->late)
      co_return tl::unexpected{late_failure("connecting to " + what)};
    if (!ec)
      co_return std::move(it->socket);
    last.text = what + ": " + ec.message();
  }
  co_return tl::unexpected{std::move(last)};
}

} // namespace

asio::awaitable<io_result<tcp::socket>> dial(std::string host, std::uint16_t port, deadline until) {
  return unthrown(connect(std::move(host), port, until));
}

} // namespace paddock
