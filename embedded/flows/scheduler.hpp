#pragma once

#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"
#include "embedded/scheduler.hpp"

#include <functional>
#include <map>
#include <string>

namespace paddock::embedded {

/// The scheduler: gives each pod without a node to one that has room for it, and says in the pod's status why none has. A pod
/// that found none is looked at again when a node changes, a pod lets go of one, or a claim goes.
class scheduler final : public reconciler {
public:
  /// `only_node`: where there is no Node object, every pod goes to the node of that name; empty: then none does.
  scheduler(control_client& client, informer_set& watched, std::string only_node, boost::asio::any_io_executor lane,
            std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;
  void pod_changed(const object_change& change);
  void look_at_waiting();
  bool is_news(const std::string& key, const std::string& why);
  void count(const nlohmann::json& pod, const std::string& node);
  void uncount(const std::string& uid);
  [[nodiscard]] std::variant<std::string, unschedulable> choose(const nlohmann::json& pod) const;

  control_client& client_;
  informer& pods_;
  informer& nodes_;
  informer& claims_;
  std::string only_node_;
  std::map<std::string, std::pair<std::string, node_amounts>> placed_; // pod uid -> where, and what it holds there
  std::map<std::string, node_amounts> used_;                           // by node
  std::map<std::string, std::string> said_unfit_;                      // pod -> why it has no node
};

} // namespace paddock::embedded
