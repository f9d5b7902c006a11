#pragma once

#include "guest/failure.hpp"

#include <string_view>

namespace paddock::guest {

/// What may be done about a call that failed, once, on the endpoint it was sent to ([G] 18.2).
enum class rebind_verdict {
  rethrow,      // the failure is the answer
  unresolvable, // so is `address_unresolvable`: another pod would not be found under that name either
  reread,       // nothing ran, and the pod may be another one now: read it and, if so, try once more
};

struct rebind_facts {
  bool host_is_name = false; // of the endpoint, not an IP literal
  bool withdrawn = false;    // the caller no longer waits
};

/// Whether `x` proves that nothing of the call ran: by its type, never by its text. A connection that was never
/// established, or a token that the guest refused.
[[nodiscard]] bool proves_nothing_ran(const failure& x);

/// The table of [G] 18.2, steps 1 to 4, in its order.
[[nodiscard]] rebind_verdict judge_rebind(const failure& x, const rebind_facts& facts);

/// Whether `host` is a name that has to be looked up.
[[nodiscard]] bool is_host_name(std::string_view host);

} // namespace paddock::guest
