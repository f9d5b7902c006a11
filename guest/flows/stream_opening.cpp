#include "guest/flows/stream_opening.hpp"

#include "guest/flows/bounded_call.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

struct opening {
  transport_options transport;
  stream_options streams;
  endpoint where;
  std::string frame;
  asked_stream asked;
  std::shared_ptr<trace> seen;
};

tl::unexpected<failure> gone(std::string text) {
  return tl::unexpected{failure{lost{std::move(text)}}};
}

asio::awaitable<result<stream_holder>> opened(flow_time& time, opening it, deadline until) {
  auto dialed = co_await host_connection::open(time, it.transport, it.where, until, it.seen);
  if (!dialed)
    co_return tl::unexpected{std::move(dialed.error())};
  auto on = std::move(*dialed);
  const auto idle = it.streams.read_idle;
  const auto sent = co_await on->write(time, std::move(it.frame), time.now() + idle);
  auto events = stream_events{std::move(it.asked)};
  // A guest that refuses need not have read all of the request, so a failed write does not mean that there is no answer.
  while (true) {
    auto step = on->frames().next(it.transport.event_ceiling);
    if (auto* bad = std::get_if<frame_reader::malformed>(&step))
      co_return tl::unexpected{failure{protocol_failure{to_string(bad->why)}}};
    if (auto* large = std::get_if<frame_reader::too_large>(&step))
      co_return tl::unexpected{failure{protocol_failure{"a frame of " + std::to_string(large->announced) + " bytes"}}};
    if (auto* whole = std::get_if<frame_reader::frame>(&step)) {
      auto event = events.take(whole->payload);
      if (auto* fault = std::get_if<stream_events::broken>(&event))
        co_return tl::unexpected{std::move(fault->why)};
      if (auto* ready = std::get_if<stream_events::opened>(&event)) {
        if (it.transport.observer)
          it.transport.observer->answered(it.where, ready->boot);
        auto lane = co_await asio::this_coro::executor;
        auto stream = stream_holder{std::make_shared<stream_connection>(time, lane, std::move(on), std::move(events), std::move(*ready),
                                                                        it.transport.event_ceiling, it.streams.waiting_bytes)};
        stream->start();
        co_return stream;
      }
      continue;
    }
    const auto got = co_await on->read(time, time.now() + idle);
    if (got.n != 0)
      continue;
    if (got.ec == asio::error::timed_out)
      co_return gone("idle timeout: the stream was not ready after " + std::to_string(idle.count()) + "ms of silence");
    if (got.ec == asio::error::eof)
      co_return gone("socket closed before the stream was ready");
    co_return gone((sent.ec ? sent.ec : got.ec).message() + " before the stream was ready");
  }
}

} // namespace

asio::awaitable<result<stream_holder>> open_stream(flow_time& time, transport_options transport, stream_options streams, endpoint where,
                                                   std::string frame, asked_stream asked, deadline until) {
  auto seen = std::make_shared<trace>();
  asked.waiting_bytes = streams.waiting_bytes;
  auto it = opening{std::move(transport), streams, where, std::move(frame), std::move(asked), seen};
  return bounded_call<stream_holder>(time, std::move(where), seen, opened(time, std::move(it), until), until);
}

} // namespace paddock::guest
