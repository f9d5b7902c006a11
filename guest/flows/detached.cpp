#include "guest/flows/detached.hpp"

#include "guest/envelope.hpp"
#include "guest/flows/attach.hpp"
#include "guest/flows/bounded_call.hpp"
#include "guest/flows/confirmed_cancel.hpp"
#include "guest/flows/family.hpp"
#include "guest/host_outcome.hpp"
#include "guest/host_work_requests.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace paddock::guest {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

// What an Asio timer and the reference's both hold ([G] 16.5).
constexpr auto longest_timer = milliseconds{2'147'483'647};

/// Hears only whether an attach is let in, and leaves.
class start_probe final : public event_sink {
public:
  asio::awaitable<result<void>> take(std::string payload) override {
    const auto event = parse_payload(payload);
    const auto got = event ? read_retained_event(*event, false) : tl::unexpected{failure{protocol_failure{"an event is not JSON"}}};
    if (const auto* start = got ? std::get_if<attached_event>(&*got) : nullptr)
      started = at_work(start->state);
    co_return tl::unexpected{failure{lost{"the probe has its answer"}}};
  }
  [[nodiscard]] bool complete() const override {
    return false;
  }
  bool started = false;
};

/// Attaches and leaves until the command has started. An attempt that fails is no answer.
asio::awaitable<bool> until_started(flow_time& time, transport_options with, endpoint where, std::string execution_id) {
  auto probe = start_probe{};
  while (!probe.started) {
    auto from_the_start = observation{};
    from_the_start.execution_id = execution_id;
    auto stream = attach_stream(where, from_the_start);
    if (!stream)
      co_return false;
    stream->idle = with.control;
    const auto bound = deadline{time, with.control};
    [[maybe_unused]] const auto got = co_await run_framed_stream(time, with, std::move(*stream), probe, bound);
    if (!probe.started)
      co_await time.sleep_until(time.now() + with.cancel_pause);
  }
  co_return true;
}

class detached_flow {
public:
  detached_flow(flow_time& time, transport_options with, work_options work, detached_plan plan, deadline until,
                const asio::any_io_executor& lane) :
    time_(time), with_(std::move(with)), work_(work), plan_(std::move(plan)), of_(*plan_.of), until_(until), kin_(time, lane) {
  }

  asio::awaitable<result<attached_end>> run() {
    auto got = co_await observe();
    co_await kin_.close();
    co_return got;
  }

private:
  using answer = std::optional<result<attached_end>>; // absent: it goes on
  using cancelling = std::shared_ptr<child<result<acknowledgement>>>;

  asio::awaitable<result<attached_end>> observe() {
    auto reserved = co_await reserve();
    if (!reserved) {
      if (std::holds_alternative<withdrawn>(reserved.error()))
        co_return never_started(of_, std::nullopt);
      co_return tl::unexpected{std::move(reserved.error())};
    }
    of_.boot = reserved->boot;
    enough_ = kin_.start(until_enough(of_.output));
    bound_ = kin_.alarm(bound().at());
    auto starts = reserved->state == "reserved";
    const bool gone = co_await was_withdrawn();
    if (gone && starts) {
      // Nothing is started for a caller who has left; somebody else may have.
      begin_cancel();
      auto settled = co_await cancel_settled();
      if (settled)
        co_return std::move(*settled);
      starts = false;
    }
    if (plan_.leave && !starts && !confirmed_ && at_work(reserved->state))
      co_return tl::unexpected{left_running("left running, as it was asked")};
    // Of one that has ended the end is the answer; one that somebody else is starting may yet end without having started.
    if (plan_.leave && !starts && reserved->state != "terminal")
      begin_probe();
    if (starts) {
      auto got = co_await execute();
      if (got)
        co_return std::move(*got);
    }
    co_return co_await attach_again();
  }

  [[nodiscard]] deadline bound() const {
    const auto& limit = plan_.what.limit;
    const auto run = limit && limit->count() > 0 ? *limit : with_.default_limit;
    return until_.no_later_than(time_.now() + std::min(run, longest_timer) + work_.observation_grace);
  }

  asio::awaitable<result<named_reservation>> reserve() {
    auto frame = reserve_named_frame(plan_.where, of_.execution_id);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    const auto until = until_.no_later_than(time_.now() + with_.control);
    auto reply = co_await ask(time_, with_, plan_.where, std::move(*frame), control_ceiling, until);
    if (reply)
      co_return read_named_reservation(*reply, of_.execution_id);
    // A reservation that nobody executes ends by itself.
    const bool gone = co_await was_withdrawn();
    if (gone)
      co_return tl::unexpected{failure{withdrawn{}}};
    co_return tl::unexpected{std::move(reply.error())};
  }

  // -- the two kinds of stream -------------------------------------------------

  asio::awaitable<answer> execute() {
    auto form = execution_form{};
    form.bytes = of_.bytes;
    form.retain = true;
    auto frame = execute_frame(plan_.where, of_.execution_id, plan_.what, form);
    if (!frame)
      co_return answer{tl::unexpected{std::move(frame.error())}};
    auto stream = framed_stream{};
    stream.where = plan_.where;
    stream.frame = std::move(*frame);
    stream.name = "exec stream";
    stream.last = "a result event";
    auto sink = std::make_shared<retained_sink>(plan_.of, retained_sink::kind::execute);
    if (plan_.leave)
      begin_probe();
    auto running = kin_.start(run_framed_stream(time_, with_, std::move(stream), *sink, bound()));
    auto ended = co_await attend(running, std::nullopt, sink);
    if (ended)
      co_return ended;
    auto failed = std::optional<failure>{};
    auto got = stream_end(running, *sink, failed);
    if (!failed)
      co_return co_await with_outcome(std::move(got));
    if (worth_attaching_again(*failed) || lost_start_race(*failed)) {
      last_ = to_string(*failed);
      co_return answer{};
    }
    co_return co_await unless_cancelled(std::move(*failed));
  }

  void begin_probe() {
    started_ = kin_.start(until_started(time_, with_, plan_.where, of_.execution_id));
  }

  asio::awaitable<result<attached_end>> attach_again() {
    auto window = time_.now() + work_.reattach_window;
    while (true) {
      auto stream = attach_stream(plan_.where, of_);
      if (!stream)
        co_return tl::unexpected{std::move(stream.error())};
      auto sink = std::make_shared<retained_sink>(plan_.of, retained_sink::kind::attach);
      auto running = kin_.start(run_framed_stream(time_, with_, std::move(*stream), *sink, deadline{window}));
      auto ended = co_await attend(running, window, sink);
      if (ended)
        co_return std::move(*ended);
      auto failed = std::optional<failure>{};
      auto got = stream_end(running, *sink, failed);
      if (!failed)
        co_return co_await with_outcome(std::move(got));
      if (!worth_attaching_again(*failed)) {
        auto end = co_await unless_cancelled(detached_because(*failed));
        co_return std::move(*end);
      }
      last_ = to_string(*failed);
      if (sink->attached())
        window = time_.now() + work_.reattach_window;
      ended = co_await attend(kin_.alarm(time_.now() + work_.reattach_pause), window, nullptr);
      if (ended)
        co_return std::move(*ended);
    }
  }

  /// The guest has shown it at work, and nothing was done to it.
  [[nodiscard]] bool seen_running(const std::shared_ptr<retained_sink>& sink) const {
    return !cancelling_ && ((sink && sink->at_work()) || of_.cursor.offset() > 0);
  }

  [[nodiscard]] failure left_running(std::string text) const {
    return execution_detached{of_.execution_id, of_.cursor.offset(), std::move(text), true};
  }

  [[nodiscard]] failure detached_because(const failure& why) const {
    const auto* refusal = std::get_if<not_attachable>(&why);
    if (refusal != nullptr && refusal->state == "reserved")
      return detached_at(of_, "the command never started: " + to_string(why));
    return detached_at(of_, to_string(why));
  }

  /// How a stream that is over ended; `failed` when not with the end of the execution.
  static result<attached_end> stream_end(const std::shared_ptr<child<result<void>>>& running, const retained_sink& sink,
                                         std::optional<failure>& failed) {
    if (!running->value)
      failed = running->thrown() ? failure{protocol_failure{"the output was not taken: " + *running->thrown()}}
                                 : failure{lost{"the stream was stopped"}};
    else if (!*running->value)
      failed = running->value->error();
    if (failed)
      return tl::unexpected{*failed};
    return sink.end();
  }

  // -- what may end it from outside --------------------------------------------

  /// Waits until `which` is over, and then answers nothing; or until there is a reason to end the run, and answers it.
  /// `window` bounds getting back, and no longer counts once `sink` is attached.
  asio::awaitable<answer> attend(std::shared_ptr<child_base> which, std::optional<time_source::clock::time_point> window,
                                 std::shared_ptr<retained_sink> sink) {
    auto closing = window ? kin_.alarm(*window) : nullptr;
    auto got = answer{};
    auto told = std::optional<std::string>{};
    while (!got && !told && !which->over()) {
      const bool gone = co_await was_withdrawn();
      if (cancelling_ && cancelling_->over() && !confirmed_)
        got = settle_cancel();
      else if (enough_->value && seen_running(sink))
        got = answer{tl::unexpected{left_running("the caller has seen enough")}};
      else if (enough_->value)
        told = "the caller has seen enough";
      else if (!cancelling_ && started_ && started_->value && *started_->value)
        got = answer{tl::unexpected{left_running("left running, as it was asked")}};
      else if (bound_->value)
        told = "the time was up" + after_last();
      else if (closing && closing->value && (!sink || !sink->attached()))
        told = "the guest was not reached within " + std::to_string(work_.reattach_window.count()) + "ms" + after_last();
      else if (gone && !cancelling_)
        begin_cancel();
      else
        co_await kin_.wait();
    }
    if (told) {
      if (confirmed_)
        *told += "; the cancellation was confirmed: " + std::string{to_string(confirmed_->state)};
      got = tl::unexpected{detached_at(of_, std::move(*told))};
    }
    if (closing)
      closing->stop();
    if (got && !which->over()) {
      which->stop();
      // The output is not handed on any more once the run has answered.
      while (!which->over())
        co_await kin_.wait();
    }
    co_return got;
  }

  [[nodiscard]] std::string after_last() const {
    return last_.empty() ? "" : ", " + last_;
  }

  // -- the one cancellation ----------------------------------------------------

  void begin_cancel() {
    cancelling_ = kin_.start(confirmed_cancel(time_, with_, plan_.where, of_.execution_id, judge_plain_cancel));
  }

  /// What the cancellation says once it is over: nothing when the execution was started and its end is still to come.
  answer settle_cancel() {
    if (!cancelling_->value)
      return answer{tl::unexpected{detached_at(of_, cancelling_->thrown().value_or("the cancellation was stopped"))}};
    auto& got = *cancelling_->value;
    if (!got)
      return answer{tl::unexpected{detached_at(of_, to_string(got.error()))}};
    confirmed_ = *got;
    if (!confirmed_->started)
      return answer{never_started(of_, confirmed_->end)};
    // The end has come: its output is waited for as long as it takes to get back.
    bound_->stop();
    bound_ = kin_.alarm(until_.no_later_than(time_.now() + work_.reattach_window).at());
    return {};
  }

  asio::awaitable<answer> cancel_settled() {
    while (!cancelling_->over())
      co_await kin_.wait();
    co_return confirmed_ ? answer{} : settle_cancel();
  }

  /// `why`, or what the cancellation that is under way says of a command that never started.
  asio::awaitable<answer> unless_cancelled(failure why) {
    if (cancelling_) {
      auto settled = co_await cancel_settled();
      if (settled && *settled)
        co_return settled;
    }
    co_return answer{tl::unexpected{std::move(why)}};
  }

  /// The end with the outcome that a confirmed cancellation has told.
  asio::awaitable<result<attached_end>> with_outcome(result<attached_end> got) {
    if (got && cancelling_) {
      [[maybe_unused]] const auto settled = co_await cancel_settled();
      if (confirmed_)
        got->outcome = std::string{to_string(confirmed_->state)};
    }
    co_return got;
  }

  flow_time& time_;
  transport_options with_;
  work_options work_;
  detached_plan plan_;
  observation& of_;
  deadline until_;
  family kin_;
  std::shared_ptr<child<bool>> enough_;
  std::shared_ptr<child<bool>> bound_;
  std::shared_ptr<child<bool>> started_; // asks whether it has, for a run that leaves then
  cancelling cancelling_;
  std::optional<acknowledgement> confirmed_;
  std::string last_; // the last failure that was no end
};

} // namespace

attached_end never_started(const observation& of, std::optional<command_end> end) {
  auto x = attached_end{};
  x.execution_id = of.execution_id;
  x.outcome = "cancelled";
  x.started = false;
  x.end = end ? std::move(*end) : synthetic_end(milliseconds{0});
  x.next_offset = of.cursor.offset();
  x.boot = of.boot;
  return x;
}

asio::awaitable<result<attached_end>> run_detached(flow_time& time, transport_options with, work_options work, detached_plan plan,
                                                   deadline until) {
  auto lane = co_await asio::this_coro::executor;
  auto run = std::make_shared<detached_flow>(time, std::move(with), work, std::move(plan), until, lane);
  co_return co_await run->run();
}

} // namespace paddock::guest
