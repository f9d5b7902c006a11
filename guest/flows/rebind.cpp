#include "guest/flows/rebind.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <vector>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

/// One re-read, and who waits for it.
struct pod_handle::flight {
  std::optional<reread_answer> answer;
  std::vector<std::shared_ptr<asio::steady_timer>> bells;
};

struct pod_handle::state {
  state(flow_time& clock, asio::any_io_executor on, endpoint where, reread function, std::chrono::milliseconds limit) :
    time(clock), lane(std::move(on)), now(std::move(where)), how(std::move(function)), bound(limit) {
  }
  flow_time& time;
  asio::any_io_executor lane;
  endpoint now;
  reread how;
  std::chrono::milliseconds bound;
  std::uint64_t moves = 0;
  std::shared_ptr<flight> reading; // null: none is under way
  asio::cancellation_signal stop;
};

pod_handle::pod_handle(flow_time& time, asio::any_io_executor lane, endpoint now, reread how, std::chrono::milliseconds bound) :
  state_(std::make_shared<state>(time, std::move(lane), std::move(now), std::move(how), bound)) {
}

pod_handle::~pod_handle() {
  if (state_->reading)
    state_->stop.emit(asio::cancellation_type::terminal);
}

const endpoint& pod_handle::current() const {
  return state_->now;
}

std::uint64_t pod_handle::moves() const {
  return state_->moves;
}

namespace {

/// Boxed, because `||` takes a variant apart.
asio::awaitable<std::optional<reread_answer>> boxed(asio::awaitable<reread_answer> how) {
  auto got = co_await std::move(how);
  co_return std::optional{std::move(got)};
}

} // namespace

asio::awaitable<reread_answer> pod_handle::read(std::shared_ptr<state> of) {
  auto both = boxed(of->how()) || of->time.sleep_until(of->time.now() + of->bound);
  auto got = co_await std::move(both);
  if (auto* answer = std::get_if<0>(&got))
    co_return std::move(**answer);
  co_return reread_failed{"the pod was not read again within " + std::to_string(of->bound.count()) + "ms"};
}

void pod_handle::landed(const std::shared_ptr<state>& of, reread_answer got) {
  if (auto* found = std::get_if<endpoint>(&got)) {
    if (found->token == of->now.token) {
      got = reread_failed{"the pod is still the same"};
    } else {
      of->now = *found;
      ++of->moves;
    }
  }
  auto done = std::exchange(of->reading, nullptr);
  done->answer = std::move(got);
  for (const auto& bell : done->bells)
    bell->cancel();
}

asio::awaitable<reread_answer> pod_handle::moved(std::uint64_t since) {
  auto of = state_;
  if (of->moves != since)
    co_return of->now;
  if (!of->how)
    co_return reread_failed{"nobody can read the pod again"};
  auto mine = of->reading;
  if (!mine) {
    mine = std::make_shared<flight>();
    of->reading = mine;
    auto flow = read(of);
    asio::co_spawn(of->lane, std::move(flow),
                   asio::bind_cancellation_slot(of->stop.slot(), [of](const std::exception_ptr& thrown, reread_answer got) {
                     if (thrown)
                       got = reread_failed{"the pod could not be read again"};
                     landed(of, std::move(got));
                   }));
  }
  auto bell = std::make_shared<asio::steady_timer>(of->lane, asio::steady_timer::time_point::max());
  mine->bells.push_back(bell);
  while (!mine->answer) {
    const bool gone = co_await was_withdrawn();
    if (gone)
      co_return reread_failed{"the caller withdrew"};
    [[maybe_unused]] auto [ec] = co_await bell->async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return *mine->answer;
}

namespace {

asio::awaitable<rebound_end<execution>> execute_and_time(std::shared_ptr<pod_handle> to, host* guest, command what, output_sink* output,
                                                         input_source* input, deadline until,
                                                         std::function<void(const execution_timing&)> timed) {
  auto spent = std::make_shared<execution_timing>();
  auto watched = std::optional<watched_input>{};
  if (input != nullptr)
    watched.emplace(*input);
  auto* feed = watched ? &*watched : nullptr;
  auto op = [&](endpoint where) { return guest->execute_timed(std::move(where), what, *output, feed, until, spent); };
  auto running = rebound_quietly<execution>(std::move(to), op, feed);
  auto got = co_await std::move(running);
  if (timed)
    timed(*spent);
  co_return got;
}

} // namespace

asio::awaitable<rebound_end<execution>> rebound_execute(std::shared_ptr<pod_handle> to, host& guest, command what, output_sink& output,
                                                        input_source* input, deadline until,
                                                        std::function<void(const execution_timing&)> timed) {
  return unthrown(execute_and_time(std::move(to), &guest, std::move(what), &output, input, until, std::move(timed)));
}

} // namespace paddock::guest
