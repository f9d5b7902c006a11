#include "guest/host_outcome.hpp"

namespace paddock::guest {

namespace {

tl::unexpected<failure> unknown(std::string text) {
  return tl::unexpected{failure{cancellation_unknown{std::move(text), std::nullopt, std::nullopt}}};
}

tl::unexpected<failure> incomplete(const acknowledgement& x, std::string text) {
  return tl::unexpected{failure{result_incomplete{std::string{to_string(x.state)}, x.started, std::move(text)}}};
}

// `end` with the mark of a command that was cancelled because its time was up.
command_end judged(command_end end, cancel_reason why, const acknowledgement& x) {
  const auto for_time = why == cancel_reason::observation_timeout || why == cancel_reason::out_of_time;
  if (for_time && x.state == acknowledgement::outcome::cancelled)
    end.timed_out = true;
  return end;
}

command_end end_of(const acknowledgement& x, std::chrono::milliseconds took) {
  return x.end ? *x.end : synthetic_end(took);
}

bool is_command_failure(const failure& x) {
  return std::holds_alternative<command_failed>(x);
}

} // namespace

command_end synthetic_end(std::chrono::milliseconds took) {
  auto end = command_end{};
  end.exit_code = 1;
  end.took = took;
  return end;
}

result<command_end> outcome_before_execute(const confirmation& got, std::chrono::milliseconds took) {
  if (!got)
    return unknown(got.error().text);
  if (got->started)
    return incomplete(*got, "the reservation was used by somebody else");
  return end_of(*got, took);
}

command_end outcome_of_result(command_end end, cancel_reason why, const std::optional<confirmation>& got) {
  return got && *got ? judged(std::move(end), why, **got) : end;
}

bool worth_draining(const confirmation& got) {
  return got && got->started;
}

result<command_end> outcome_of_cancel(cancel_reason why, const confirmation& got, const std::optional<result<command_end>>& drained,
                                      std::chrono::milliseconds took) {
  if (!got)
    return unknown(got.error().text);
  if (!got->started)
    return judged(end_of(*got, took), why, *got);
  if (!drained)
    return incomplete(*got, "the output did not end in time");
  if (*drained)
    return judged(**drained, why, *got);
  if (is_command_failure(drained->error()) && got->state == acknowledgement::outcome::failed)
    return tl::unexpected{drained->error()};
  return incomplete(*got, to_string(drained->error()));
}

result<command_end> outcome_of_error(const failure& error, cancel_reason why, bool caller_withdrew, const confirmation& got,
                                     std::chrono::milliseconds took) {
  if (!got)
    return unknown(got.error().text + "; after: " + to_string(error));
  if (is_command_failure(error) && got->state == acknowledgement::outcome::failed)
    return tl::unexpected{error};
  if (got->started)
    return incomplete(*got, to_string(error));
  if (caller_withdrew && got->state == acknowledgement::outcome::cancelled)
    return judged(end_of(*got, took), why, *got);
  return tl::unexpected{error};
}

} // namespace paddock::guest
