#include "embedded/cel_function.hpp"

#include <cmath>
#include <limits>

namespace paddock::embedded::cel {

namespace {

template <class T>
const T& get(arguments all, std::size_t i) {
  return *all[i].as<T>();
}

tl::unexpected<std::string> error(const char* why) {
  return tl::unexpected{std::string{why}};
}

value boolean(bool x) {
  return value::content{x};
}

// -- arithmetic ---------------------------------------------------------------------------------------------------

using int_operation = bool (*)(std::int64_t, std::int64_t, std::int64_t&);
using uint_operation = bool (*)(std::uint64_t, std::uint64_t, std::uint64_t&);

template <int_operation Run>
evaluated ints(arguments all) {
  std::int64_t out = 0;
  if (Run(get<std::int64_t>(all, 0), get<std::int64_t>(all, 1), out))
    return error("integer overflow");
  return value{value::content{out}};
}

template <uint_operation Run>
evaluated uints(arguments all) {
  std::uint64_t out = 0;
  if (Run(get<std::uint64_t>(all, 0), get<std::uint64_t>(all, 1), out))
    return error("unsigned integer overflow");
  return value{value::content{out}};
}

constexpr auto plus = [](auto a, auto b, auto& out) { return __builtin_add_overflow(a, b, &out); };
constexpr auto minus = [](auto a, auto b, auto& out) { return __builtin_sub_overflow(a, b, &out); };
constexpr auto times = [](auto a, auto b, auto& out) { return __builtin_mul_overflow(a, b, &out); };

evaluated divide(arguments all) {
  const auto a = get<std::int64_t>(all, 0);
  const auto b = get<std::int64_t>(all, 1);
  if (b == 0)
    return error("division by zero");
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1)
    return error("integer overflow");
  return value{value::content{a / b}};
}

evaluated remainder(arguments all) {
  const auto a = get<std::int64_t>(all, 0);
  const auto b = get<std::int64_t>(all, 1);
  if (b == 0)
    return error("modulus by zero");
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1)
    return error("integer overflow");
  return value{value::content{a % b}};
}

evaluated divide_unsigned(arguments all) {
  if (get<std::uint64_t>(all, 1) == 0)
    return error("division by zero");
  return value{value::content{get<std::uint64_t>(all, 0) / get<std::uint64_t>(all, 1)}};
}

evaluated remainder_unsigned(arguments all) {
  if (get<std::uint64_t>(all, 1) == 0)
    return error("modulus by zero");
  return value{value::content{get<std::uint64_t>(all, 0) % get<std::uint64_t>(all, 1)}};
}

evaluated negate(arguments all) {
  const auto a = get<std::int64_t>(all, 0);
  if (a == std::numeric_limits<std::int64_t>::min())
    return error("integer overflow");
  return value{value::content{-a}};
}

template <char Operation>
evaluated reals(arguments all) {
  const auto a = get<double>(all, 0);
  const auto b = get<double>(all, 1);
  return value{value::content{Operation == '+' ? a + b : Operation == '-' ? a - b : Operation == '*' ? a * b : a / b}};
}

evaluated append(arguments all) {
  return value{value::content{get<std::string>(all, 0) + get<std::string>(all, 1)}};
}

evaluated append_bytes(arguments all) {
  return value{value::content{bytes{get<bytes>(all, 0).data.get() + get<bytes>(all, 1).data.get()}}};
}

evaluated append_lists(arguments all) {
  value_list out;
  for (const auto& part : all)
    for (std::size_t i = 0; i < part.size(); ++i)
      out.push_back(part.at(i));
  return value::of(std::move(out));
}

// -- comparison ---------------------------------------------------------------------------------------------------

/// NaN is in no order with anything.
template <char First, bool OrEqual>
evaluated ordered(arguments all) {
  const auto order = compare(all[0], all[1], all.cost());
  return boolean(order && ((OrEqual && *order == 0) || (First == '<' ? *order < 0 : *order > 0)));
}

template <char First, bool OrEqual>
void add_order(std::vector<overload>& to, add_overload add, const std::string& name) {
  for (const auto* a : {"int", "uint", "double"})
    for (const auto* b : {"int", "uint", "double"})
      add(to, name + "(" + a + ", " + b + ") bool", &ordered<First, OrEqual>);
  for (const auto* both : {"string", "bytes", "bool"})
    add(to, name + "(" + both + ", " + both + ") bool", &ordered<First, OrEqual>);
}

evaluated inside_list(arguments all) {
  for (std::size_t i = 0; i < all[1].size(); ++i)
    if (equal(all[0], all[1].at(i), all.cost()))
      return boolean(true);
  return boolean(false);
}

evaluated inside_map(arguments all) {
  return boolean(all[1].find(all[0], all.cost()).has_value());
}

} // namespace

void add_operators(std::vector<overload>& to, add_overload add) {
  add(to, "_+_(int, int) int", &ints<plus>);
  add(to, "_+_(uint, uint) uint", &uints<plus>);
  add(to, "_+_(double, double) double", &reals<'+'>);
  add(to, "_+_(string, string) string", &append);
  add(to, "_+_(bytes, bytes) bytes", &append_bytes);
  add(to, "_+_(list, list) list", &append_lists);
  add(to, "_-_(int, int) int", &ints<minus>);
  add(to, "_-_(uint, uint) uint", &uints<minus>);
  add(to, "_-_(double, double) double", &reals<'-'>);
  add(to, "_*_(int, int) int", &ints<times>);
  add(to, "_*_(uint, uint) uint", &uints<times>);
  add(to, "_*_(double, double) double", &reals<'*'>);
  add(to, "_/_(int, int) int", &divide);
  add(to, "_/_(uint, uint) uint", &divide_unsigned);
  add(to, "_/_(double, double) double", &reals<'/'>);
  add(to, "_%_(int, int) int", &remainder);
  add(to, "_%_(uint, uint) uint", &remainder_unsigned);
  add(to, "-_(int) int", &negate);
  add(to, "-_(double) double", [](arguments all) -> evaluated { return value{value::content{-get<double>(all, 0)}}; });
  add(to, "!_(bool) bool", [](arguments all) -> evaluated { return boolean(!get<bool>(all, 0)); });
  add(to, "_==_(dyn, dyn) bool", [](arguments all) -> evaluated { return boolean(equal(all[0], all[1], all.cost())); });
  add(to, "_!=_(dyn, dyn) bool", [](arguments all) -> evaluated { return boolean(!equal(all[0], all[1], all.cost())); });
  add_order<'<', false>(to, add, "_<_");
  add_order<'<', true>(to, add, "_<=_");
  add_order<'>', false>(to, add, "_>_");
  add_order<'>', true>(to, add, "_>=_");
  add(to, "@in(dyn, list) bool", &inside_list);
  add(to, "@in(dyn, map) bool", &inside_map);
}

} // namespace paddock::embedded::cel
