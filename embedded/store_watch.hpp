#pragma once

#include "embedded/store.hpp"

#include <optional>
#include <string>

namespace paddock::embedded {

/// What a watch is about and where it begins.
struct watch_request {
  const resource_kind* kind = nullptr;
  std::string name_space = {}; // empty: all
  selection what = {};
  std::optional<std::uint64_t> from = {}; // absent: the objects as they are now come first, as ADDED
  bool end_of_initial = false;            // a bookmark says where the first objects end
  bool bookmarks = false;
  /// Writes an event's object; empty: as it is stored. `first`: it is the first of the watch.
  std::function<std::string(const json& value, const std::string& text, bool first, store::instant now)> show = {};
};

/// One watch: turns the store's writes into lines. A watcher that is behind costs nothing, because the writes are kept
/// once for all; one that is further behind than they are kept gets the ERROR 410 and ends.
class store_watch {
public:
  /// `from` is not newer than the store's version, else the watch begins with the ERROR 410.
  store_watch(const store& objects, watch_request request);

  /// The next lines, at most about `bytes` of them; empty: nothing has happened since.
  [[nodiscard]] std::string next(std::size_t bytes, store::instant now = {});
  /// A line that says up to where everything was told.
  [[nodiscard]] std::string bookmark(store::instant now = {});
  /// No further line comes.
  [[nodiscard]] bool ended() const noexcept {
    return ended_;
  }
  [[nodiscard]] const watch_request& request() const noexcept {
    return request_;
  }

private:
  [[nodiscard]] std::string expire(std::uint64_t oldest);
  [[nodiscard]] std::string line_of(std::string_view type, const json& value, const std::string& text, store::instant now);
  [[nodiscard]] bool about(const object_ptr& object) const;

  const store& objects_;
  watch_request request_;
  std::vector<object_ptr> initial_;
  std::size_t told_ = 0; // of `initial_`
  bool initial_end_ = false;
  std::uint64_t at_ = 0;
  bool ended_ = false;
  bool first_ = true;
};

} // namespace paddock::embedded
