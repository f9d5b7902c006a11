#pragma once

#include "embedded/resource.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

/// One thing that is wrong with an object: what kind of fault (`FieldValueInvalid`), in words, and where.
struct status_cause {
  std::string reason; // empty: not written
  std::string message;
  std::string field; // empty: not written
  friend bool operator==(const status_cause&, const status_cause&) = default;
};

struct status_details {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<status_cause> causes;
  std::optional<int> retry_after; // seconds; also the header Retry-After
};

/// A refusal as the API words it. Texts, reasons and details are those that a real server was seen to answer.
struct api_status {
  unsigned code = 500;
  std::string reason; // empty: not written
  std::string message;
  std::optional<status_details> details; // absent: not written; empty: `{}`
  std::string next = {};                 // a token for the rest of a list
};

template <class T>
using api_result = tl::expected<T, api_status>;

/// The body of the answer, members in the server's order.
[[nodiscard]] nlohmann::ordered_json to_json(const api_status& x);

// -- causes -------------------------------------------------------------------------------------------------------

[[nodiscard]] status_cause field_required(std::string field, std::string_view detail = {});
/// `value` is JSON text: a quoted string, a number.
[[nodiscard]] status_cause field_invalid(std::string field, std::string_view value, std::string_view detail);
[[nodiscard]] status_cause field_type_invalid(std::string field, std::string_view value, std::string_view detail);
[[nodiscard]] status_cause field_unsupported(std::string field, std::string_view value, const std::vector<std::string>& supported);
[[nodiscard]] status_cause field_forbidden(std::string field, std::string_view detail);

// -- refusals -----------------------------------------------------------------------------------------------------

[[nodiscard]] api_status bad_request(std::string message);
[[nodiscard]] api_status unauthorized();
[[nodiscard]] api_status not_found(const resource_kind& kind, std::string_view name);
[[nodiscard]] api_status method_not_allowed();
/// There is nothing at the path, below a group that is served.
[[nodiscard]] api_status not_served();
[[nodiscard]] api_status not_acceptable();
[[nodiscard]] api_status already_exists(const resource_kind& kind, std::string_view name, bool terminating);
/// The resourceVersion of an update is not the stored one.
[[nodiscard]] api_status conflict_modified(const resource_kind& kind, std::string_view name);
/// A PUT carries the uid of another object.
[[nodiscard]] api_status conflict_uid(const resource_kind& kind, std::string_view name_space, std::string_view name,
                                      std::string_view wanted, std::string_view recorded);
[[nodiscard]] api_status conflict(const resource_kind& kind, std::string_view subresource, std::string_view name, std::string_view why);
/// A precondition of a DELETE does not hold.
[[nodiscard]] api_status failed_uid_precondition(const resource_kind& kind, std::string_view name, std::string_view wanted,
                                                 std::string_view recorded);
[[nodiscard]] api_status failed_version_precondition(const resource_kind& kind, std::string_view name, std::string_view wanted,
                                                     std::string_view recorded);
/// A write that is never admitted.
[[nodiscard]] api_status forbidden(const resource_kind& kind, std::string_view name, std::string_view why);
/// Nothing is made any more in a namespace on its way out.
[[nodiscard]] api_status namespace_ends(const resource_kind& kind, std::string_view name, std::string_view name_space);
[[nodiscard]] api_status expired(std::string message);
/// The list that a token continues is no longer known. `token` goes on with the objects as they are now.
[[nodiscard]] api_status expired_token(std::string token);
[[nodiscard]] api_status too_large();
[[nodiscard]] api_status unsupported_body_type();
[[nodiscard]] api_status unsupported_patch_type(bool custom);
/// The type of a server-side apply.
inline constexpr auto apply_patch_type = "application/apply-patch+yaml";
/// The object is invalid for `causes`. `qualified_kind` is `Sandbox.agents.x-k8s.io` or `Pod`.
[[nodiscard]] api_status invalid(std::string_view group, std::string_view kind, std::string_view name, std::vector<status_cause> causes);
[[nodiscard]] api_status invalid(const resource_kind& kind, std::string_view name, std::vector<status_cause> causes);
/// An operation of a JSON patch failed. Says neither which nor why.
[[nodiscard]] api_status failed_patch();
[[nodiscard]] api_status internal_error(std::string_view what);
[[nodiscard]] api_status too_many_requests();
/// A list is asked for at a version that is not there yet.
[[nodiscard]] api_status version_too_new(std::uint64_t wanted, std::uint64_t current);

} // namespace paddock::embedded
