#pragma once

#include "k8s/fenced_write.hpp"
#include "workspace/failure.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace paddock::workspace {

/// An epoch as a person or a program writes it: digits without sign or leading zeros, or a JSON number without a fraction.
/// Everything else is an `illegal_argument` ("non-negative safe integer").
[[nodiscard]] result<std::uint64_t> parse_epoch(std::string_view text);
[[nodiscard]] result<std::uint64_t> parse_epoch_value(const nlohmann::json& value);

/// The epoch after a write at `held` whose outcome is unknown ([W] P1): the late write can then not pass for a current one.
/// A host without epochs has none. A term that is used up, after a million such writes, has no next one: it stays.
[[nodiscard]] std::optional<std::uint64_t> raised(const k8s::epoch_term& own, std::optional<std::uint64_t> held);

} // namespace paddock::workspace
