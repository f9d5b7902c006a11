#pragma once

#include "embedded/event_book.hpp"
#include "embedded/pod_status.hpp"

namespace paddock::embedded {

/// What a kubelet tells of a pod that went from one state to the next: containers that started, that cannot be started, that are put
/// off because they end again and again, or whose readiness probe fails.
[[nodiscard]] std::vector<happening> happenings_between(const pod_state& before, const pod_state& after);

/// The part of the pod that a container is.
[[nodiscard]] std::string container_field(std::string_view name, bool init);

} // namespace paddock::embedded
