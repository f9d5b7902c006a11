#pragma once

#include "k8s/object_cache.hpp"

#include <nlohmann/json.hpp>

namespace paddock::k8s {

/// What a WATCH shows of one name.
struct sighting {
  bool live = false; // changes are told as they come; false: nothing may come for now
  kept object;       // null: none is known
};

/// Whether `shown`, which a watch tells late or early, may stand for a read that follows the read `seen`: the same uid, a
/// later version, and a generation that did not go back. Where one of them cannot be compared it may not.
[[nodiscard]] bool may_stand_for_later_read(const nlohmann::json& shown, const nlohmann::json& seen);

/// Whether what is shown has come as far as the read `seen`: it tells of the same object, in that version or a later one.
[[nodiscard]] bool has_caught_up(const sighting& x, const nlohmann::json& seen);

} // namespace paddock::k8s
