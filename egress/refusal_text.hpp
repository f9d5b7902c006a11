#pragma once

#include "egress/errors.hpp"

#include <string>

namespace paddock::egress {

// What a refused union check ([E] 3.11) and a refused ingress check ([E] 6.3) say. Neither says anything about a collection
// that was not read.

[[nodiscard]] std::string refusal_text(const union_refused& x);
[[nodiscard]] std::string refusal_text(const ingress_refused& x);

} // namespace paddock::egress
