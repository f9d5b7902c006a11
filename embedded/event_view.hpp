#pragma once

#include "embedded/object.hpp"
#include "embedded/status.hpp"

namespace paddock::embedded {

// An Event of `events.k8s.io/v1` is one of `v1` under other names: there is one object, kept in the older form.

/// The younger form of a kept event.
[[nodiscard]] json to_event_view(const json& event);
/// The kept form of one that was sent in the younger one.
[[nodiscard]] json from_event_view(const json& view);

/// What the younger API asks of a new event, and the older one does not.
[[nodiscard]] std::vector<status_cause> check_event_view(const json& view);

/// By the younger API only the series of an event can be changed. Both in the kept form.
[[nodiscard]] std::vector<status_cause> check_event_view_change(const json& before, const json& after);

/// The field of the kept form by which a field selector of the younger one chooses; empty: there is none.
[[nodiscard]] std::string_view kept_event_field(std::string_view field);

} // namespace paddock::embedded
