#include "guest/flows/attach.hpp"

#include "guest/flows/family.hpp"
#include "guest/host_work_requests.hpp"

#include <boost/asio/this_coro.hpp>

namespace paddock::guest {

namespace asio = boost::asio;

result<framed_stream> attach_stream(const endpoint& where, const observation& of) {
  auto frame = attach_frame(where, of.execution_id, of.cursor.offset(), of.bytes);
  if (!frame)
    return tl::unexpected{std::move(frame.error())};
  auto x = framed_stream{};
  x.where = where;
  x.frame = std::move(*frame);
  x.name = "attach stream";
  x.last = "an `attach_result`";
  return x;
}

asio::awaitable<bool> until_enough(log_sink* of) {
  co_await of->enough();
  co_return true;
}

failure detached_at(const observation& of, std::string text) {
  return execution_detached{of.execution_id, of.cursor.offset(), std::move(text), false};
}

asio::awaitable<result<attached_end>> run_attach(flow_time& time, transport_options with, endpoint where, std::shared_ptr<observation> of,
                                                 deadline until) {
  const bool gone = co_await was_withdrawn();
  if (gone)
    co_return tl::unexpected{detached_at(*of, "the caller had withdrawn before anything was sent")};
  auto stream = attach_stream(where, *of);
  if (!stream)
    co_return tl::unexpected{std::move(stream.error())};
  auto seen = stream->seen;
  auto sink = std::make_shared<retained_sink>(of, retained_sink::kind::attach);
  auto lane = co_await asio::this_coro::executor;
  auto kin = std::make_shared<family>(time, lane);
  auto enough = kin->start(until_enough(of->output));
  auto late = kin->alarm(until.at());
  auto running = kin->start(run_framed_stream(time, with, std::move(*stream), *sink, until));
  auto why = std::optional<std::string>{};
  while (!why && !running->over()) {
    const bool left = co_await was_withdrawn();
    if (left)
      why = "the caller withdrew";
    else if (enough->value)
      why = "the caller has seen enough";
    else if (late->value)
      why = "the time was up" + (seen->connected || seen->last.empty() ? "" : ", " + seen->last);
    else
      co_await kin->wait();
  }
  const auto ended = running->over();
  co_await kin->close();
  if (!ended)
    co_return tl::unexpected{detached_at(*of, *why)};
  if (!running->value)
    co_return tl::unexpected{detached_at(*of, running->thrown().value_or("the attach was stopped"))};
  if (*running->value)
    co_return sink->end();
  auto& problem = running->value->error();
  if (sink->attached() && std::holds_alternative<lost>(problem))
    co_return tl::unexpected{detached_at(*of, to_string(problem))};
  co_return tl::unexpected{std::move(problem)};
}

} // namespace paddock::guest
