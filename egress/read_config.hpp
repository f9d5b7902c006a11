#pragma once

#include "egress/errors.hpp"

#include <nlohmann/json_fwd.hpp>

namespace paddock::egress {

/// Reads `config.egress` and checks it in the order of [E] 1.7: the kind under its engine, excluded blocks, narrowing, profile,
/// per-sandbox egress. Nothing is left to check of what it answers but the host entries, which `translate` parses. Every value
/// of the wrong type is refused, null too where it does not mean off, and every member that is not known, each by its path:
/// what is misspelt would otherwise be wider than what was meant. An inactive `ciliumNarrowing` is read as none.
[[nodiscard]] result<egress_config> read_egress_config(const nlohmann::json& object);

} // namespace paddock::egress
