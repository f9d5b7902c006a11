#pragma once

#include "embedded/object.hpp"
#include "embedded/resource.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace paddock::embedded {

/// A rule of a custom kind that is written as an expression.
struct schema_rule {
  std::string expression;
  std::string message;
};

/// What a value may look like: the part of OpenAPI that Kubernetes' own types and CRDs use here.
struct type_schema {
  enum class type { any, object, array, string, integer, number, boolean, int_or_string };

  type is = type::any;
  bool keeps_unknown = false; // members that are not listed stay
  std::map<std::string, const type_schema*, std::less<>> members;
  const type_schema* values = nullptr; // of every member of a map
  const type_schema* items = nullptr;
  std::vector<std::string> required;
  std::vector<std::string> words; // an enumeration
  std::string format;
  std::string pattern_text;
  std::shared_ptr<const re2::RE2> pattern;
  std::optional<std::int64_t> minimum;
  std::optional<std::size_t> min_length;
  std::optional<std::size_t> max_length;
  std::optional<json> fallback; // where the member is absent
  std::vector<schema_rule> rules;
  std::vector<std::string> list_keys; // no two items of the list agree in all of them
  // Of server-side apply: how two values become one. Lists are whole unless their items have keys or are a set.
  enum class merging { parts, whole, keyed, set };
  merging merged = merging::parts;
  std::vector<std::string> item_keys;
  // Of a strategic merge patch: lists are merged, by a member of their items or by value; members that a patch does not
  // retain go.
  bool merges = false;
  std::string merge_key;
  bool retains_keys = false;
};

/// Schemas that refer to each other. They stay where they are.
class schema_catalog {
public:
  /// Reads `definitions`, types by name that `$ref` names.
  void read_types(const json& definitions);
  /// Reads a schema that names no other.
  const type_schema* read(const json& schema);
  [[nodiscard]] const type_schema* find(std::string_view name) const;

private:
  void fill(type_schema& out, const json& from);
  std::shared_ptr<const re2::RE2> pattern(const std::string& text);

  std::deque<type_schema> all_;
  std::map<std::string, type_schema*, std::less<>> named_;
  std::map<std::string, std::shared_ptr<const re2::RE2>> patterns_; // a few stand in many places
};

/// The schema of the kind's objects; null: they may hold anything (a kind whose definition is not known here).
[[nodiscard]] const type_schema* schema_of(const resource_kind& kind);
/// The schema of a built-in type by its name: `TokenRequest`.
[[nodiscard]] const type_schema* builtin_type(std::string_view name);

/// Takes members that the schema does not know out of `value` and answers their paths, below `path`.
void prune_unknown(const type_schema& schema, json& value, const std::string& path, std::vector<std::string>& unknown);

/// Fills in what a schema says of absent members.
void fill_defaults(const type_schema& schema, json& value);

/// Why a built-in type cannot be read from `value`, as Go words it; nothing: it can. `owner` is the type's name.
[[nodiscard]] std::optional<std::string> misfit(const type_schema& schema, const json& value, const std::string& owner);

} // namespace paddock::embedded
