#pragma once

#include "embedded/store.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>

namespace paddock::embedded {

struct discovery {
  nlohmann::ordered_json document;
  std::string content_type = "application/json";
};

/// What the server says about the kinds that it serves: `/api`, `/apis`, `/apis/GROUP`, `/api/v1` and `/apis/GROUP/VERSION`; also
/// `/openapi/v3` and what it points to. With `aggregated`, the first two tell all at once. Nothing: another path.
[[nodiscard]] std::optional<discovery> discover(std::span<const std::string> segments, const store& objects, bool aggregated);

/// What stands below an object of the kind.
struct subresource {
  std::string_view name;
  std::string_view group; // of the kind that it shows
  std::string_view version;
  std::string_view kind;
  std::vector<std::string_view> verbs;
};
[[nodiscard]] std::vector<subresource> subresources_of(const resource_kind& kind);

/// What may be done with its objects, in the order of discovery.
[[nodiscard]] std::vector<std::string_view> verbs_of(const resource_kind& kind);

} // namespace paddock::embedded
