#pragma once

#include "embedded/object.hpp"
#include "embedded/resource.hpp"
#include "embedded/status.hpp"

namespace paddock::embedded {

/// What came with a request.
struct sent_object {
  json value;
  std::vector<std::string> twice = {}; // `duplicate field "metadata.name"`, in the order of the text
};

/// Reads the object of a request that creates or replaces one, as JSON or YAML, or as protobuf unless it is `named`. `type` names it in
/// messages. With `named`, it must say its own kind. @note A body that is too large is refused before.
[[nodiscard]] api_result<sent_object> read_body(std::string_view type, bool named, std::string_view content_type, const std::string& body);

/// The same for an object of a kind; a built-in one may leave out what the path says already.
[[nodiscard]] api_result<sent_object> read_body(const resource_kind& kind, std::string_view content_type, const std::string& body);

/// Refuses what a strict decoder does not take.
[[nodiscard]] api_status not_strict(std::string_view version, std::string_view kind, const std::vector<std::string>& complaints);

} // namespace paddock::embedded
