#pragma once

#include "k8s/watch_event.hpp"

#include <nlohmann/json.hpp>

#include <compare>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace paddock::k8s {

struct object_key {
  std::string name_space; // empty: the object belongs to no namespace
  std::string name;
  friend auto operator<=>(const object_key&, const object_key&) = default;
};

/// One object as it was told, or as much of it as is read. Never changes.
class kept_object {
public:
  /// `whole` is quick to read again and again; `packed` takes a fraction of the memory.
  enum class form { whole, packed };

  /// @pre `object` has a name, a uid and a resourceVersion, as those of a `watch_event` and a `list_page` have
  kept_object(nlohmann::json object, form how);

  [[nodiscard]] const object_key& key() const noexcept {
    return key_;
  }
  [[nodiscard]] const std::string& uid() const noexcept {
    return uid_;
  }
  [[nodiscard]] const std::string& version() const noexcept {
    return version_;
  }
  [[nodiscard]] std::shared_ptr<const nlohmann::json> open() const;

private:
  object_key key_;
  std::string uid_;
  std::string version_;
  std::string packed_;
  std::shared_ptr<const nlohmann::json> whole_; // null: it is packed
};

using kept = std::shared_ptr<const kept_object>;

/// One object as it was and as it is; one of both is absent when it came or went. Never both absent.
struct kept_change {
  kept before;
  kept after;
};

/// The objects of one collection as lists and a watch tell them, and as answers to writes of our own told them before the
/// watch did. Each telling answers what it changes: nothing is told twice, and what is older than what is known changes
/// nothing. An object of another uid under a known name is a removal and an arrival.
class object_cache {
public:
  /// A whole list, taken at `version`; what is known and not listed is gone. An object that our own write told after that
  /// version stays. `anew`: versions have begun again, and only the list counts.
  std::vector<kept_change> replace(std::vector<kept> all, const std::string& version, bool anew = false);
  /// One event of the watch that is not a bookmark.
  std::vector<kept_change> apply(watch_event::kind what, kept object);
  /// The answer to a write. Ignored when the watch is already past it.
  std::vector<kept_change> took(kept answer);
  /// The watch is at `version` (a bookmark).
  void advance(const std::string& version);

  [[nodiscard]] const std::string& version() const noexcept {
    return version_;
  }
  [[nodiscard]] kept find(const object_key& which) const;
  /// In the order of their keys.
  [[nodiscard]] std::vector<kept> all() const;
  [[nodiscard]] std::size_t size() const noexcept {
    return objects_.size();
  }

private:
  struct by_key {
    using is_transparent = void;
    bool operator()(const kept& a, const kept& b) const {
      return a->key() < b->key();
    }
    bool operator()(const kept& a, const object_key& b) const {
      return a->key() < b;
    }
    bool operator()(const object_key& a, const kept& b) const {
      return a < b->key();
    }
  };
  void put(kept what, bool anew, std::vector<kept_change>& to);

  std::set<kept, by_key> objects_;
  std::string version_;
};

} // namespace paddock::k8s
