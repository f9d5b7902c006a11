#pragma once

#include "k8s/object_cache.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::embedded {

/// One object as it was and as it is; one of both is absent when it came or went. Never both absent.
struct object_change {
  std::shared_ptr<const nlohmann::json> before;
  std::shared_ptr<const nlohmann::json> after;
};

/// A `k8s::object_cache` of whole objects that also finds them by uid and by owner.
class object_cache {
public:
  using object = std::shared_ptr<const nlohmann::json>;

  /// As those of `k8s::object_cache`.
  std::vector<object_change> replace(std::vector<k8s::kept> all, const std::string& version, bool anew = false);
  std::vector<object_change> apply(k8s::watch_event::kind how, k8s::kept what);
  std::vector<object_change> took(nlohmann::json answer); // no object: ignored
  void advance(const std::string& version);

  [[nodiscard]] static k8s::kept keep(nlohmann::json what);
  [[nodiscard]] const std::string& version() const noexcept {
    return known_.version();
  }
  [[nodiscard]] object find(const std::string& name_space, const std::string& name) const;
  [[nodiscard]] object find_uid(const std::string& uid) const;
  /// The objects that name `uid` among their owners.
  [[nodiscard]] std::vector<object> owned_by(const std::string& uid) const;
  [[nodiscard]] std::vector<object> all() const;

private:
  std::vector<object_change> index(const std::vector<k8s::kept_change>& changes);

  k8s::object_cache known_;
  std::map<std::string, object> uids_;
  std::multimap<std::string, object> owners_; // owner uid -> dependants
};

} // namespace paddock::embedded
