#pragma once

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

/// What is wrong with the files, or nothing: each must be readable, and all three must be given. CAF's TLS without certificates
/// would be anonymous and unverified.
[[nodiscard]] std::string check(const remoting_tls& tls);

} // namespace paddock
