#pragma once

#include "base/flows/flow_group.hpp"
#include "base/flows/sleep.hpp"
#include "guest/flows/host.hpp"
#include "workspace/flows/open_terminals.hpp"
#include "workspace/ports.hpp"

#include <cstddef>
#include <memory>

namespace paddock::workspace {

/// A piece of output or input is never larger.
inline constexpr std::size_t largest_piece = std::size_t{64} * 1024;
/// So much input is wanted ahead of the guest.
inline constexpr std::size_t input_window = std::size_t{256} * 1024;
/// So much of the input that was taken is kept for an attempt in another pod. Of more than this there is none.
inline constexpr std::size_t most_kept_input = std::size_t{1024} * 1024;
/// The ways into a guest (workspace/flows/guest_jobs.hpp).
struct guest_hosts;

/// The calls into guests, as flows of `flows`. the hosts, `time` and `flows` outlive the port; the port may go once `flows` has
/// reported its end. Callbacks run on the strand of `flows`, never inside the call that asked. A call that `flows` refuses
/// (closed, or the ticket is in use) ends as `withdrawn`: nothing was dialled.
///
/// What a call holds, besides what its host holds: `input_window` of input, what it keeps of the input that was taken, and the piece of
/// output that the host hands over. A
/// listing that is no walk is held whole.
///
/// A withdrawn call waits for no more credit. Output that is then left over is dropped, and a run that ended well without all
/// of its output having been handed on answers `result_incomplete`. Input that was not wanted withdraws the call too; it then
/// answers `protocol_failure`, or what is worse: `cancellation_unknown`. A write that runs out of time or is withdrawn
/// before its input is complete has written nothing.
///
/// `terminals` takes the terminals that these calls hold open; null: nobody ends them but their askers.
[[nodiscard]] std::unique_ptr<guest_port> make_guest_calls(guest_hosts in, flow_time& time, flow_group& flows,
                                                           open_terminals* terminals = nullptr);

} // namespace paddock::workspace
