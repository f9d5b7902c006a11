#pragma once

#include "actors/world.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <string>

namespace paddock {

/// An actor that lived so long before it crashed starts its back-off anew.
inline constexpr auto healthy_life = std::chrono::seconds{30};

/// How long a crashed actor stays down: 100 ms doubling to 10 s. `crashes` counts from 1.
[[nodiscard]] inline std::chrono::milliseconds back_off(int crashes) {
  constexpr auto longest = std::chrono::milliseconds{10'000};
  const auto shift = crashes < 1 ? 0 : crashes > 8 ? 8 : crashes - 1;
  const auto pause = std::chrono::milliseconds{100 << shift};
  return pause < longest ? pause : longest;
}

/// Makes an exception out of a handler end the actor with one log line that names it and the type of the last message. An
/// exception is a bug: a refusal is an answer.
template <class Self>
void report_crashes(Self* self, actor_world& world, std::string who) {
  self->set_exception_handler([self, &world, who = std::move(who)](std::exception_ptr& thrown) -> caf::error {
    std::string what = "unknown exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& x) {
      what = x.what();
    } catch (...) {
    }
    std::string last = "none";
    if (auto* element = self->current_mailbox_element())
      last = caf::to_string(element->payload.types());
    self->system().metrics().counter_singleton("paddock", "actor-crashes", "Actors that ended by an exception, which is a bug.")->inc();
    world.warn(who + " crashed on message " + last + ": " + what);
    return caf::make_error(caf::sec::runtime_error);
  });
}

} // namespace paddock
