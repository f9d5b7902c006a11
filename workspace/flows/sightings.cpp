#include "workspace/flows/sightings.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace paddock::workspace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

sightings::sightings(asio::any_io_executor lane) : bell_(std::move(lane), asio::steady_timer::time_point::max()) {
}

void sightings::put(k8s::sighting x) {
  const auto went = now_.object && (!x.object || x.object->uid() != now_.object->uid());
  alarm_ = alarm_ || went || (now_.live && !x.live);
  now_ = std::move(x);
  changed_ = true;
  bell_.cancel();
}

asio::awaitable<void> sightings::rung() {
  // Between this look and the wait nothing else runs on the lane, so no bell is missed.
  if (changed_)
    co_return;
  [[maybe_unused]] auto woken = co_await bell_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<std::optional<nlohmann::json>>
sightings::later_than(nlohmann::json seen, flow_time& time, time_source::clock::time_point behind, time_source::clock::time_point until) {
  alarm_ = false;
  changed_ = true; // what is shown already counts
  for (;;) {
    if (std::exchange(changed_, false) && now_.object) {
      auto shown = now_.object->open();
      if (k8s::may_stand_for_later_read(*shown, seen))
        co_return *shown;
    }
    const auto at = k8s::has_caught_up(now_, seen) ? until : behind;
    const auto state = co_await asio::this_coro::cancellation_state;
    if (alarm_ || time.now() >= at || state.cancelled() != asio::cancellation_type::none)
      co_return std::nullopt;
    auto either = rung() || time.sleep_until(at);
    co_await std::move(either);
  }
}

} // namespace paddock::workspace
