#pragma once

#include "messages/problem.hpp"

#include <tl/expected.hpp>

namespace paddock::client {

/// What every verb answers: its value, or a named error. No refusal is an exception.
template <class T>
using result = tl::expected<T, problem>;

/// What a request does, and so what it means when its answer is lost.
enum class effect { reads, changes };

/// The node, or the connection to it, went away before the answer: `Unreachable` for what reads, `OutcomeUnknown` for what changes.
[[nodiscard]] problem node_gone(effect what);

} // namespace paddock::client
