#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded::cel {

/// What is known of a value before an expression is evaluated. `dyn` is known to be nothing in particular.
struct type {
  enum class kind { dyn, null, boolean, integer, uint, real, text, bytes, list, map, type, optional, object };
  using fields_ptr = std::shared_ptr<const std::map<std::string, type, std::less<>>>;

  kind what = kind::dyn;
  std::vector<type> of; // element of a list or optional; key and value of a map
  fields_ptr fields;    // of an object: the only ones it may have
};

/// Reads `list(string)`, `map(string, dyn)`. @pre it is one.
[[nodiscard]] type read_type(std::string_view text);
[[nodiscard]] type object_type(std::map<std::string, type, std::less<>> fields);

/// As messages write it.
[[nodiscard]] std::string to_string(const type& x);

/// How many types it is made of, itself included.
[[nodiscard]] std::size_t parts_of(const type& x);

/// Whether a value known to be `have` may turn out to be a `want`.
[[nodiscard]] bool fits(const type& have, const type& want);
/// What is known of a value that is one or the other.
[[nodiscard]] type joined(const type& a, const type& b);

} // namespace paddock::embedded::cel
