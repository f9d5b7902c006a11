#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace paddock::k8s {

/// One thing that a watch says. `object` has a resourceVersion and, but for a bookmark, a name and a uid.
struct watch_event {
  enum class kind { added, modified, deleted, bookmark };
  kind what = kind::bookmark;
  nlohmann::json object;
};
[[nodiscard]] std::string_view to_string(watch_event::kind x); // as on the wire: `ADDED`, …

/// The server no longer knows the version that was asked for (ERROR 410): what happened since is told by a list only.
struct watch_expired {
  std::string message; // the server's
};

/// Any other ERROR of the server.
struct watch_refused {
  unsigned code = 0; // 0: it names none
  std::string reason;
  std::string message;
  std::optional<std::chrono::seconds> retry_after;
};

/// What came is nothing that a watch says. What it meant is lost, so a list must follow.
struct watch_unreadable {
  enum class fault {
    too_long,     // a line beyond the bound
    not_json,     // a line that is not JSON, or deeper than any object of the API
    not_an_event, // JSON of another shape
    no_identity,  // an object without version, name or uid
  };
  fault what = fault::not_json;
};

using watch_fault = std::variant<watch_expired, watch_refused, watch_unreadable>;

/// For people.
[[nodiscard]] std::string to_string(const watch_fault& x);

/// Cuts the bytes of a watch into events. At most one line is kept, and never more than `longest_line` bytes beyond what
/// `take` was last given. A line counts once its end has come: what a cut connection leaves behind is no event.
class watch_decoder {
public:
  static constexpr std::size_t default_longest_line = std::size_t{8} * 1024 * 1024; // etcd refuses objects above 1.5 MiB

  explicit watch_decoder(std::size_t longest_line = default_longest_line);

  /// The next bytes, cut anywhere.
  void take(std::string_view bytes);
  /// The next event or fault, or nothing until more bytes come. After a fault there is nothing more.
  [[nodiscard]] std::optional<tl::expected<watch_event, watch_fault>> next();

private:
  tl::unexpected<watch_fault> end_with(watch_fault why);

  std::size_t longest_line_;
  std::string bytes_;
  std::size_t begin_ = 0;   // of the line that is read
  std::size_t scanned_ = 0; // no line ends before
  bool over_ = false;
};

} // namespace paddock::k8s
