#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::documents {

// YAML and JSON as people and pipelines write it, read so strictly that everyone else reads the same.

/// A scalar that YAML 1.1 and 1.2 read differently. The document has its text in its place.
struct doubt {
  std::size_t line = 0;
  std::string path; // `spec.egress[0].ports[0].port`; of a key that of its value
  std::string text;
};
[[nodiscard]] std::string to_string(const doubt& x);

/// One document of a text.
struct document {
  std::size_t line = 0; // of its first value
  nlohmann::json value; // null: there is none
  std::vector<doubt> doubts;
};

/// Why a text is refused, and where.
struct refusal {
  std::size_t line = 0;
  std::string problem; // follows the place: `has the key "kind" twice`
};

/// Of all texts together that are read for one question.
inline constexpr std::size_t largest_text = 64 * 1024 * 1024;

/// Reads any number of documents. A text that begins with a brace or a bracket is JSON, unless it is YAML all the same; one document
/// may follow the other. Refused beside what is neither: a key that stands twice, merge keys, tags, keys that are no texts, what is
/// nested too deep, aliases that stand for too much, control characters, characters that end a line to some readers, a further document
/// on the line of its `---`, anchors with odd names, and what is not UTF-8.
[[nodiscard]] tl::expected<std::vector<document>, refusal> read_documents(std::string_view text);

/// A value of a document.
struct place {
  std::size_t document = 0; // the line that `document` gives
  std::string path;         // as that of a doubt; empty: all of it
};

/// The line of each place: of a member that of its name, of an item its own. Where it is not there, that of the innermost value around
/// it that is.
/// @pre `read_documents` has read `text`
[[nodiscard]] std::vector<std::size_t> lines_of(std::string_view text, const std::vector<place>& wanted);

/// Block style, members by name. A text that anyone might read as something else is quoted.
[[nodiscard]] std::string to_yaml(const nlohmann::json& value);

} // namespace paddock::documents
