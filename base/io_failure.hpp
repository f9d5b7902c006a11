#pragma once

#include <tl/expected.hpp>

#include <ostream>
#include <string>

namespace paddock {

/// A transport that failed. `sent` decides what a caller may say about a request: while it is false no byte of the
/// request left this process, so nothing can have happened; once true, nobody knows ([W] P13).
struct io_failure {
  enum class stage {
    resolve,   // the name has no address
    connect,   // nobody listens, or the connection was refused or ran out of time
    tls,       // the handshake failed, or the peer is not who it must be
    send,      // while writing the request
    receive,   // the peer closed or reset before the answer was whole
    protocol,  // the peer's bytes are not what the protocol allows
    too_large, // a bound on a header or body was exceeded
    timeout,   // the deadline passed
    cancelled, // the caller withdrew
  };
  stage at = stage::connect;
  bool sent = false;
  std::string text;       // for people; carries no secret
  bool temporary = false; // of stage `resolve`: the resolver did not know now, and may know later
};

template <class T>
using io_result = tl::expected<T, io_failure>;

[[nodiscard]] std::string to_string(io_failure::stage at);
[[nodiscard]] std::string to_string(const io_failure& x);
std::ostream& operator<<(std::ostream& out, const io_failure& x);

} // namespace paddock
