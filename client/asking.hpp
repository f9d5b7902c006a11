#pragma once

#include "client/result.hpp"
#include "messages/error.hpp"
#include "messages/mail.hpp"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace paddock::client {

/// What a failed request means to its caller. A named error is itself; all else leaves open whether a change was made.
[[nodiscard]] problem explained(effect what, const caf::error& why);

/// Asks `of`, and calls `then` exactly once, in an actor of `in`: with the answer, at the end of `bound`, or when `of` is gone,
/// whichever comes first. T is void for an answer without a value.
template <class T, class Handle, class... Ts>
void ask(caf::actor_system& in, const Handle& of, effect what, caf::timespan bound, std::function<void(result<T>)> then, Ts... xs) {
  in.spawn([of, what, bound, then = std::move(then), xs...](caf::event_based_actor* self) {
    auto told = std::make_shared<bool>(false);
    auto tell = [then, told, self](result<T> x) {
      if (!std::exchange(*told, true))
        then(std::move(x));
      self->quit();
    };
    self->monitor(of);
    self->set_down_handler([tell, what](const caf::down_msg&) { tell(tl::unexpected{node_gone(what)}); });
    auto failed = [tell, what](const caf::error& why) { tell(tl::unexpected{explained(what, why)}); };
    auto asked = mail::ask(self, of, bound, xs...);
    if constexpr (std::is_void_v<T>)
      asked.then([tell] { tell({}); }, failed);
    else
      asked.then([tell](T& x) { tell(std::move(x)); }, failed);
  });
}

} // namespace paddock::client
