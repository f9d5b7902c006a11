#include "guest/flows/controller.hpp"

#include "guest/flows/bounded_call.hpp"
#include "guest/flows/confirmed_cancel.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace paddock::guest {

namespace asio = boost::asio;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

// What an Asio timer and the reference's both hold ([G] 16.5).
constexpr auto longest_timer = milliseconds{2'147'483'647};

tl::unexpected<failure> fail(failure x) {
  return tl::unexpected{std::move(x)};
}

/// The cancellation of [G] 20.2: whatever the guest answers but an acknowledgement, the attempt is repeated.
asio::awaitable<confirmation> reconciling_cancel(flow_time& time, transport_options with, endpoint where, std::string execution_id) {
  auto got = co_await confirmed_cancel(time, std::move(with), std::move(where), std::move(execution_id), judge_reconciling_cancel);
  if (got)
    co_return std::move(*got);
  const auto* why = std::get_if<cancellation_unknown>(&got.error());
  co_return tl::unexpected{unconfirmed{why != nullptr ? why->text : to_string(got.error())}};
}

class execution_run {
public:
  execution_run(flow_time& time, transport_options with, execution_plan plan, deadline until, time_source::clock::time_point began,
                asio::any_io_executor lane) :
    time_(time), with_(std::move(with)), plan_(std::move(plan)), until_(until), began_(began), kin_(time, lane) {
  }

  asio::awaitable<result<execution>> run() {
    auto end = co_await reserve_and_execute();
    co_await kin_.close();
    if (plan_.spent)
      note_times();
    if (end)
      co_return execution{std::move(*end), boot_};
    if (auto* unknown = std::get_if<cancellation_unknown>(&end.error())) {
      unknown->boot = boot_;
      if (!plan_.where.token.empty())
        unknown->pod = pod_uid{plan_.where.token.reveal()};
    }
    co_return tl::unexpected{std::move(end.error())};
  }

private:
  [[nodiscard]] milliseconds took() const {
    return duration_cast<milliseconds>(time_.now() - began_);
  }

  [[nodiscard]] milliseconds since(time_source::clock::time_point from) const {
    return duration_cast<milliseconds>(time_.now() - from);
  }
  void note_times() {
    for (const auto& x : dials_)
      plan_.spent->dial += x->dial;
    if (executing_)
      plan_.spent->execute += executed_ ? *executed_ : since(*executing_);
  }

  asio::awaitable<result<command_end>> reserve_and_execute() {
    const auto began = time_.now();
    auto reserved = co_await reserve();
    if (plan_.spent)
      plan_.spent->reserve += since(began);
    if (!reserved) {
      if (std::holds_alternative<withdrawn>(reserved.error()))
        co_return synthetic_end(took());
      co_return tl::unexpected{std::move(reserved.error())};
    }
    execution_id_ = std::move(reserved->execution_id);
    boot_ = std::move(reserved->boot);
    const bool gave_up = co_await was_withdrawn();
    if (gave_up || until_.passed(time_)) {
      begin_cancel(gave_up ? cancel_reason::caller : cancel_reason::out_of_time);
      auto got = co_await cancel_settled();
      co_return outcome_before_execute(got, took());
    }
    auto stream = std::make_shared<execute_stream>();
    stream->where = plan_.where;
    auto frame = execute_frame(plan_.where, execution_id_, plan_.what, plan_.form);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    stream->frame = std::move(*frame);
    stream->bytes = plan_.form.bytes;
    stream->output = plan_.output;
    stream->input = plan_.input;
    stream->kin = &kin_;
    co_return co_await observe(stream);
  }

  asio::awaitable<result<reservation>> reserve() {
    auto frame = reserve_frame(plan_.where);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    const auto bound = until_.no_later_than(time_.now() + with_.control);
    auto seen = std::make_shared<trace>();
    dials_.push_back(seen);
    auto asked = kin_.start(one_reply(time_, with_, plan_.where, std::move(*frame), control_ceiling, bound, seen));
    const auto why = co_await kin_.settle(asked, bound.at(), true);
    if (why == woke::withdrawn) {
      co_await kin_.close();
      co_return fail(withdrawn{});
    }
    if (why == woke::late) {
      auto text = with_.label + " execution reservation exceeded " + std::to_string(with_.control.count()) + "ms";
      if (!seen->connected)
        co_return fail(
          dial_failed{plan_.where.host, plan_.where.port, text + (seen->last.empty() ? "" : ", " + seen->last), seen->unresolved});
      co_return fail(lost{std::move(text)});
    }
    if (!asked->value)
      co_return fail(lost{asked->thrown().value_or("the reservation ended without an answer")});
    if (!*asked->value)
      co_return tl::unexpected{std::move(asked->value->error())};
    co_return read_reservation(**asked->value);
  }

  /// Waits for what comes first: the end of the stream, or the end of a cancellation.
  asio::awaitable<result<command_end>> observe(std::shared_ptr<execute_stream> stream) {
    const auto limit = plan_.what.limit && plan_.what.limit->count() > 0 ? *plan_.what.limit : with_.default_limit;
    const auto observed = deadline{time_, std::min(limit, longest_timer) + with_.observation_grace};
    const auto bound = until_.no_later_than(observed);
    const auto time_reason = observed.at() <= until_.at() ? cancel_reason::observation_timeout : cancel_reason::out_of_time;
    // Dialing may go on until the cancellation is settled, which may need to outlast the bound; the parent stops it then.
    executing_ = time_.now();
    dials_.push_back(stream->seen);
    auto running = kin_.start(run_stream(time_, with_, stream, bound));
    auto late = kin_.alarm(bound.at());
    while (true) {
      const bool gave_up = co_await was_withdrawn();
      if (running->over()) {
        executed_ = since(*executing_);
        co_return co_await stream_ended(running, gave_up);
      }
      if (cancelling_ && cancelling_->over()) {
        const auto got = cancel_answer();
        co_return co_await cancel_ended(running, got);
      }
      if (!cancelling_ && (gave_up || late->value))
        begin_cancel(gave_up ? cancel_reason::caller : time_reason);
      else
        co_await kin_.wait();
    }
  }

  using running_stream = std::shared_ptr<child<result<command_end>>>;

  static result<command_end> stream_answer(const running_stream& running) {
    if (running->value)
      return *running->value;
    return fail(lost{running->thrown().value_or("the execute stream was stopped")});
  }

  asio::awaitable<result<command_end>> stream_ended(running_stream running, bool gave_up) {
    auto ended = stream_answer(running);
    if (ended) {
      // The result is the truth whatever the cancellation says. Only whether time was the cause is for it to tell.
      auto got = std::optional<confirmation>{};
      const auto for_time = why_ == cancel_reason::observation_timeout || why_ == cancel_reason::out_of_time;
      if (cancelling_ && for_time) {
        auto settled = co_await cancel_settled();
        got.emplace(std::move(settled));
      }
      co_return outcome_of_result(std::move(*ended), why_, got);
    }
    begin_cancel(cancel_reason::reconcile);
    const auto got = co_await cancel_settled();
    co_return outcome_of_error(ended.error(), why_, gave_up, got, took());
  }

  asio::awaitable<result<command_end>> cancel_ended(running_stream running, confirmation got) {
    auto drained = std::optional<result<command_end>>{};
    if (worth_draining(got)) {
      const auto began = time_.now();
      const auto why = co_await kin_.settle(running, began + with_.drain, false);
      if (plan_.spent)
        plan_.spent->drain += since(began);
      if (why == woke::over)
        drained = stream_answer(running);
    }
    co_return outcome_of_cancel(why_, got, drained, took());
  }

  // -- the one cancellation ----------------------------------------------------

  void begin_cancel(cancel_reason why) {
    if (cancelling_)
      return;
    why_ = why;
    cancelling_ = kin_.start(reconciling_cancel(time_, with_, plan_.where, execution_id_));
  }
  [[nodiscard]] confirmation cancel_answer() const {
    if (cancelling_->value)
      return *cancelling_->value;
    return tl::unexpected{unconfirmed{cancelling_->thrown().value_or("the cancellation was stopped")}};
  }
  asio::awaitable<confirmation> cancel_settled() {
    while (!cancelling_->over())
      co_await kin_.wait();
    co_return cancel_answer();
  }

  flow_time& time_;
  transport_options with_;
  execution_plan plan_;
  deadline until_;
  time_source::clock::time_point began_;
  family kin_;
  std::string execution_id_;
  std::vector<std::shared_ptr<trace>> dials_;
  std::optional<time_source::clock::time_point> executing_; // since when
  std::optional<milliseconds> executed_;                    // how long
  std::optional<guest_boot_id> boot_;
  cancel_reason why_ = cancel_reason::caller;
  std::shared_ptr<child<confirmation>> cancelling_;
};

} // namespace

asio::awaitable<result<execution>> run_execution(flow_time& time, transport_options with, execution_plan plan, deadline until,
                                                 time_source::clock::time_point began) {
  auto lane = co_await asio::this_coro::executor;
  auto run = std::make_shared<execution_run>(time, std::move(with), std::move(plan), until, began, lane);
  co_return co_await run->run();
}

} // namespace paddock::guest
