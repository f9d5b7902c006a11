#include "embedded/cel_function.hpp"

#include <array>

namespace paddock::embedded::cel {

namespace {

evaluated size_of(arguments all) {
  return give(static_cast<std::int64_t>(all[0].size()));
}

evaluated size_of_bytes(arguments all) {
  return give(static_cast<std::int64_t>(all[0].as<bytes>()->data.get().size()));
}

/// The least (-1) or greatest (1) element.
template <int Sign>
evaluated extreme(arguments all) {
  const auto& of = all[0];
  if (of.size() == 0)
    return tl::unexpected{std::string{Sign < 0 ? "min called on empty list" : "max called on empty list"}};
  auto out = of.at(0);
  for (std::size_t i = 1; i < of.size(); ++i) {
    const auto order = compare(of.at(i), out, all.cost());
    if (!order)
      return no_overload();
    if (*order * Sign > 0)
      out = of.at(i);
  }
  return out;
}

evaluated is_sorted(arguments all) {
  for (std::size_t i = 1; i < all[0].size(); ++i) {
    const auto order = compare(all[0].at(i - 1), all[0].at(i), all.cost());
    if (!order)
      return no_overload();
    if (*order > 0)
      return give(false);
  }
  return give(true);
}

evaluated sum(arguments all) {
  if (all[0].size() == 0)
    return give(std::int64_t{0});
  auto out = all[0].at(0);
  for (std::size_t i = 1; i < all[0].size(); ++i) {
    const std::array pair{out, all[0].at(i)};
    const auto* add = out.is_number() ? choose("_+_", false, pair) : nullptr;
    auto next = add == nullptr ? evaluated{no_overload()} : add->run({pair, all.cost()});
    if (!next)
      return next;
    out = *next;
  }
  return out;
}

template <bool Last>
evaluated index_of(arguments all) {
  std::int64_t out = -1;
  for (std::size_t i = 0; i < all[0].size() && (Last || out < 0); ++i)
    if (equal(all[0].at(i), all[1], all.cost()))
      out = static_cast<std::int64_t>(i);
  return give(out);
}

bool contains(const value& all, const value& one, budget& cost) {
  for (std::size_t i = 0; i < all.size() && !cost.used_up(); ++i)
    if (equal(all.at(i), one, cost))
      return true;
  return false;
}

bool contains_all(const value& all, const value& wanted, budget& cost) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!contains(all, wanted.at(i), cost))
      return false;
  return true;
}

evaluated intersects(arguments all) {
  for (std::size_t i = 0; i < all[0].size() && !all.cost().used_up(); ++i)
    if (contains(all[1], all[0].at(i), all.cost()))
      return give(true);
  return give(false);
}

// -- optional values ----------------------------------------------------------------------------------------------

const value* held(arguments all) {
  return all[0].as<optional_value>()->held.get();
}

evaluated of_non_zero(arguments all) {
  const auto& x = all[0];
  const auto is = [&](value::content y) { return equal(x, std::move(y), all.cost()); };
  const bool zero = x.is_null() || ((x.is_list() || x.is_map()) && x.size() == 0) || is(false) || is(std::int64_t{0}) || is(std::string{});
  return zero ? value::none() : value::some(x);
}

evaluated value_of(arguments all) {
  if (held(all) == nullptr)
    return tl::unexpected{std::string{"optional.none() dereference"}};
  return *held(all);
}

} // namespace

void add_lists(std::vector<overload>& to, add_overload add) {
  add(to, "size(list) int", &size_of);
  add(to, "list.size() int", &size_of);
  add(to, "size(map) int", &size_of);
  add(to, "map.size() int", &size_of);
  add(to, "size(bytes) int", &size_of_bytes);
  add(to, "bytes.size() int", &size_of_bytes);
  add(to, "list.min() dyn", &extreme<-1>);
  add(to, "list.max() dyn", &extreme<1>);
  add(to, "list.isSorted() bool", &is_sorted);
  add(to, "list.sum() dyn", &sum);
  add(to, "list.indexOf(dyn) int", &index_of<false>);
  add(to, "list.lastIndexOf(dyn) int", &index_of<true>);
  add(to, "sets.contains(list, list) bool", [](arguments all) -> evaluated { return give(contains_all(all[0], all[1], all.cost())); });
  add(to, "sets.equivalent(list, list) bool", [](arguments all) -> evaluated {
    return give(contains_all(all[0], all[1], all.cost()) && contains_all(all[1], all[0], all.cost()));
  });
  add(to, "sets.intersects(list, list) bool", &intersects);
  add(to, "optional.of(dyn) optional_type", [](arguments all) -> evaluated { return value::some(all[0]); });
  add(to, "optional.none() optional_type", [](arguments) -> evaluated { return value::none(); });
  add(to, "optional.ofNonZeroValue(dyn) optional_type", &of_non_zero);
  add(to, "optional_type.hasValue() bool", [](arguments all) -> evaluated { return give(held(all) != nullptr); });
  add(to, "optional_type.value() dyn", &value_of);
  add(to, "optional_type.orValue(dyn) dyn", [](arguments all) -> evaluated { return held(all) != nullptr ? *held(all) : all[1]; });
  add(to, "optional_type.or(optional_type) optional_type",
      [](arguments all) -> evaluated { return held(all) != nullptr ? all[0] : all[1]; });
}

} // namespace paddock::embedded::cel
