#pragma once

#include <string>

namespace paddock {

/// `host` as it stands before a colon and a port: an IPv6 address in brackets, everything else as it is.
[[nodiscard]] inline std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

} // namespace paddock
