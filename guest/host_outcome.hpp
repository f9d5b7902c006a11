#pragma once

#include "guest/failure.hpp"
#include "guest/host_replies.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace paddock::guest {

/// Why a cancellation was started; a later reason does not replace it.
enum class cancel_reason {
  caller,              // the caller withdrew
  observation_timeout, // the command outlived its limit, and the guest did not say so
  out_of_time,         // the deadline of the call passed
  reconcile,           // the execute stream failed
};

/// A cancellation that was not confirmed within its window, and the last reason.
struct unconfirmed {
  std::string text;
};
using confirmation = tl::expected<acknowledgement, unconfirmed>;

/// The end of a command that never started: exit code 1, no output ([G] 20.1).
[[nodiscard]] command_end synthetic_end(std::chrono::milliseconds took);

// The table of [G] 20.3, one function a row. None ever turns "not known" into "ended".

/// Cancelled after the reservation and before execute was sent.
[[nodiscard]] result<command_end> outcome_before_execute(const confirmation& got, std::chrono::milliseconds took);

/// The execute stream gave its result. It is returned whatever else is going on. A cancellation for the sake of time that
/// is also confirmed as `cancelled` marks it as timed out; `got` is absent when none was asked for.
[[nodiscard]] command_end outcome_of_result(command_end end, cancel_reason why, const std::optional<confirmation>& got);

/// The cancellation was settled while the execute stream had not ended. Whether to wait for the stream first.
[[nodiscard]] bool worth_draining(const confirmation& got);
/// `drained` is what the execute stream gave within the drain bound; absent: nothing.
[[nodiscard]] result<command_end> outcome_of_cancel(cancel_reason why, const confirmation& got,
                                                    const std::optional<result<command_end>>& drained, std::chrono::milliseconds took);

/// The execute stream failed with `error`, and the cancellation that followed was settled.
[[nodiscard]] result<command_end> outcome_of_error(const failure& error, cancel_reason why, bool caller_withdrew, const confirmation& got,
                                                   std::chrono::milliseconds took);

} // namespace paddock::guest
