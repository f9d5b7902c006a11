#include "embedded/cel_value.hpp"

#include <algorithm>
#include <cmath>

namespace paddock::embedded::cel {

namespace {

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Compares without losing what a double cannot hold.
std::optional<int> order_mixed(double a, std::int64_t b) {
  if (std::isnan(a))
    return std::nullopt;
  if (a >= 9223372036854775808.0)
    return 1;
  if (a < -9223372036854775808.0)
    return -1;
  const auto whole = static_cast<std::int64_t>(std::trunc(a));
  return whole != b ? order(whole, b) : order(a - std::trunc(a), 0.0);
}

std::optional<int> order_mixed(double a, std::uint64_t b) {
  if (std::isnan(a))
    return std::nullopt;
  if (a >= 18446744073709551616.0)
    return 1;
  if (a < 0)
    return -1;
  const auto whole = static_cast<std::uint64_t>(std::trunc(a));
  return whole != b ? order(whole, b) : order(a - std::trunc(a), 0.0);
}

std::optional<int> order_mixed(std::int64_t a, std::uint64_t b) {
  return a < 0 ? -1 : order(static_cast<std::uint64_t>(a), b);
}

/// Whether both are the same; texts of different lengths are told apart without a look at them.
bool same(const std::string& a, const std::string& b, budget& cost) {
  return a.size() == b.size() && cost.spend(a.size() / 10) && a == b;
}

std::optional<int> negated(std::optional<int> x) {
  return x ? std::optional{-*x} : x;
}

std::optional<int> order_numbers(const value& a, const value& b) {
  if (const auto* x = a.as<double>()) {
    if (const auto* y = b.as<double>())
      return std::isnan(*x) || std::isnan(*y) ? std::nullopt : std::optional{order(*x, *y)};
    if (const auto* y = b.as<std::int64_t>())
      return order_mixed(*x, *y);
    return order_mixed(*x, *b.as<std::uint64_t>());
  }
  if (b.as<double>() != nullptr)
    return negated(order_numbers(b, a));
  if (const auto* x = a.as<std::int64_t>()) {
    if (const auto* y = b.as<std::int64_t>())
      return order(*x, *y);
    return order_mixed(*x, *b.as<std::uint64_t>());
  }
  if (const auto* y = b.as<std::int64_t>())
    return negated(order_mixed(*y, *a.as<std::uint64_t>()));
  return order(*a.as<std::uint64_t>(), *b.as<std::uint64_t>());
}

} // namespace

value value::of(const json& x) {
  switch (x.type()) {
    case json::value_t::boolean: return content{x.get<bool>()};
    case json::value_t::number_integer: return content{x.get<std::int64_t>()};
    // JSON knows no unsigned numbers; the decoder marks every number that is not negative so.
    case json::value_t::number_unsigned: {
      const auto n = x.get<std::uint64_t>();
      return n <= static_cast<std::uint64_t>(INT64_MAX) ? content{static_cast<std::int64_t>(n)} : content{static_cast<double>(n)};
    }
    case json::value_t::number_float: return content{x.get<double>()};
    case json::value_t::string: return content{shared_text::of(x.get_ref<const std::string&>())};
    case json::value_t::array:
    case json::value_t::object: return content{&x};
    default: return {};
  }
}

value value::of(value_list x) {
  return content{std::make_shared<const value_list>(std::move(x))};
}

value value::of(value_map x) {
  return content{std::make_shared<const value_map>(std::move(x))};
}

value value::some(value x) {
  return content{optional_value{std::make_shared<const value>(std::move(x))}};
}

value value::none() {
  return content{optional_value{}};
}

bool value::is_list() const {
  const auto* x = as<const json*>();
  return as<list_ptr>() != nullptr || (x != nullptr && (*x)->is_array());
}

bool value::is_map() const {
  const auto* x = as<const json*>();
  return as<map_ptr>() != nullptr || (x != nullptr && (*x)->is_object());
}

std::size_t value::size() const {
  if (const auto* x = as<const json*>())
    return (*x)->size();
  if (const auto* x = as<list_ptr>())
    return (*x)->size();
  const auto* x = as<map_ptr>();
  return x == nullptr ? 0 : (*x)->size();
}

value value::at(std::size_t i) const {
  if (const auto* x = as<const json*>())
    return of((**x)[i]);
  return (**as<list_ptr>())[i];
}

std::optional<value> value::find(const value& key, budget& cost) const {
  if (const auto* x = as<const json*>()) {
    const auto* name = key.as<std::string>();
    const auto* found = name == nullptr ? nullptr : member(**x, *name);
    return found == nullptr ? std::nullopt : std::optional{of(*found)};
  }
  const auto& all = **as<map_ptr>();
  const auto found = find_entry(all, key, cost);
  return found == all.end() ? std::nullopt : std::optional{found->second};
}

value_list value::keys() const {
  value_list out;
  if (const auto* x = as<const json*>()) {
    for (auto it = (*x)->begin(); it != (*x)->end(); ++it)
      out.push_back(content{shared_text::of(it.key())});
    return out;
  }
  for (const auto& [name, held] : **as<map_ptr>())
    out.push_back(name);
  return out;
}

std::string value::type_name() const {
  if (is_list())
    return "list";
  if (is_map())
    return "map";
  static constexpr const char* names[]{"null_type", "bool", "int", "uint", "double", "string",
                                       "bytes",     "type", "",    "list", "map",    "optional_type"};
  return names[content_.index()];
}

value_map::const_iterator find_entry(const value_map& all, const value& key, budget& cost) {
  const auto* text = key.as<std::string>();
  if (text == nullptr)
    return std::find_if(all.begin(), all.end(), [&](const auto& x) { return equal(x.first, key, cost); });
  // A look at a key of another length takes a fraction of a step.
  if (!cost.spend(all.size() / 16))
    return all.end();
  return std::find_if(all.begin(), all.end(), [&](const auto& x) {
    const auto* name = x.first.template as<std::string>();
    return name != nullptr && same(*name, *text, cost);
  });
}

bool equal(const value& a, const value& b, budget& cost) {
  if (!cost.spend(1))
    return false;
  if (a.is_number() && b.is_number())
    return order_numbers(a, b) == 0;
  if (a.is_list() && b.is_list()) {
    if (a.size() != b.size())
      return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!equal(a.at(i), b.at(i), cost))
        return false;
    return true;
  }
  if (a.is_map() && b.is_map()) {
    if (a.size() != b.size())
      return false;
    if (!cost.spend(a.size()))
      return false;
    for (const auto& key : a.keys()) {
      const auto one = a.find(key, cost);
      const auto other = b.find(key, cost);
      if (!one || !other || !equal(*one, *other, cost))
        return false;
    }
    return true;
  }
  if (const auto* x = a.as<optional_value>(), *y = b.as<optional_value>(); x != nullptr && y != nullptr)
    return x->held && y->held ? equal(*x->held, *y->held, cost) : !x->held && !y->held;
  if (const auto* x = a.as<std::string>(), *y = b.as<std::string>(); x != nullptr && y != nullptr)
    return same(*x, *y, cost);
  if (const auto* x = a.as<bool>(), *y = b.as<bool>(); x != nullptr && y != nullptr)
    return *x == *y;
  if (const auto* x = a.as<bytes>(), *y = b.as<bytes>(); x != nullptr && y != nullptr)
    return same(x->data.get(), y->data.get(), cost);
  if (const auto* x = a.as<type_value>(), *y = b.as<type_value>(); x != nullptr && y != nullptr)
    return *x == *y;
  return a.is_null() && b.is_null();
}

std::optional<int> compare(const value& a, const value& b, budget& cost) {
  const auto in_order = [&](const std::string& x, const std::string& y) -> std::optional<int> {
    return cost.spend(std::min(x.size(), y.size()) / 10) ? std::optional{order(x, y)} : std::nullopt;
  };
  if (a.is_number() && b.is_number())
    return order_numbers(a, b);
  if (const auto* x = a.as<std::string>(), *y = b.as<std::string>(); x != nullptr && y != nullptr)
    return in_order(*x, *y);
  if (const auto* x = a.as<bytes>(), *y = b.as<bytes>(); x != nullptr && y != nullptr)
    return in_order(x->data.get(), y->data.get());
  if (const auto* x = a.as<bool>(), *y = b.as<bool>(); x != nullptr && y != nullptr)
    return order(*x, *y);
  return std::nullopt;
}

} // namespace paddock::embedded::cel
