#pragma once

#include "actors/node_tasks.hpp"
#include "actors/shard.hpp"
#include "actors/watch.hpp"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace paddock {

/// The NODE (messages/interfaces.hpp): the shard map, and the inventories that are being read.
class node_state {
public:
  static inline const char* name = "paddock.node";
  node_state(node_actor::pointer self, actor_world& world, node_info about);
  ~node_state();
  node_state(const node_state&) = delete;
  node_state& operator=(const node_state&) = delete;
  node_actor::behavior_type make_behavior();

private:
  template <class T>
  using promise = caf::typed_response_promise<T>;
  using seen_list = workspace::result<std::vector<workspace::summary>>;
  using seen_one = workspace::result<workspace::summary>;

  /// The SHARD of a workspace, or a refusal of the id.
  [[nodiscard]] tl::expected<shard_actor, caf::error> shard_of(const std::string& which) const;
  template <class T, class... Ts>
  caf::result<T> pass(std::string which, Ts... xs);
  caf::result<workspace_view> get(const std::string& which, caf::timespan budget);
  caf::result<std::vector<workspace_view>> list(caf::timespan budget);
  void add_sessions(promise<std::vector<workspace_view>> to, const std::vector<workspace::summary>& seen);
  caf::result<node_info> info();
  caf::result<task_actor> acquire(task_spec what, const task_holder_actor& holder, caf::timespan budget);
  void land(std::uint64_t ticket, const landed& x);
  void start_shard(shard_actor& slot);
  void start_watch();
  void ask_for_stamps();
  void stamp(const std::string& sandbox, bool came_so);
  void watch_down();
  void down(const caf::down_msg& x);
  void stop();
  [[nodiscard]] deadline within(caf::timespan budget) const;

  node_actor::pointer self_;
  actor_world& world_;
  node_info about_;
  std::vector<shard_actor> shards_;
  watch_actor watch_; // of the Sandboxes of the namespace; null: none, or it is down
  int watch_crashes_ = 0;
  time_source::clock::time_point watch_started_{};
  std::map<std::uint64_t, std::variant<promise<workspace_view>, promise<std::vector<workspace_view>>>> reading_;
  node_tasks tasks_;
  bool stopping_ = false;
};

using node_impl = node_actor::stateful_impl<node_state>;

} // namespace paddock
