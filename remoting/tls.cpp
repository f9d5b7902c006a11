#include "remoting/tls.hpp"

#include <fstream>

namespace paddock {

std::string check(const remoting_tls& tls) {
  if (tls.certificate.empty() && tls.key.empty() && tls.ca.empty())
    return {};
  if (tls.certificate.empty() || tls.key.empty() || tls.ca.empty())
    return "tls-certificate, tls-key and tls-ca come together: without all three the peer would not be verified";
  for (const auto& file : {tls.certificate, tls.key, tls.ca})
    if (!std::ifstream{file}.good())
      return "cannot read " + file;
  return {};
}

} // namespace paddock
