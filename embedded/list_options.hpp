#pragma once

#include "embedded/resource.hpp"
#include "embedded/store.hpp"

namespace paddock::embedded {

/// Where a list goes on, as clients carry it.
struct list_cursor {
  std::uint64_t version = 0;            // of the list that it continues; 0: of the objects as they are now
  list_key after;                       // the last object that was told
  std::optional<std::size_t> left = {}; // how many stood behind it at that version, where they were counted
};
[[nodiscard]] std::string to_token(const list_cursor& x, const std::string& name_space);
/// The failure is the rest of a message.
[[nodiscard]] tl::expected<list_cursor, std::string> read_token(const std::string& text, const std::string& name_space);

/// What a request says of a list.
struct list_parameters {
  selection what = {};
  std::size_t limit = 0;                      // 0: none
  std::optional<std::uint64_t> exactly = {};  // the version to list at; absent: as it is now
  std::optional<std::uint64_t> at_least = {}; // a version that must have been reached
  std::optional<list_cursor> from = {};
};
[[nodiscard]] api_result<list_parameters> read_list_parameters(const resource_kind& kind, const std::string& name_space,
                                                               const request_target& target);

/// What a request says of a watch.
struct watch_parameters {
  selection what = {};
  std::optional<std::uint64_t> from = {}; // absent: from what is there now
  bool initial = true;                    // without `from`: what is there comes first
  bool end_of_initial = false;            // a bookmark ends that
  bool bookmarks = false;
  std::optional<std::uint64_t> at_least = {};
  std::optional<std::chrono::seconds> timeout = {};
};
[[nodiscard]] api_result<watch_parameters> read_watch_parameters(const resource_kind& kind, const request_target& target);

[[nodiscard]] api_result<selection> read_selection(const resource_kind& kind, const request_target& target);

} // namespace paddock::embedded
