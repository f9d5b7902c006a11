#pragma once

#include "base/flows/sleep.hpp"
#include "guest/flows/host.hpp"
#include "guest/flows/work_host.hpp"
#include "k8s/flows/api.hpp"
#include "workspace/flows/open_terminals.hpp"
#include "workspace/flows/sightings.hpp"
#include "workspace/ports.hpp"
#include "workspace/settings.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>
#include <variant>

namespace paddock::workspace {

/// What a suspend says beside its answer ([W] 3.4 steps 4 and 5): it went on, and this is what it went on without.
struct quiesce_not_supported {
  std::string feature;
};
struct quiesce_narrowed {
  guest::quiesce_report report; // processes that the guest did not start itself may have been running
};
struct flush_not_supported {
  std::string feature;
};
struct flush_unreachable {
  guest::failure cause;
};
using rest_note = std::variant<quiesce_not_supported, quiesce_narrowed, flush_not_supported, flush_unreachable>;

/// For people; no secret.
[[nodiscard]] std::string to_string(const rest_note& x);

/// What the verbs act on. Lives as long as the program.
struct world {
  k8s::api& api;
  guest::host& guests;
  flow_time& time;
  settings how;
  guest::work_host* work = nullptr;                           // null: no guest is asked to rest before its pod goes
  std::function<void(const id&, const rest_note&)> told = {}; // once for each note, within the verb; empty: nobody listens
  open_terminals* terminals = nullptr;                        // those of the calls; null: none are ended before their guest is
  sightings* seen = nullptr; // of the Sandbox of one verb; null: no WATCH shows it, and readiness is read again and again
};

// The verbs of [W] §3, each whole: `workspace/ports.hpp` says what each promises. They take the session by value and give
// the next one back, which holds whether the answer is a success or not. Cancelling the coroutine (terminal) is the
// caller's own withdrawal: the verb still returns, after clean-up that is bounded by 1000 ms and is not cancelled with it.
// They never throw. One verb runs at a time per workspace; the caller sees to that.

boost::asio::awaitable<transition<opened>> open(world& on, id which, open_options how, session before, deadline until);
boost::asio::awaitable<transition<done>> take_up(world& on, id which, session before, deadline until);
boost::asio::awaitable<transition<done>> suspend(world& on, id which, suspend_options how, session before, deadline until);
boost::asio::awaitable<transition<opened>> resume(world& on, id which, open_options how, session before, deadline until);
boost::asio::awaitable<transition<done>> remove(world& on, id which, remove_options how, session before, deadline until);
boost::asio::awaitable<transition<done>> reset_epoch(world& on, id which, epoch_reset what, session before, deadline until);
boost::asio::awaitable<transition<stamped>> stamp(world& on, id which, session before, deadline until);
boost::asio::awaitable<transition<done>> refresh(world& on, id which, session before, deadline until);
/// Not a verb, as `explain` is none: what a call asks of the cluster beside the verbs.
boost::asio::awaitable<result<std::optional<found_pod>>> reread(world& on, id which, session now, deadline until);
boost::asio::awaitable<transition<done>> explain(world& on, id which, std::string operation, session before, failure original,
                                                 deadline until);

} // namespace paddock::workspace
