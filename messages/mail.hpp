#pragma once

// The few calls that differ between CAF 0.18, 0.19 and 1.x. Everything of ours sends through these.

#include <caf/all.hpp>

#include <utility>

namespace paddock::mail {

#if CAF_MAJOR_VERSION >= 1

template <class Self>
auto& state(Self* self) {
  return self->state();
}
template <class Self, class To, class... Ts>
void tell(Self&& self, const To& to, Ts&&... xs) {
  self->mail(std::forward<Ts>(xs)...).send(to);
}
template <class Self, class Delay, class To, class... Ts>
void tell_after(Self&& self, Delay delay, const To& to, Ts&&... xs) {
  self->mail(std::forward<Ts>(xs)...).delay(delay).send(to);
}
template <class Self, class To, class Bound, class... Ts>
auto ask(Self&& self, const To& to, Bound bound, Ts&&... xs) {
  return self->mail(std::forward<Ts>(xs)...).request(to, bound);
}
template <class To, class... Ts>
void tell_anonymously(const To& to, Ts&&... xs) {
  caf::anon_mail(std::forward<Ts>(xs)...).send(to);
}

#else

template <class Self>
auto& state(Self* self) {
  return self->state;
}
template <class Self, class To, class... Ts>
void tell(Self&& self, const To& to, Ts&&... xs) {
  self->send(to, std::forward<Ts>(xs)...);
}
template <class Self, class Delay, class To, class... Ts>
void tell_after(Self&& self, Delay delay, const To& to, Ts&&... xs) {
  self->delayed_send(to, delay, std::forward<Ts>(xs)...);
}
template <class Self, class To, class Bound, class... Ts>
auto ask(Self&& self, const To& to, Bound bound, Ts&&... xs) {
  return self->request(to, bound, std::forward<Ts>(xs)...);
}
template <class To, class... Ts>
void tell_anonymously(const To& to, Ts&&... xs) {
  caf::anon_send(to, std::forward<Ts>(xs)...);
}

#endif

/// A handle that does not keep the actor alive: what a port's callback holds.
template <class Handle>
class weak {
public:
  explicit weak(const Handle& to) : address_(caf::actor_cast<caf::actor_addr>(to)) {
  }
  /// Sends, unless the actor has ended: a late answer then has nobody to tell.
  template <class... Ts>
  void tell(Ts&&... xs) const {
    if (auto strong = caf::actor_cast<caf::strong_actor_ptr>(address_))
      tell_anonymously(caf::actor_cast<Handle>(strong), std::forward<Ts>(xs)...);
  }

private:
  caf::actor_addr address_;
};

} // namespace paddock::mail
