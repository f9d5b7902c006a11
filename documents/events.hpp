#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace paddock::documents {

/// Why a text is not read. Thrown and caught within this library.
struct complaint {
  std::size_t line = 0;
  std::string problem;
};

/// Not YAML, or not JSON, at all.
struct syntax_complaint : complaint {
  bool cut_short = false; // the text ended too early
};

/// What stands in a text, one after the other. Aliases are replaced by what they stand for.
struct event {
  enum class type { document, map, list, end, key, value };
  type is{};
  std::size_t line = 0;  // from 1; of an alias the alias's own
  nlohmann::json what{}; // of a value itself, of a key its text
  bool in_doubt = false; // `documents/scalar.hpp`
};
using listener = std::function<void(event)>;

/// More levels than any object of Kubernetes has.
inline constexpr std::size_t deepest = 100;
/// How many values and keys all aliases of a text may stand for together; their texts may have `largest_text`.
inline constexpr std::size_t most_repeated = 100'000;

/// Both throw `complaint` and what `to` throws. @pre `text` is UTF-8
void read_yaml_events(std::string_view text, const listener& to);
/// Documents stand behind each other without anything between.
void read_json_events(std::string_view text, const listener& to);

} // namespace paddock::documents
