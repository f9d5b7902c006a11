// The two ops of executions with one reply: `reserve-execution` and `cancel-execution`.

#include "base/random.hpp"
#include "guest/agent/live_execution.hpp"
#include "guest/agent/ops.hpp"
#include "guest/agent/retained_output.hpp"
#include "guest/replies.hpp"

#include <chrono>
#include <utility>

namespace paddock::guest {

void answer_reserve(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto wanted = std::optional<std::string>{};
  if (auto at = body.find("executionId"); at != body.end())
    wanted = at->is_string() ? at->get<std::string>() : std::string{};
  auto now = core->time.now();
  auto made = core->registry.reserve(wanted, "exec_" + new_uuid(), now);
  if (!made)
    return to->reply(refusal(made.error()));
  auto left = made->expires ? *made->expires - now : time_source::clock::duration::zero();
  auto at = core->time.wall().time_since_epoch() + left;
  to->reply(reservation_reply(core->boot, made->id, std::chrono::duration_cast<std::chrono::milliseconds>(at).count(),
                              wanted ? std::optional{made->state} : std::nullopt, made->output_offset));
}

void answer_cancel(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto id = std::string{};
  if (auto at = body.find("executionId"); at != body.end() && at->is_string())
    id = at->get<std::string>();
  if (!is_execution_id(id))
    return to->reply(refusal("invalid_execution_id"));
  auto now = core->time.now();
  if (core->registry.find(id, now) == nullptr)
    return to->reply(cancel_refusal(core->boot, "unknown_execution", ""));
  cancel_unstarted(*core, id);
  const auto* record = core->registry.find(id, now);
  if (record->state == execution_state::terminal)
    return to->reply(terminal_reply(core->boot, record->end));
  auto at = core->running.find(id);
  if (at == core->running.end())
    return to->reply(cancel_refusal(core->boot, "cancellation_unconfirmed", "the execution is not running"));
  // Not shared: what waits for the end would keep what it waits for. And not the record, which may have made room for another.
  auto* raw = at->second.get();
  raw->terminate(live_execution::cause::cancelled, core->config.cancel_grace, [core, to, raw](const std::optional<std::string>& failure) {
    if (!failure && raw->end())
      return to->reply(terminal_reply(core->boot, *raw->end()));
    core->fence("a cancellation could not be confirmed");
    to->reply(cancel_refusal(core->boot, "cancellation_unconfirmed", failure.value_or("the execution was abandoned")));
  });
}

} // namespace paddock::guest
