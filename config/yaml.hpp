#pragma once

#include "config/options.hpp"

#include <tl/expected.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::config {

/// A parsed YAML (or JSON, which is YAML too) value and the line it stands on.
struct value {
  enum class kind { nothing, text, list, mapping };
  struct entry;
  kind is = kind::nothing;
  std::size_t line = 0; // from 1; 0: unknown
  std::string text;     // of a text; numbers and booleans are texts here
  std::vector<entry> entries;
};
struct value::entry {
  std::string key; // empty in a list
  std::size_t line = 0;
  value holds;
};

/// Parses one document. An empty one is `nothing`. Refused with one complaint that names `file`: what is not YAML, more
/// than one document, a key that is not a text, and what is larger than a configuration gets (1 MiB, 10000 values, 16
/// levels).
[[nodiscard]] tl::expected<value, complaint> parse_yaml(std::string_view text, const std::string& file);

} // namespace paddock::config
