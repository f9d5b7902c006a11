#include "guest/flows/ready.hpp"

#include "base/flows/unthrown.hpp"
#include "guest/flows/family.hpp"

#include <boost/asio/this_coro.hpp>

namespace paddock::guest {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr auto longest_probe = milliseconds{15'000};

asio::awaitable<result<health>> polled(flow_time& time, host& guest, endpoint where, milliseconds timeout, milliseconds interval) {
  const auto until = deadline{time, timeout};
  auto lane = co_await asio::this_coro::executor;
  auto kin = std::make_shared<family>(time, lane);
  auto last = std::string{"it was not asked"};
  while (true) {
    auto seen = co_await guest.look(where, until.no_later_than(time.now() + longest_probe));
    const bool gone = co_await was_withdrawn();
    if (gone)
      co_return tl::unexpected{failure{withdrawn{}}};
    if (seen && seen->ok)
      co_return std::move(*seen);
    if (!seen && std::holds_alternative<protocol_failure>(seen.error()))
      co_return tl::unexpected{std::move(seen.error())};
    last = seen ? std::string{seen->retiring ? "the guest is retiring" : "the guest is not ready"} : to_string(seen.error());
    const auto next = time.now() + interval;
    if (next >= until.at())
      break;
    auto pause = kin->alarm(next);
    const auto why = co_await kin->settle(pause, until.at(), true);
    co_await kin->close();
    if (why == woke::withdrawn)
      co_return tl::unexpected{failure{withdrawn{}}};
  }
  auto text = "the guest was not ready within " + std::to_string(timeout.count()) + "ms: " + last;
  co_return tl::unexpected{failure{lost{std::move(text)}}};
}

} // namespace

asio::awaitable<result<health>> wait_for_ready(flow_time& time, host& guest, endpoint where, milliseconds timeout, milliseconds interval) {
  return unthrown(polled(time, guest, std::move(where), timeout, interval));
}

} // namespace paddock::guest
