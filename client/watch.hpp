#pragma once

#include <functional>

namespace paddock::client {

/// What else is looked at while the bytes of a call are carried: when `fd` is readable `woken` is called, and the call is cancelled when it
/// says so. Its end is still awaited.
struct stream_watch {
  int fd = -1; // none
  std::function<bool()> woken;
};

} // namespace paddock::client
