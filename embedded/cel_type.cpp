#include "embedded/cel_type.hpp"

#include <array>
#include <utility>

namespace paddock::embedded::cel {

namespace {

using kind = type::kind;

constexpr std::array<std::pair<kind, std::string_view>, 12> names{{{kind::dyn, "dyn"},
                                                                   {kind::null, "null_type"},
                                                                   {kind::boolean, "bool"},
                                                                   {kind::integer, "int"},
                                                                   {kind::uint, "uint"},
                                                                   {kind::real, "double"},
                                                                   {kind::text, "string"},
                                                                   {kind::bytes, "bytes"},
                                                                   {kind::list, "list"},
                                                                   {kind::map, "map"},
                                                                   {kind::type, "type"},
                                                                   {kind::optional, "optional_type"}}};

/// Reads one type and moves `text` behind it.
type read_one(std::string_view& text) {
  type out;
  const auto end = std::min(text.find_first_of("(), "), text.size());
  for (const auto& [what, name] : names)
    if (text.substr(0, end) == name)
      out.what = what;
  text.remove_prefix(end);
  if (!text.starts_with('('))
    return out;
  while (!text.starts_with(')')) {
    text.remove_prefix(text.starts_with(", ") ? 2 : 1);
    out.of.push_back(read_one(text));
  }
  text.remove_prefix(1);
  return out;
}

type part(const type& x, std::size_t i) {
  return i < x.of.size() ? x.of[i] : type{};
}

} // namespace

type read_type(std::string_view text) {
  return read_one(text);
}

type object_type(std::map<std::string, type, std::less<>> fields) {
  return {kind::object, {}, std::make_shared<const std::map<std::string, type, std::less<>>>(std::move(fields))};
}

std::string to_string(const type& x) {
  if (x.what == kind::object)
    return "object";
  std::string out;
  for (const auto& [what, name] : names)
    if (what == x.what)
      out = name;
  const std::size_t parts = x.what == kind::map ? 2 : x.what == kind::list || x.what == kind::optional ? 1 : 0;
  for (std::size_t i = 0; i < parts; ++i)
    out += (i == 0 ? "(" : ", ") + to_string(part(x, i));
  return parts == 0 ? out : out + ")";
}

std::size_t parts_of(const type& x) {
  std::size_t out = 1;
  for (const auto& one : x.of)
    out += parts_of(one);
  return out;
}

bool fits(const type& have, const type& want) {
  if (have.what == kind::dyn || want.what == kind::dyn)
    return true;
  // An object is a map whose members are known; null may stand for one.
  if (have.what == kind::object || want.what == kind::object)
    return have.what == want.what || have.what == kind::map || want.what == kind::map || have.what == kind::null || want.what == kind::null;
  if (have.what != want.what)
    return false;
  const std::size_t parts = std::max(have.of.size(), want.of.size());
  for (std::size_t i = 0; i < parts; ++i)
    if (!fits(part(have, i), part(want, i)))
      return false;
  return true;
}

type joined(const type& a, const type& b) {
  return to_string(a) == to_string(b) ? a : type{};
}

} // namespace paddock::embedded::cel
