#pragma once

#include "remoting/tls.hpp"

#include <caf/actor_system_config.hpp>

namespace paddock {

/// The actor system of our programs: middleman and TLS loaded, the `sharing` policy, a dead peer noticed within 3 s.
/// CAF aborts the process on an unreadable certificate file, so `check` comes first.
class actor_config : public caf::actor_system_config {
public:
  actor_config(const remoting_tls& tls, std::size_t threads);
};

} // namespace paddock
