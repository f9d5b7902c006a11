#pragma once

#include "embedded/store.hpp"
#include "embedded/watch_form.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace paddock::embedded {

/// What a watch is about and where it begins.
struct watch_request {
  const resource_kind* kind = nullptr;
  std::string name_space = {}; // empty: all
  selection what = {};
  std::optional<std::uint64_t> from = {}; // absent: the objects as they are now come first, as ADDED
  bool end_of_initial = false;            // a bookmark says where the first objects end
  bool bookmarks = false;
  std::optional<watch_form> form = {}; // absent: objects are told as they are stored
};

/// One watch: turns the store's writes into lines. A watcher that is behind costs nothing, because the writes are kept
/// once for all; one that is further behind than they are kept gets the ERROR 410 and ends. Objects in a form are
/// written once for all watches that share `forms`.
class store_watch {
public:
  /// A version in the request that is newer than the store's begins the watch with the ERROR 410. `forms` outlives the watch; null: it
  /// shares with none.
  store_watch(const store& objects, watch_request request, shown_objects* forms = nullptr);

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
  void expire(std::string& out);
  void tell(const store_event& event, store::instant now, std::string& out);
  void tell(std::string_view type, const std::string& text, store::instant now, std::string& out);
  [[nodiscard]] bool about(const list_key& at, const object_ptr& object) const;

  const store& objects_;
  shown_objects* forms_;
  watch_request request_;
  std::vector<object_ptr> initial_;
  std::size_t told_ = 0; // of `initial_`
  bool initial_end_ = false;
  std::uint64_t at_ = 0;
  bool ended_ = false;
  bool first_ = true;
};

} // namespace paddock::embedded
