#include "guest/flows/confirmed_cancel.hpp"

#include "guest/flows/bounded_call.hpp"
#include "guest/flows/requests.hpp"
#include "guest/host_requests.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

asio::awaitable<cancel_verdict> cancel_once(flow_time& time, transport_options with, endpoint where, std::string execution_id,
                                            std::string frame, time_source::clock::time_point end, cancel_judge judge) {
  auto seen = std::make_shared<trace>();
  auto both = one_reply(time, with, where, std::move(frame), control_ceiling, deadline{end}, seen) || time.sleep_until(end);
  auto got = co_await std::move(both);
  auto* reply = std::get_if<0>(&got);
  if (reply == nullptr)
    co_return cancel_again{"no answer to the cancellation in time" + (seen->last.empty() ? "" : ", " + seen->last)};
  if (!*reply)
    co_return cancel_again{to_string(reply->error())};
  co_return judge(**reply, execution_id);
}

} // namespace

asio::awaitable<result<acknowledgement>> confirmed_cancel(flow_time& time, transport_options with, endpoint where, std::string execution_id,
                                                          cancel_judge judge) {
  const auto window = deadline{time, with.cancel_window};
  auto frame = cancel_frame(where, execution_id);
  if (!frame)
    co_return tl::unexpected{failure{cancellation_unknown{to_string(frame.error()), {}, {}}}};
  auto last = std::string{"no attempt was made"};
  while (!window.passed(time)) {
    const auto end = window.no_later_than(time.now() + with.control);
    auto got = co_await cancel_once(time, with, where, execution_id, *frame, end.at(), judge);
    if (auto* confirmed = std::get_if<acknowledgement>(&got))
      co_return std::move(*confirmed);
    if (auto* why = std::get_if<failure>(&got))
      co_return tl::unexpected{std::move(*why)};
    last = std::move(std::get<cancel_again>(got).text);
    const auto next = window.no_later_than(time.now() + with.cancel_pause);
    co_await time.sleep_until(next.at());
  }
  auto text = "no confirmation within " + std::to_string(with.cancel_window.count()) + "ms: " + last;
  co_return tl::unexpected{failure{cancellation_unknown{std::move(text), {}, {}}}};
}

} // namespace paddock::guest
