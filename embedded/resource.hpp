#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

/// One kind of object that the server keeps, and the few ways in which kinds differ for the store.
struct resource_kind {
  std::string_view group = {}; // empty: the core group
  std::string_view version;
  std::string_view plural;
  std::string_view singular;
  std::string_view short_names = {}; // joined by commas, as the categories
  std::string_view kind;
  std::string_view categories = {};
  bool namespaced = true;
  bool has_status = false;      // there is a subresource `status`, and writes to the object leave its status alone
  bool has_scale = false;       // there is a subresource `scale`: `spec.replicas`, `status.replicas`, `status.selector`
  bool has_generation = false;  // `metadata.generation` is kept
  bool custom = false;          // defined by a CRD: an update needs a resourceVersion, other messages
  bool label_name = false;      // names are DNS labels and not DNS subdomains
  bool returns_deleted = false; // a DELETE that ends at once returns the object and not a Status
  bool path_name = false;       // names are whatever fits into a path and not DNS subdomains
  bool asks = false;            // made to ask something: answered at once and never stored
  bool conditional = false;     // an update needs a resourceVersion, as for a custom kind
  bool read_only = false;       // made by the server alone
  bool optional = false;        // served where that is asked for
  bool view = false;            // the same objects as those of the core kind of its name, in another form
  bool collected = false;       // the garbage collector looks after it: what it owns, and who owns it

  /// `agents.x-k8s.io/v1beta1`, or `v1` for the core group.
  [[nodiscard]] std::string api_version() const;
  /// `sandboxes.agents.x-k8s.io`, or `pods`.
  [[nodiscard]] std::string qualified_plural() const;
  /// `Sandbox.agents.x-k8s.io`, or `Pod`.
  [[nodiscard]] std::string qualified_kind() const;
};

/// Every kind that can be served, groups together. The references stay valid for the life of the program.
[[nodiscard]] std::span<const resource_kind> served_kinds();

/// The kind, or nullptr when it is not served (a CRD that is not installed).
[[nodiscard]] const resource_kind* find_kind(std::string_view group, std::string_view version, std::string_view plural);

/// The kind as which its objects are kept: itself, unless it is a view.
[[nodiscard]] const resource_kind& kept_as(const resource_kind& kind);

/// The words of a list that is joined by commas.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view list);

// -- paths --------------------------------------------------------------------------------------------------------

using query_map = std::multimap<std::string, std::string>; // equal keys as they were given

/// A request target taken apart: the decoded segments of the path and the query. Of a parameter given twice the first
/// counts, unless all its values are asked for. Nothing: a `%` that is not followed by two hex digits, or a segment that decodes to
/// something with `/` or NUL.
struct request_target {
  std::string path; // as it came, without the query
  std::vector<std::string> segments;
  query_map query;

  [[nodiscard]] std::string query_text(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> query_texts(const std::string& key) const;
  /// True for `1`, `true` and the other words that the server takes for it.
  [[nodiscard]] bool query_flag(const std::string& key) const;
};
[[nodiscard]] std::optional<request_target> parse_target(std::string_view target);

/// Which objects a path names.
struct resource_path {
  const resource_kind* kind = nullptr;
  std::string name_space;  // empty: a cluster-wide kind, or all namespaces
  std::string name;        // empty: the collection
  std::string subresource; // empty: the object itself
};

/// Nothing: the path names no kind that is served.
[[nodiscard]] std::optional<resource_path> parse_resource_path(std::span<const std::string> segments);

} // namespace paddock::embedded
