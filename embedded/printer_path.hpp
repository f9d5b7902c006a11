#pragma once

#include "embedded/object.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

/// The JSONPath of a printer column, of the form that CRDs use: `.spec.replicas`,
/// `.status.conditions[?(@.type=='Ready')].status`.
class printer_path {
public:
  explicit printer_path(std::string_view text);
  /// The first value that it leads to, or null.
  [[nodiscard]] const json* find(const json& object) const;

private:
  struct step {
    std::string member; // then, unless `key` is empty, the first item whose member `key` is `value`
    std::string key;
    std::string value;
  };
  std::vector<step> steps_;
};

} // namespace paddock::embedded
