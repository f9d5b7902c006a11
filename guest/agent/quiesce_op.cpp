// `quiesce`: from the request to the reply ([G] 12).

#include "guest/agent/ops.hpp"
#include "guest/agent/quiescing.hpp"
#include "guest/quiesce.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

// The gate goes down before the reply is sent, so that who has it may start the next command; at SIGTERM it stays up.
void end(const shared_core& core, const shared_channel& to, std::string reply) {
  if (!core->terminating)
    core->quiescing = false;
  to->reply(std::move(reply));
}

asio::awaitable<void> stop_and_answer(shared_core core, shared_channel to, std::chrono::milliseconds grace) {
  auto deadline = std::chrono::steady_clock::now() + core->config.quiesce_deadline;
  auto report = co_await stop_everything(core, grace, deadline);
  if (core->destroyed)
    co_return;
  end(core, to, report ? quiesce_reply(core->scope, grace, report->rounds, report->stopped) : quiesce_unconfirmed_refusal(report.error()));
}

asio::awaitable<void> look_and_answer(shared_core core, shared_channel to, std::chrono::milliseconds grace) {
  // What had no process at the beginning may have got one after the scan has passed its place.
  auto starting = core->starting;
  auto found = co_await find_candidates(core);
  if (core->destroyed)
    co_return;
  if (!found)
    co_return end(core, to, quiesce_unconfirmed_refusal(found.error()));
  if (!found->empty())
    starting = std::min(starting, core->starting);
  if (!found->empty() || starting > 0)
    co_return end(core, to, quiesce_not_idle_refusal(core->scope, *found, starting));
  end(core, to, quiesce_reply(core->scope, grace, 0, {}));
}

} // namespace

void answer_quiesce(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto asked = read_quiesce_request(body, core->config.quiesce_grace, core->config.cancel_confirm_timeout);
  if (!asked)
    return to->reply(asked.error());
  core->quiescing = true;
  auto& io = core->io;
  if (asked->idle_only)
    return asio::co_spawn(io, look_and_answer(std::move(core), std::move(to), asked->grace), asio::detached);
  ++core->quiesces; // what was admitted and has no process yet will get none
  asio::co_spawn(io, stop_and_answer(std::move(core), std::move(to), asked->grace), asio::detached);
}

} // namespace paddock::guest
