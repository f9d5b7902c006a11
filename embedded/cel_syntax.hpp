#pragma once

#include "embedded/cel_value.hpp"

#include <string_view>

namespace paddock::embedded::cel {

// The form of an expression. Macros (`has`, `all`, `map` …) are nodes of their own.

struct node;
using node_ptr = std::unique_ptr<node>;

struct node {
  enum class kind {
    literal,    // `constant`
    name,       // `text`
    select,     // child 0, member `text`
    has,        // whether child 0 has the member `text`
    index,      // child 0 at child 1
    call,       // function `text` of the children; of a member call, child 0 is what stands before the dot
    list,       // the children
    map,        // keys and values in turn
    all,        // child 0 is what is gone through, child 1 the condition; `text` is the name of the element
    exists,     //
    exists_one, //
    filter,     //
    transform,  // `map`: child 1 is the value, child 2 (if there) the condition
  };
  kind what = kind::literal;
  std::size_t at = 0; // offset of what messages point at
  std::string text;
  value constant;
  int depth = 1; // of the tree from here on
  bool member_call = false;
  bool optional = false;            // `a.?b`, `a[?b]`
  std::vector<bool> optional_items; // of a list or map: which are `?x`
  std::vector<node_ptr> children;
};

/// What is wrong with an expression, and where.
struct problem {
  std::size_t at = 0;
  std::string text;
  bool unsupported = false; // CEL has it and this interpreter does not
};

/// Longer or deeper expressions are refused: reading and evaluating recurses.
inline constexpr std::size_t max_expression_bytes = 16 * 1024;
inline constexpr int max_expression_depth = 200;
inline constexpr std::size_t max_expression_nodes = 4096;
/// Of an expression together with the variables that it names, and those that they name: evaluating goes down into them.
inline constexpr int max_composed_depth = 2 * max_expression_depth;
/// Of the type that is known of a part: a literal of lists and maps has the types of all that is in it.
inline constexpr std::size_t max_type_parts = 256;
/// Of all regular expressions that stand as literals in one expression: each is made when the expression is checked.
inline constexpr std::size_t max_pattern_programs = 50'000;

[[nodiscard]] tl::expected<node_ptr, problem> parse(std::string_view text);

/// Whether the text could be the name of a variable.
[[nodiscard]] bool is_identifier(std::string_view text);

} // namespace paddock::embedded::cel
