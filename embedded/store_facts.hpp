#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

// What the store reads of an object that it keeps.

inline constexpr auto orphan_finalizer = "orphan";
inline constexpr auto foreground_finalizer = "foregroundDeletion";

[[nodiscard]] std::int64_t number_at(const json& object, std::initializer_list<std::string_view> path, std::int64_t otherwise);
[[nodiscard]] bool is_terminating(const json& object);
[[nodiscard]] bool is_terminating(const stored_object& object);
/// Whether something has to happen before it may go: it has finalizers, or is a namespace that is not known to be empty.
[[nodiscard]] bool is_held(const resource_kind& kind, const json& object);
void raise_generation(const resource_kind& kind, json& object);

} // namespace paddock::embedded
