#pragma once

#include "k8s/list_watch.hpp"
#include "k8s/object_cache.hpp"
#include "k8s/projection.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::k8s {

/// What a WATCH watches and what it keeps of each object.
struct watched {
  std::string name_space;
  selection what;
  const projection* read = nullptr; // outlives the watch
};

/// The Sandboxes of a namespace.
[[nodiscard]] watched sandboxes_of(std::string_view name_space);

/// The whole collection. Everything told before is void but for what it shares with this.
struct watch_listed {
  std::vector<kept> all;
  std::string version;
  bool anew = false; // versions have begun again
};
/// One event; never a bookmark.
struct watch_told {
  watch_event::kind what = watch_event::kind::added;
  kept object;
};
/// Everything up to `version` has been told.
struct watch_marked {
  std::string version;
};
/// Changes are not told for now; the next news of another kind says that they are again.
struct watch_lost {
  read_failure why;
};
using watch_news = std::variant<watch_listed, watch_told, watch_marked, watch_lost>;

/// Follows collections of an API server, as a WATCH asks for it.
class watch_port {
public:
  using ticket = std::uint64_t;
  virtual ~watch_port() = default;
  /// Tells the collection, then every change of it once and in order, whatever becomes of connections, until `stop`. Calls
  /// back on one thread, one after another, never inside the call.
  virtual void start(ticket name, watched what, std::function<void(watch_news)> tell) = 0;
  /// Ends it. News that is under way may still come.
  virtual void stop(ticket name) = 0;
};

} // namespace paddock::k8s
