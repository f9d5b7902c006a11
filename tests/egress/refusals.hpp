#pragma once

#include "egress/errors.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <string_view>

namespace paddock::egress {

/// A refusal, which is of type `Error`.
template <class Error>
Error refused_as(const egress_error& x) {
  if (!std::holds_alternative<Error>(x))
    CAF_FAIL("was refused otherwise: " << to_string(x));
  return std::get<Error>(x);
}

/// Whether the text of a refusal holds `what`.
inline bool says(const egress_error& x, std::string_view what) {
  return to_string(x).find(what) != std::string::npos;
}

} // namespace paddock::egress
