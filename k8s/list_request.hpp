#pragma once

#include "k8s/call.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::k8s {

/// Which objects: the path of a collection ([C] 2.2) and, where not all of it, selectors as the API writes them.
struct selection {
  std::string collection;
  std::string label_selector{};
  std::string field_selector{};
};

/// One page of a list. Without a version it is the present state.
struct list_request {
  enum class match { unset, not_older_than, exact };
  selection what;
  std::size_t limit = 0; // 0: everything at once
  std::string more{};    // the `continue` token of the page before; it carries the version, which is then not sent
  std::string version{};
  match how = match::unset; // what `version` means
};
[[nodiscard]] call to_call(const list_request& x);

/// A watch of what happens after `version`.
struct watch_request {
  selection what;
  std::string version{};
  bool bookmarks = true;
  std::chrono::seconds timeout{0}; // after which the server ends it; 0: its own choice
};
[[nodiscard]] call to_call(const watch_request& x);

/// What a page holds. Each item says what it is, as an object of a watch does: items of a list need not, the list does.
struct list_page {
  std::vector<nlohmann::json> items;
  std::string version;
  std::string more; // empty: this is the last page
};

/// The failure says what is missing of it: a list without `items` or version cannot be told from an empty collection.
[[nodiscard]] tl::expected<list_page, std::string> read_page(nlohmann::json answer);

/// A resourceVersion as the number that it is on every API server since etcd; nothing for any other text. Versions of one
/// collection grow with every change of it.
[[nodiscard]] std::optional<std::uint64_t> version_number(std::string_view text);

/// Whether both are numbers and `a` came before `b`.
[[nodiscard]] bool older_version(std::string_view a, std::string_view b);

} // namespace paddock::k8s
