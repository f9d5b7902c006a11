#include "base/io_failure.hpp"

namespace paddock {

std::string to_string(io_failure::stage at) {
  switch (at) {
    case io_failure::stage::resolve: return "resolve";
    case io_failure::stage::connect: return "connect";
    case io_failure::stage::tls: return "tls";
    case io_failure::stage::send: return "send";
    case io_failure::stage::receive: return "receive";
    case io_failure::stage::protocol: return "protocol";
    case io_failure::stage::too_large: return "too-large";
    case io_failure::stage::timeout: return "timeout";
    case io_failure::stage::cancelled: return "cancelled";
  }
  return "unknown";
}

std::string to_string(const io_failure& x) {
  return to_string(x.at) + ": " + x.text;
}

std::ostream& operator<<(std::ostream& out, const io_failure& x) {
  return out << to_string(x);
}

} // namespace paddock
