#include "guest/flows/family.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

asio::awaitable<bool> sleep(flow_time& time, time_source::clock::time_point at) {
  co_await time.sleep_until(at);
  co_return true;
}

std::optional<std::string> text_of(const std::exception_ptr& thrown) {
  if (!thrown)
    return std::nullopt;
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& x) {
    if (x.code() == asio::error::operation_aborted)
      return std::nullopt;
    return std::string{x.what()};
  } catch (const std::exception& x) {
    return std::string{x.what()};
  }
}

} // namespace

asio::awaitable<bool> was_withdrawn() {
  const auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

family::family(flow_time& time, const asio::any_io_executor& lane) : time_(time), lane_(lane), bell_(std::make_shared<bell>(lane)) {
}

void family::spawn(std::shared_ptr<child_base> it, asio::awaitable<void> flow) {
  std::erase_if(live_, [](const auto& x) { return x->over(); });
  live_.push_back(it);
  auto slot = it->stop_.slot();
  asio::co_spawn(lane_, std::move(flow),
                 asio::bind_cancellation_slot(slot, [it = std::move(it), rung = bell_](const std::exception_ptr& thrown) {
                   it->thrown_ = text_of(thrown);
                   it->over_ = true;
                   rung->timer.cancel();
                 }));
}

std::shared_ptr<child<bool>> family::alarm(time_source::clock::time_point at) {
  return start(sleep(time_, at));
}

asio::awaitable<void> family::wait() {
  [[maybe_unused]] auto [ec] = co_await bell_->timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<woke> family::settle(std::shared_ptr<child_base> which, time_source::clock::time_point at, bool heed) {
  auto late = alarm(at);
  auto why = std::optional<woke>{};
  while (!why) {
    const bool withdrawn = co_await was_withdrawn();
    if (which->over())
      why = woke::over;
    else if (heed && withdrawn)
      why = woke::withdrawn;
    else if (late->value)
      why = woke::late;
    else
      co_await wait();
  }
  late->stop();
  co_return *why;
}

asio::awaitable<void> family::close() {
  for (const auto& x : live_)
    x->stop();
  while (std::ranges::any_of(live_, [](const auto& x) { return !x->over(); }))
    co_await wait();
  live_.clear();
}

} // namespace paddock::guest
