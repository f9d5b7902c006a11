#pragma once

#include "actors/world.hpp"
#include "k8s/watch_port.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <map>
#include <string>
#include <vector>

namespace paddock {

/// The WATCH (messages/interfaces.hpp): the objects of one kind of one namespace, and who is told of which name.
class watch_state {
public:
  static inline const char* name = "paddock.watch";
  /// @pre `world.watches` is there
  watch_state(watch_actor::pointer self, actor_world& world, k8s::watched what);
  ~watch_state();
  watch_state(const watch_state&) = delete;
  watch_state& operator=(const watch_state&) = delete;
  watch_actor::behavior_type make_behavior();

private:
  void take(const k8s::watch_news& news);
  void lose(const k8s::read_failure& why);
  void note(const std::vector<k8s::kept_change>& changes, bool live);
  void watch(const std::string& which, const watcher_actor& who);
  void forget(const caf::actor_addr& who);
  void stamp(std::uint64_t first, const stamper_actor& who);
  void ask_for_stamp(const k8s::kept& x);
  void tell(const std::string& which, const watcher_actor& who);

  watch_actor::pointer self_;
  actor_world& world_;
  k8s::watched what_;
  workspace::ticket ticket_;
  k8s::object_cache known_;
  bool live_ = false;
  bool listed_ = false; // at least once
  std::uint64_t first_epoch_ = 0;
  stamper_actor stamper_;                                                    // null: nobody is told
  unsigned warned_ = 0;                                                      // the status last warned of
  std::map<std::string, std::map<caf::actor_addr, watcher_actor>> watchers_; // by name
  std::map<caf::actor_addr, std::string> names_;
};

using watch_impl = watch_actor::stateful_impl<watch_state>;

} // namespace paddock
