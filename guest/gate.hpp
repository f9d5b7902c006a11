#pragma once

#include "base/hash.hpp"
#include "base/secret.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace paddock::guest {

/// Decides who may ask ([G] 2.1, 2.2). It keeps digests only; the comparison takes the same time whatever the tokens are.
class credential_gate {
public:
  /// A preset token; or, without one, the first that is presented (`first_use`) or nothing at all.
  credential_gate(const std::optional<secret>& preset, bool first_use);

  /// No gate, and none of the limits that go with it.
  [[nodiscard]] bool open() const noexcept {
    return !expected_ && !first_use_;
  }

  /// Whether the bearer of `token` may ask. On first use a token that is present and not empty becomes the token for
  /// good.
  [[nodiscard]] bool admit(const std::optional<std::string>& token);

private:
  std::optional<sha256_digest> expected_;
  bool first_use_;
};

/// The connections that have not authenticated, oldest first, and what they hold ([G] 2.4).
class preauth_pool {
public:
  using connection_id = std::uint64_t; // ascending in order of arrival

  preauth_pool(std::uint64_t max_connections, std::uint64_t max_bytes) : max_connections_(max_connections), max_bytes_(max_bytes) {
  }

  /// Answers who has to go for the newcomer: the oldest, when the pool is full. The caller makes it leave.
  [[nodiscard]] std::optional<connection_id> join(connection_id who);

  /// `who` now holds `bytes`. False: that is more than all may hold together.
  [[nodiscard]] bool charge(connection_id who, std::uint64_t bytes);

  void leave(connection_id who);

  [[nodiscard]] std::size_t size() const noexcept {
    return held_.size();
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return bytes_;
  }

private:
  std::map<connection_id, std::uint64_t> held_;
  std::uint64_t bytes_ = 0;
  std::uint64_t max_connections_;
  std::uint64_t max_bytes_;
};

} // namespace paddock::guest
