#pragma once

#include "client/result.hpp"
#include "messages/types.hpp"

#include <functional>
#include <memory>

namespace paddock::client {

/// Who is told of events. Both are called on a thread of the library, one at a time, and should return soon: the next event is asked for
/// when the last one has returned. One that is too slow is dropped by the node, and told so (`EventsDropped`).
struct listener {
  std::function<void(const workspace_event&)> event;
  std::function<void(const problem&)> over; // nothing follows; `EventsEnded` when the node has nothing more to tell
};

/// Events that are being told. Once it is destroyed nobody is told anything more; a call that is under way is waited for, unless it is
/// this very one that destroys.
class following {
public:
  struct state;
  explicit following(std::unique_ptr<state> x);
  ~following();
  following(following&&) noexcept;
  following& operator=(following&&) noexcept;

private:
  std::unique_ptr<state> state_;
};

} // namespace paddock::client
