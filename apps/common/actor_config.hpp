#pragma once

#include <caf/actor_system_config.hpp>

#include <string>

namespace paddock {

/// PEM files for remoting over TLS with client certificates: all three, or none.
struct remoting_tls {
  std::string certificate;
  std::string key;
  std::string ca;
  [[nodiscard]] bool wanted() const {
    return !certificate.empty();
  }
};

/// The actor system of our programs: middleman and TLS loaded, the `sharing` policy, a dead peer noticed within 3 s.
/// Registers the message types. CAF aborts the process on an unreadable certificate file, so `check` comes first.
class actor_config : public caf::actor_system_config {
public:
  actor_config(const remoting_tls& tls, std::size_t threads);
};

/// What is wrong with the files, or nothing: each must be readable, and all three must be given. CAF's TLS without certificates
/// would be anonymous and unverified.
[[nodiscard]] std::string check(const remoting_tls& tls);

} // namespace paddock
