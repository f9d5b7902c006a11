#pragma once

#include "embedded/field_set.hpp"
#include "embedded/resource.hpp"
#include "embedded/status.hpp"

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace paddock::embedded {

// Who has set which fields of an object, as `metadata.managedFields` tells it.

/// Who makes a write. Without a manager nobody is told of, as of the server's own writes.
struct field_author {
  std::string manager;
  std::string subresource = {};
  std::string time = {};
  bool by_view = false; // in the form of the kind's view
};

using manager_identity = std::tuple<bool, std::string_view, std::string_view, std::string_view>;

/// The fields of one manager.
struct manager_entry {
  std::string manager;
  bool applies = false; // by server-side apply; else by other writes
  std::string version;
  std::string subresource;
  std::string time;
  field_set fields;

  /// Who applies is the same in every version. For as long as the entry stays where it is.
  [[nodiscard]] manager_identity identity() const {
    return {applies, manager, applies ? std::string_view{} : std::string_view{version}, subresource};
  }
  [[nodiscard]] bool same_manager(const manager_entry& other) const {
    return identity() == other.identity();
  }
  friend bool operator==(const manager_entry&, const manager_entry&) = default;
};
using managed_fields = std::vector<manager_entry>;

/// Nothing: not in the form.
[[nodiscard]] std::optional<managed_fields> read_managed(const json& entries);
/// In the order of the API: what was applied first, then by time.
[[nodiscard]] json managed_json(managed_fields entries);
/// The same; empty where there is no entry.
[[nodiscard]] std::string managed_text(managed_fields entries);

/// A type as messages name it: `/v1, Kind=Pod`.
[[nodiscard]] std::string qualified_type(std::string_view version, std::string_view kind);

/// Whether both say the same but for the times.
[[nodiscard]] bool same_fields(const managed_fields& a, const managed_fields& b);

/// The manager that a client is who gives itself no name: the User-Agent up to the first slash, of it no more than a name may have.
[[nodiscard]] std::string manager_of(std::string_view user_agent);

/// What an object of the kind that is created is compared with: what the API writes of one in which nothing is set.
[[nodiscard]] json blank_object(const resource_kind& kind);

/// The managers after a write that made `after` of `before`: what is new or other is the author's alone, what is gone is nobody's. Of
/// managers that only updated, the ten latest are kept by name; the fields of older ones are those of `ancient-changes`.
[[nodiscard]] managed_fields after_update(const resource_kind& kind, const json& before, const json& after, managed_fields known,
                                          const field_author& who);

struct applied {
  json object;
  managed_fields managers;
};

/// `config` applied to `live`: what the author applied before and no longer does goes, unless another who applies has it too. Refused
/// where the configuration cannot be of the kind, or another manager has set one of its fields to something else, unless `force`.
[[nodiscard]] api_result<applied> apply_fields(const resource_kind& kind, const json& live, managed_fields known, const json& config,
                                               const field_author& who, bool force);

} // namespace paddock::embedded
