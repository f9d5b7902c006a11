#pragma once

#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// Whether an owner of that kind, name and uid stands in the namespace. `waits`: it is deleted in the foreground, and goes
/// after those who block it.
enum class owner_state { stands, gone, waits, unknown };
using owner_lookup = std::function<owner_state(const nlohmann::json& reference, const std::string& name_space)>;

/// Whether a refused GET says that what `reference` names is not there: a 404 by its name. One of a proxy, or of a server that
/// does not know the kind, names nothing and proves nothing.
[[nodiscard]] bool says_gone(const nlohmann::json& reference, unsigned status, const std::string& message);

/// The DELETE of an object all of whose owners are gone or wait for it, or nothing: it has none, one stands, or one is not
/// known. It is in the foreground where an owner waits and the object has `dependants`, else in the background. Its
/// precondition is the object's uid.
[[nodiscard]] std::optional<k8s::call> collect(const nlohmann::json& object, const owner_lookup& look, bool dependants);

/// The patch that takes from an object its references to owners that are gone or wait for it, or nothing: there are none, no other
/// owner stands, or one is not known. Otherwise an owner would wait for ever for an object that stays.
[[nodiscard]] std::optional<k8s::call> let_go(const nlohmann::json& object, const owner_lookup& look);

/// The patch that ends a foreground deletion, or nothing: a dependant that blocks it is left.
[[nodiscard]] std::optional<k8s::call> end_foreground(const nlohmann::json& object, const std::vector<nlohmann::json>& dependants);

/// The patches that let go of an object's dependants, when it is deleted without them, and then of the object itself: each dependant
/// loses its reference to the object. None: it is not deleted so.
[[nodiscard]] std::vector<k8s::call> orphan(const nlohmann::json& object, const std::vector<nlohmann::json>& dependants);

/// The patch of a terminating object's finalizers without `name`, tested against what was read, so that it removes nothing
/// else; nothing when it does not terminate or has no such finalizer.
[[nodiscard]] std::optional<k8s::call> without_finalizer(const nlohmann::json& object, const std::string& name);

/// The path of an object, for the kinds that own or are owned here; nothing for others.
[[nodiscard]] std::optional<std::string> path_of(const nlohmann::json& object);
/// The same for what an owner reference names.
[[nodiscard]] std::optional<std::string> path_of(const nlohmann::json& reference, const std::string& name_space);

} // namespace paddock::embedded
