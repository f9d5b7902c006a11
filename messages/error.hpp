#pragma once

#include "messages/ids.hpp"

namespace paddock {

/// `x` as the error that an actor answers with.
[[nodiscard]] caf::error to_error(problem x);

/// What an error of any origin means to a caller. An error that is not one of ours (the actor crashed, its node went away)
/// is `OutcomeUnknown`: whether the request was carried out is not known.
[[nodiscard]] problem to_problem(const caf::error& x);

/// A problem of this layer: reasons `IllegalId`, `NodeStopping`, `TooManyWaiting`, `Cancelled`, `OutOfTime`, `SessionOver`, `OwnerGone`,
/// `EventsDropped`, `EventsEnded`.
[[nodiscard]] problem make_problem(verdict how, std::string reason, std::string message);

/// Registers every message type; once, before the first actor system.
void register_messages();

} // namespace paddock
