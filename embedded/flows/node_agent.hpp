#pragma once

#include "embedded/flows/control_client.hpp"
#include "embedded/node_status.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace paddock::embedded {

/// What this machine is, for a node of that name with its data in `folder`.
[[nodiscard]] node_facts read_node_facts(std::string name, const std::filesystem::path& folder);

/// Keeps the Node object and its Lease: makes them when they are missing, renews the Lease every 10 s and the status every
/// five minutes. A server without these kinds is asked again every minute.
class node_agent {
public:
  node_agent(control_client& client, node_facts facts, std::function<void(std::string)> log);
  /// Runs until cancelled.
  boost::asio::awaitable<void> run();
  /// Whether the Node says what this machine is.
  [[nodiscard]] bool registered() const noexcept {
    return registered_;
  }

private:
  boost::asio::awaitable<bool> register_node();
  boost::asio::awaitable<bool> renew();
  void complain(const std::string& what);

  control_client& client_;
  node_facts facts_;
  std::function<void(std::string)> log_;
  nlohmann::json node_;
  bool registered_ = false;
  bool unknown_kind_ = false;
  std::string said_; // the latest failure that was logged
};

} // namespace paddock::embedded
