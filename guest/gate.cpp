#include "guest/gate.hpp"

namespace paddock::guest {

namespace {

bool same(const sha256_digest& a, const sha256_digest& b) {
  auto difference = unsigned{0};
  for (auto i = std::size_t{0}; i < a.size(); ++i)
    difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

} // namespace

credential_gate::credential_gate(const std::optional<secret>& preset, bool first_use) : first_use_(first_use) {
  if (preset)
    expected_ = sha256(preset->reveal());
}

bool credential_gate::admit(const std::optional<std::string>& token) {
  if (open())
    return true;
  if (!token || token->empty())
    return false;
  auto presented = sha256(*token);
  if (!expected_)
    expected_ = presented;
  return same(*expected_, presented);
}

std::optional<preauth_pool::connection_id> preauth_pool::join(connection_id who) {
  auto evicted = std::optional<connection_id>{};
  if (!held_.empty() && held_.size() >= max_connections_)
    evicted = held_.begin()->first;
  held_.emplace(who, 0);
  return evicted;
}

bool preauth_pool::charge(connection_id who, std::uint64_t bytes) {
  auto at = held_.find(who);
  if (at == held_.end())
    return true;
  bytes_ = bytes_ - at->second + bytes;
  at->second = bytes;
  return bytes_ <= max_bytes_;
}

void preauth_pool::leave(connection_id who) {
  auto at = held_.find(who);
  if (at == held_.end())
    return;
  bytes_ -= at->second;
  held_.erase(at);
}

} // namespace paddock::guest
