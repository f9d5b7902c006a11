#pragma once

#include "workspace/session.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace paddock::workspace {

/// The row that one Sandbox object makes in an inventory ([W] 3.11). Nothing: it is no workspace, because its name lacks
/// the prefix `namzu-ws-` or its pod template lacks the template label. The holder epoch is 0 without an annotation and
/// absent where the annotation cannot be read; every operating mode but `Suspended` is `Running`. Reads whatever it is
/// given: a member of the wrong shape counts as absent.
[[nodiscard]] std::optional<summary> summarise(const nlohmann::json& sandbox);

/// The rows of the answer to a list request, in its order. An answer without items has none.
[[nodiscard]] std::vector<summary> summarise_all(const std::optional<nlohmann::json>& list);

} // namespace paddock::workspace
