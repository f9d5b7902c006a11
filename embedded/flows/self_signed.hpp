#pragma once

#include <tl/expected.hpp>

#include <string>

namespace paddock::embedded {

/// A certificate that is its own authority, and its key, as PEM.
struct self_signed {
  std::string certificate;
  std::string key; // secret
};

/// Makes one for a server at `address` (digits) and `localhost`, with a fresh key. The failure is a text for people.
[[nodiscard]] tl::expected<self_signed, std::string> make_self_signed(const std::string& address);

} // namespace paddock::embedded
