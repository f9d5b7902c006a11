#pragma once

#include "remoting/tls.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace paddock::client {

/// How to reach a node, and how long its verbs may take.
struct options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 7330;
  std::chrono::nanoseconds budget = std::chrono::minutes{2}; // of each verb that is given no other
  remoting_tls tls;                                          // for a node beyond loopback
};

} // namespace paddock::client
