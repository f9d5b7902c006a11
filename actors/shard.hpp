#pragma once

#include "actors/shard_tasks.hpp"
#include "actors/workspace.hpp"

#include <functional>
#include <map>
#include <string>

namespace paddock {

/// The SHARD (messages/interfaces.hpp): which WORKSPACEs of its share are alive, which crashed and are to come back, and what those have
/// left that were let go.
class shard_state {
public:
  static inline const char* name = "paddock.shard";
  shard_state(shard_actor::pointer self, actor_world& world);
  ~shard_state();
  shard_state(const shard_state&) = delete;
  shard_state& operator=(const shard_state&) = delete;
  shard_actor::behavior_type make_behavior();

private:
  struct entry {
    workspace_actor actor; // null while it is down
    int crashes = 0;
    time_source::clock::time_point started{};
    std::vector<std::function<void()>> parked; // requests that came while it was down
    bool asked = false;                        // somebody has asked it for something since it started
    std::size_t unanswered = 0;                // requests that it has
    time_source::clock::time_point used{};     // when the last of them came or was answered
  };

  /// Asks the WORKSPACE of `text` and answers for it.
  template <class T, class... Ts>
  caf::result<T> pass(const std::string& text, Ts... xs);
  entry* find_or_start(const std::string& text);
  void start(const std::string& text, entry& one, workspace::remembered former = {});
  /// The entry of `text` while `who` is its WORKSPACE; null: another has taken its place, or none.
  entry* find(const std::string& text, const caf::actor_addr& who);
  void note_asked(entry& one);
  void note_answered(const std::string& text, const caf::actor_addr& who);
  /// Ends the WORKSPACE `who` of a workspace that was deleted or is let go; one that has taken its place is left alone.
  void retire(const std::string& text, const caf::actor_addr& who);
  void down(const caf::down_msg& x);
  void restart(const std::string& text);
  void watch(const watch_actor& by);
  void let_idle_go();
  /// Asks whether it may go, and lets it go unless it was asked for something meanwhile.
  void ask_to_leave(const std::string& text, entry& one);
  void stamp(const std::string& which, bool report);
  void stamp_next();
  void stamp_later(const std::string& which, bool report);
  void stop();
  void quit_when_done();

  shard_actor::pointer self_;
  actor_world& world_;
  std::map<std::string, entry> workspaces_;
  std::map<std::string, workspace::remembered> let_go_;
  std::map<caf::actor_addr, workspace_actor> retiring_; // deleted or let go, and not yet ended
  shard_tasks tasks_;
  watch_actor watch_;                     // null: nothing is watched
  std::map<std::string, bool> to_stamp_;  // one at a time, so that those nobody uses cost no more; whether to report it
  std::map<std::string, bool> unstamped_; // could not be stamped, and wait for one pause; as `to_stamp_`
  bool stamping_ = false;
  bool stopping_ = false;
};

using shard_impl = shard_actor::stateful_impl<shard_state>;

} // namespace paddock
