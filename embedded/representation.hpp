#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddock::embedded {

/// In which form a client wants objects.
struct representation {
  enum class form { object, table, metadata };
  enum class rows { metadata, none, object }; // what stands beside the cells of a table

  form what = form::object;
  bool yaml = false;
  std::string version = "v1"; // of the table or of the partial objects
  rows beside = rows::metadata;
};

/// The media type without its parameters, in lower case.
[[nodiscard]] std::string media_type(std::string_view text);

/// The first of the forms in `accept`, by preference, that is served; nothing: none is. `include_object` is the query's word on the
/// rows of tables.
[[nodiscard]] std::optional<representation> negotiate(std::string_view accept, std::string_view include_object);

/// Whether discovery is asked for in one document.
[[nodiscard]] bool wants_aggregated(std::string_view accept);

} // namespace paddock::embedded
