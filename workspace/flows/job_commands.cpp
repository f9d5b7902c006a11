// Commands: run under the call, detached from it, or attached to.

#include "workspace/flows/guest_jobs.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

/// What the asker is told of a command that answered `got`.
result<job_end> judge(const call_state& call, guest::result<guest::execution> got) {
  if (!got && std::holds_alternative<guest::cancellation_unknown>(got.error()))
    return fail(std::move(got.error()));
  if (call.broken)
    return fail(*call.broken);
  if (!got)
    return fail(std::move(got.error()));
  if (call.dropped)
    return fail(guest::result_incomplete{"completed", true, "the command ended, and not all of its output was taken"});
  auto end = job_end{};
  end.how = std::move(got->end);
  end.boot = std::move(got->boot);
  return end;
}

class output_to final : public guest::output_sink {
public:
  explicit output_to(const job_place& at) : at_(at) {
  }
  asio::awaitable<void> take(guest::stream which, std::string bytes) override {
    co_await hand_on(at_.call, which, std::move(bytes), at_.time, at_.until);
  }

private:
  const job_place& at_;
};

/// The log of a retained execution, handed on under credit.
class log_to final : public guest::log_sink {
public:
  explicit log_to(const job_place& at) : at_(at) {
  }
  asio::awaitable<void> take(guest::stream which, std::string bytes, std::uint64_t) override {
    co_await hand_on(at_.call, which, std::move(bytes), at_.time, at_.until);
  }
  asio::awaitable<void> gap(std::uint64_t from_offset, std::uint64_t dropped_bytes) override {
    auto note = job_note{};
    note.what = job_note::kind::gap;
    note.from_offset = from_offset;
    note.dropped_bytes = dropped_bytes;
    at_.call->noted(std::move(note));
    co_return;
  }
  /// Once the asker says `leave_running`.
  asio::awaitable<void> enough() override {
    while (!at_.call->leaving) {
      const auto state = co_await asio::this_coro::cancellation_state;
      if (is_cancelled(state))
        co_return;
      [[maybe_unused]] auto rung = co_await at_.call->steer_bell.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

private:
  const job_place& at_;
};

job_end end_of(guest::attached_end x) {
  auto end = job_end{};
  end.how = std::move(x.end);
  end.execution = std::move(x.execution_id);
  end.outcome = std::move(x.outcome);
  end.next_offset = x.next_offset;
  end.dropped_bytes = x.dropped_bytes;
  end.boot = std::move(x.boot);
  return end;
}

result<job_end> judge_log(const call_state& call, guest::result<guest::attached_end> got) {
  if (call.broken)
    return fail(*call.broken);
  if (!got)
    return fail(std::move(got.error()));
  if (call.dropped)
    return fail(guest::execution_detached{got->execution_id, 0, "the command ended, and not all of its output was taken", false});
  return end_of(std::move(*got));
}

} // namespace

job_flow carry_out(job_place at, run_job what) {
  auto output = output_to{at};
  auto input = source{at.call, at.time, at.until};
  auto* from = what.what.with_input ? static_cast<guest::input_source*>(&input) : nullptr;
  if (from != nullptr)
    at.call->open_window(input_window);
  auto got = co_await at.in.commands.execute(at.where, std::move(what.what), output, from, at.until);
  co_return judge(*at.call, std::move(got));
}

job_flow carry_out(job_place at, detached_job what) {
  if (what.what.what.with_input)
    co_return fail(guest::invalid_argument{"a detached command takes no input: nobody would be there to give it"});
  auto note = job_note{};
  note.what = job_note::kind::named;
  note.execution = what.what.execution_id.value_or(std::string{});
  const auto execution = note.execution;
  at.call->noted(std::move(note));
  auto output = log_to{at};
  auto got = co_await at.in.work.run_detached(at.where, std::move(what.what), output, at.until);
  if (const auto* detached = got ? nullptr : std::get_if<guest::execution_detached>(&got.error()); detached != nullptr && detached->left) {
    auto end = job_end{};
    end.execution = execution;
    end.outcome = "running";
    end.next_offset = detached->output_offset;
    co_return end;
  }
  co_return judge_log(*at.call, std::move(got));
}

job_flow carry_out(job_place at, attach_job what) {
  auto output = log_to{at};
  auto got = co_await at.in.work.attach(at.where, std::move(what.what), output, at.until);
  co_return judge_log(*at.call, std::move(got));
}

} // namespace paddock::workspace
