#pragma once

#include "guest/identity.hpp"

#include <chrono>
#include <optional>

namespace paddock::guest {

/// Hears what the transport does ([G] 16.7), on the executor of the call. Nothing it is told carries a command, an argument
/// or output; the token is in the endpoint, which is the one of the connection that was used and not the current one.
class transport_observer {
public:
  virtual ~transport_observer() = default;
  /// Before each attempt to connect, so that one which is stopped midway is on record.
  virtual void dialing(const endpoint& /*to*/) noexcept {
  }
  /// A connection is established, `after` the dial began.
  virtual void dialed(const endpoint& /*to*/, std::chrono::milliseconds /*after*/) noexcept {
  }
  /// A guest has answered, with a reply that is an object; `boot` is absent when it names none.
  virtual void answered(const endpoint& /*from*/, const std::optional<guest_boot_id>& /*boot*/) noexcept {
  }
};

/// What one execution took ([G] 18.5), over all its attempts. The phases overlap.
struct execution_timing {
  using milliseconds = std::chrono::milliseconds;
  milliseconds dial{0};    // of connections that were established
  milliseconds reserve{0}; // the reservation, with its dial
  milliseconds execute{0}; // the execute stream, with its dial
  milliseconds drain{0};   // for the rest of the output, after a cancellation was confirmed
};

} // namespace paddock::guest
