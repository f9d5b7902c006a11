#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace paddock::documents {

/// What a scalar without quotes is.
struct meaning {
  nlohmann::json value;  // where it is in doubt the text
  bool in_doubt = false; // YAML 1.1 and 1.2 read it differently (`on`, `0065`, `1e3`, `12:30`), or it is no number of JSON
};

[[nodiscard]] meaning meaning_of(const std::string& plain);

} // namespace paddock::documents
