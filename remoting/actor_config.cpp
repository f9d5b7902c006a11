#include "remoting/actor_config.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

namespace paddock {

actor_config::actor_config(const remoting_tls& tls, std::size_t threads) {
  load<caf::io::middleman>();
  load<caf::openssl::manager>();
  set("caf.scheduler.policy", "sharing");
  set("caf.scheduler.max-threads", threads);
  set("caf.middleman.heartbeat-interval", caf::timespan{std::chrono::seconds{1}});
  set("caf.middleman.connection-timeout", caf::timespan{std::chrono::seconds{3}});
  set("caf.logger.console.verbosity", "quiet");
  set("caf.logger.file.verbosity", "quiet");
  if (tls.wanted()) {
#if CAF_MAJOR_VERSION >= 1
    set("caf.openssl.certificate", tls.certificate);
    set("caf.openssl.key", tls.key);
    set("caf.openssl.cafile", tls.ca);
#else
    openssl_certificate = tls.certificate;
    openssl_key = tls.key;
    openssl_cafile = tls.ca;
#endif
  }
}

} // namespace paddock
