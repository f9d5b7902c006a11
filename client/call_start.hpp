#pragma once

#include "client/call_actors.hpp"
#include "client/connection.hpp"
#include "client/target.hpp"

#include <utility>

namespace paddock::client {

/// Starts a call by asking `of`, which is told `first` before the call.
template <class Handle, class... Ts>
result<std::unique_ptr<running_call>> start_call(const std::shared_ptr<const connection>& by, const Handle& of, caf::timespan budget,
                                                 call_spec what, std::shared_ptr<inbox> to, Ts... first) {
  const auto kind = effect_of(what.what);
  auto sink = spawn_sink(by->system(), to);
  auto call = by->ask_of<call_actor>(of, kind, budget, atom::call_v, std::move(first)..., std::move(what), sink, budget);
  if (!call) {
    // Its handle was sent, so it does not end by itself.
    caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
    return tl::unexpected{std::move(call.error())};
  }
  return watched_call(by->system(), std::move(*call), std::move(sink), std::move(to), by);
}

} // namespace paddock::client
