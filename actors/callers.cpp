#include "actors/callers.hpp"

#include "messages/error.hpp"

#include <algorithm>
#include <utility>

namespace paddock {

void callers::join(std::uint64_t ticket, promise waiting) {
  waiting_.push_back({ticket, std::move(waiting)});
}

void callers::leave(std::uint64_t ticket, const problem& why) {
  const auto found = std::ranges::find(waiting_, ticket, &caller::ticket);
  if (found == waiting_.end())
    return;
  found->waiting.deliver(to_error(why));
  waiting_.erase(found);
}

void callers::succeed() {
  for (auto& x : std::exchange(waiting_, {}))
    x.waiting.deliver();
}

void callers::fail(const problem& why) {
  for (auto& x : std::exchange(waiting_, {}))
    x.waiting.deliver(to_error(why));
}

problem call_withdrawn() {
  return make_problem(verdict::refused, "Cancelled", "the caller withdrew before there was an answer; nothing was done for it");
}

problem call_expired() {
  return make_problem(verdict::unreachable, "OutOfTime", "the time of the call was up before there was an answer; nothing was done for it");
}

problem too_many_callers() {
  return make_problem(verdict::refused, "TooManyWaiting", "too many callers wait for an answer; nothing was done");
}

} // namespace paddock
