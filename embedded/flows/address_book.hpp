#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace paddock::embedded {

/// Gives each pod of this machine a loopback address of its own. For one lane.
class address_book {
public:
  /// `wish` if it is a pod's address and free, else a random one on which `port` can be bound; the last of a thousand where
  /// none can.
  [[nodiscard]] std::string take(const std::string& wish, std::uint16_t port);
  void release(const std::string& address);

private:
  std::set<std::string> taken_;
};

} // namespace paddock::embedded
