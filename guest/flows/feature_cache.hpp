#pragma once

#include "guest/identity.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace paddock::guest {

/// The features that guests have advertised, by endpoint: address, port and token, so that a new pod at an old address is
/// asked anew; and pin, so that a pinned call is sent only after its own guest was asked. Holds at most `most`; the oldest goes first.
/// Thread-safe.
class feature_cache {
public:
  explicit feature_cache(std::size_t most) : most_(most) {
  }
  [[nodiscard]] std::optional<std::vector<std::string>> find(const endpoint& where) const;
  void keep(const endpoint& where, std::vector<std::string> features);
  [[nodiscard]] std::size_t size() const;

private:
  using key = std::tuple<std::string, std::uint16_t, std::string, std::string>;
  static key key_of(const endpoint& where);

  std::size_t most_;
  mutable std::mutex lock_;
  std::map<key, std::vector<std::string>> known_;
  std::deque<key> order_;
};

} // namespace paddock::guest
