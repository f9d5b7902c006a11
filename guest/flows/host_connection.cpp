#include "guest/flows/host_connection.hpp"

#include "base/flows/dial.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <netinet/tcp.h>

namespace paddock::guest {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t chunk_size = 128 * 1024;
constexpr int keepalive_seconds = 15;

using step = std::tuple<boost::system::error_code, std::size_t>;

asio::awaitable<void> dial_into(std::shared_ptr<std::optional<io_result<tcp::socket>>> to, connector with, std::string host,
                                std::uint16_t port) {
  // The bound is the caller's, in its own time.
  const auto never = deadline{time_source::clock::time_point::max()};
  auto dialing = with ? with(std::move(host), port, never) : dial(std::move(host), port, never);
  auto got = co_await std::move(dialing);
  to->emplace(std::move(got));
}

asio::awaitable<host_connection::moved> bounded(flow_time& time, asio::awaitable<step> work,
                                                std::optional<time_source::clock::time_point> at) {
  if (!at) {
    auto [ec, n] = co_await std::move(work);
    co_return host_connection::moved{ec, n};
  }
  auto both = std::move(work) || time.sleep_until(*at);
  auto got = co_await std::move(both);
  if (auto* done = std::get_if<0>(&got))
    co_return host_connection::moved{std::get<0>(*done), std::get<1>(*done)};
  co_return host_connection::moved{asio::error::timed_out, 0};
}

} // namespace

host_connection::host_connection(tcp::socket socket) : socket_(std::move(socket)) {
  auto ignored = boost::system::error_code{};
  socket_.set_option(asio::socket_base::keep_alive{true}, ignored);
  socket_.set_option(asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>{keepalive_seconds}, ignored);
  socket_.set_option(tcp::no_delay{true}, ignored);
}

asio::awaitable<result<std::shared_ptr<host_connection>>> host_connection::open(flow_time& time, transport_options with, endpoint where,
                                                                                deadline until, std::shared_ptr<trace> seen) {
  const auto began = time.now();
  const auto budget = deadline{time, with.retry_budget}.no_later_than(until);
  while (true) {
    auto got = std::make_shared<std::optional<io_result<tcp::socket>>>();
    const auto attempt = deadline{time, with.connect_timeout}.no_later_than(until);
    if (with.observer)
      with.observer->dialing(where);
    auto both = dial_into(got, with.connect, where.host, where.port) || time.sleep_until(attempt.at());
    co_await std::move(both);
    if (*got && **got) {
      seen->connected = true;
      seen->unresolved = false;
      seen->dial = std::chrono::duration_cast<std::chrono::milliseconds>(time.now() - began);
      if (with.observer)
        with.observer->dialed(where, seen->dial);
      co_return std::make_shared<host_connection>(std::move(***got));
    }
    seen->unresolved = *got && (**got).error().at == io_failure::stage::resolve;
    const auto permanent = seen->unresolved && !(**got).error().temporary;
    // An attempt that the alarm ended reports that it was cancelled, which nobody asked for.
    const auto timed_out = !*got || (**got).error().at == io_failure::stage::cancelled;
    seen->last = timed_out ? std::string{"the connect timed out"} : (**got).error().text;
    if (permanent)
      co_return tl::unexpected{failure{dial_failed{where.host, where.port, seen->last, true}}};
    const auto next = time.now() + with.retry_interval;
    if (next >= budget.at())
      co_return tl::unexpected{failure{dial_failed{where.host, where.port, seen->last + "; the retry budget is spent", seen->unresolved}}};
    co_await time.sleep_until(next);
  }
}

asio::awaitable<host_connection::moved> host_connection::read(flow_time& time, std::optional<time_source::clock::time_point> at) {
  if (chunk_.empty())
    chunk_.resize(chunk_size);
  auto got = co_await bounded(time, socket_.async_read_some(asio::buffer(chunk_), quietly), at);
  frames_.push(std::string_view{chunk_}.substr(0, got.n));
  co_return got;
}

asio::awaitable<host_connection::moved> host_connection::write(flow_time& time, std::string bytes,
                                                               std::optional<time_source::clock::time_point> at) {
  auto got = co_await bounded(time, asio::async_write(socket_, asio::buffer(bytes), quietly), at);
  co_return got;
}

asio::awaitable<std::optional<std::string>> host_connection::expect_close(flow_time& time, time_source::clock::time_point at) {
  const auto got = co_await read(time, at);
  if (got.n != 0)
    co_return std::string{"the guest sent data after its response"};
  if (got.ec == asio::error::timed_out)
    co_return std::string{"the guest did not close after its response"};
  co_return std::nullopt;
}

std::size_t host_connection::arrived() const {
  auto ec = boost::system::error_code{};
  const auto n = socket_.available(ec);
  return ec ? 0 : n;
}

void host_connection::close() noexcept {
  auto ignored = boost::system::error_code{};
  socket_.close(ignored);
}

std::string to_string(frame_reader::malformed::fault why) {
  switch (why) {
    case frame_reader::malformed::fault::early_newline: return "malformed header";
    case frame_reader::malformed::fault::not_hex: return "invalid length header";
    case frame_reader::malformed::fault::no_newline: return "malformed header: no newline after the length";
  }
  return "malformed header";
}

} // namespace paddock::guest
