#include "guest/flows/feature_cache.hpp"

namespace paddock::guest {

feature_cache::key feature_cache::key_of(const endpoint& where) {
  return {where.host, where.port, where.token.reveal(), where.pinned ? where.pinned->text() : std::string{}};
}

std::optional<std::vector<std::string>> feature_cache::find(const endpoint& where) const {
  const auto guard = std::lock_guard{lock_};
  const auto found = known_.find(key_of(where));
  return found == known_.end() ? std::nullopt : std::optional{found->second};
}

void feature_cache::keep(const endpoint& where, std::vector<std::string> features) {
  const auto guard = std::lock_guard{lock_};
  auto name = key_of(where);
  const auto known = known_.find(name);
  if (known != known_.end()) {
    known->second = std::move(features);
    return;
  }
  while (!order_.empty() && order_.size() >= most_) {
    known_.erase(order_.front());
    order_.pop_front();
  }
  if (most_ == 0)
    return;
  order_.push_back(name);
  known_.emplace(std::move(name), std::move(features));
}

std::size_t feature_cache::size() const {
  const auto guard = std::lock_guard{lock_};
  return known_.size();
}

} // namespace paddock::guest
