#pragma once

#include "base/flows/flow_group.hpp"
#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace paddock::embedded {

/// The names of the controllers: of agent-sandbox, the scheduler, and those that a real cluster's kube-controller-manager runs.
namespace controller_names {
inline constexpr auto sandbox = "sandbox";
inline constexpr auto claim = "sandboxclaim";
inline constexpr auto pool = "sandboxwarmpool";
inline constexpr auto template_ = "sandboxtemplate";
inline constexpr auto scheduler = "scheduler";
inline constexpr auto garbage = "garbagecollector";
inline constexpr auto protection = "pvc-protection";
inline constexpr auto name_space = "namespace";
inline constexpr auto account = "serviceaccount";
} // namespace controller_names

[[nodiscard]] std::set<std::string> all_controllers();
/// Those that a cluster with a kube-controller-manager of its own lacks.
[[nodiscard]] std::set<std::string> controllers_beside_a_manager();

struct controllers_options {
  std::set<std::string> run = all_controllers();
  std::string home = "agent-sandbox-system"; // the namespace of the claim controller's configuration
  std::string only_node;                     // takes every pod while there is no Node object; empty: none does
  std::function<void(std::string)> log;
};

/// The controllers of one process, each one pass at a time. For one lane.
class controllers {
public:
  /// Before `watched.start()`.
  controllers(control_client& client, informer_set& watched, boost::asio::any_io_executor lane, const controllers_options& options);
  void start();
  /// Ends them, then calls `ended` once.
  void close(std::function<void()> ended);

private:
  void add(control_client& client, std::unique_ptr<reconciler> one, const char* component);

  boost::asio::any_io_executor lane_;
  std::vector<std::unique_ptr<reconciler>> all_;
  std::vector<std::unique_ptr<event_recorder>> recorders_;
  flow_group flows_;
};

} // namespace paddock::embedded
