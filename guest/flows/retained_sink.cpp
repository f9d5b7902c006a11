#include "guest/flows/retained_sink.hpp"

#include "guest/envelope.hpp"
#include "guest/host_outcome.hpp"

namespace paddock::guest {

namespace asio = boost::asio;

result<void> retained_sink::wrong(std::string text) const {
  return tl::unexpected{failure{protocol_failure{std::move(text)}}};
}

asio::awaitable<result<void>> retained_sink::take(std::string payload) {
  const auto event = parse_payload(payload);
  payload = {};
  if (!event)
    co_return wrong("an event is not JSON");
  if (complete())
    co_return wrong("an event after the end");
  const auto attaching = which_ == kind::attach;
  auto got = attaching ? read_attach_event(*event, of_->execution_id, of_->bytes) : read_retained_event(*event, of_->bytes);
  if (!got)
    co_return tl::unexpected{std::move(got.error())};
  const auto* start = std::get_if<attached_event>(&*got);
  if (attaching == attached_ && start != nullptr)
    co_return wrong("`attached` where it may not come");
  if (start != nullptr) {
    if (!attaching)
      co_return wrong("`attached` in an execute stream");
    attached_ = true;
    at_work_ = paddock::guest::at_work(start->state);
    const auto gap = of_->cursor.attached(start->from_offset, start->dropped_bytes);
    if (gap)
      co_await of_->output->gap(gap->from_offset, gap->dropped_bytes);
    co_return result<void>{};
  }
  if (attaching && !attached_)
    co_return wrong("an attach that does not begin with `attached`");
  if (auto* output = std::get_if<retained_delta>(&*got)) {
    if (output->next_offset < of_->cursor.offset())
      co_return wrong("output that goes back in the log");
    if (!output->bytes.empty())
      co_await of_->output->take(output->which, std::move(output->bytes), output->next_offset);
    of_->cursor.taken(output->next_offset);
    co_return result<void>{};
  }
  if (auto* end = std::get_if<command_end>(&*got)) {
    if (attaching)
      co_return wrong("`result` in an attach stream");
    end_ = std::move(*end);
    co_return result<void>{};
  }
  if (!attaching)
    co_return wrong("`attach_result` in an execute stream");
  auto& last = std::get<attach_result_event>(*got);
  if (last.next_offset < of_->cursor.offset())
    co_return wrong("an end that goes back in the log");
  attach_end_ = std::move(last);
  of_->cursor.taken(attach_end_->next_offset);
  co_return result<void>{};
}

result<attached_end> retained_sink::end() const {
  auto x = attached_end{};
  x.execution_id = of_->execution_id;
  x.dropped_bytes = of_->cursor.dropped_bytes();
  x.next_offset = of_->cursor.offset();
  x.boot = of_->boot;
  if (end_) {
    // The stream of an execute tells the end and not the outcome; who cancelled it knows better.
    x.outcome = "completed";
    x.end = of_->cursor.marked(*end_);
    return x;
  }
  x.outcome = attach_end_->outcome;
  x.started = attach_end_->started;
  if (attach_end_->end) {
    x.end = of_->cursor.marked(*attach_end_->end);
    x.end.lossy = !of_->bytes;
    return x;
  }
  if (x.outcome == "failed")
    return tl::unexpected{failure{command_failed{attach_end_->error.value_or("the guest did not say why")}}};
  if (x.outcome == "completed")
    return tl::unexpected{failure{protocol_failure{"a command that completed, without its result"}}};
  x.end = of_->cursor.marked(synthetic_end(std::chrono::milliseconds{0}));
  return x;
}

} // namespace paddock::guest
