#include "embedded/cel.hpp"

#include <algorithm>
#include <cmath>

namespace paddock::embedded::cel {

namespace {

tl::unexpected<std::string> error(std::string why) {
  return tl::unexpected{std::move(why)};
}

constexpr std::size_t longest_key = 256; // in a message

/// A key as messages write it.
std::string key_text(const value& key) {
  if (const auto* x = key.as<std::string>())
    return x->size() <= longest_key ? *x : std::string{first_characters(*x, longest_key)} + "...";
  if (const auto* x = key.as<std::int64_t>())
    return std::to_string(*x);
  if (const auto* x = key.as<std::uint64_t>())
    return std::to_string(*x);
  return key.as<bool>() != nullptr ? (*key.as<bool>() ? "true" : "false") : key.type_name();
}

/// The type as the API server's interpreter calls it.
std::string go_type(const value& x) {
  auto name = x.type_name();
  if (name == "null_type")
    name = "null";
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return "types." + name;
}

/// How much there is to work through.
std::size_t weight(const value& x) {
  if (const auto* text = x.as<std::string>())
    return text->size() / 10;
  if (const auto* raw = x.as<bytes>())
    return raw->data.get().size() / 10;
  return x.is_list() || x.is_map() ? x.size() : 0;
}

/// Whether the function pays for all of its work itself.
bool pays_itself(const std::string& function) {
  return function == "_==_" || function == "_!=_" || function == "@in" || function == "matches" || function == "find"
         || function.starts_with("sets.");
}

class evaluator {
public:
  evaluator(const scope& names, budget& cost) : names_(names), cost_(cost) {
  }

  evaluated visit(const node& x) {
    // Names are looked up, and a long one takes its time.
    if (!cost_.spend(1 + x.text.size() / 64))
      return cost_exceeded();
    switch (x.what) {
      case node::kind::literal: return x.constant;
      case node::kind::name: return name(x);
      case node::kind::select: return select(x);
      case node::kind::has: return has(x);
      case node::kind::index: return index(x);
      case node::kind::call: return call(x);
      case node::kind::list: return make_list(x);
      case node::kind::map: return make_map(x);
      case node::kind::all:
      case node::kind::exists: return quantified(x);
      default: return collected(x);
    }
  }

private:
  evaluated name(const node& x) {
    for (auto it = locals_.rbegin(); it != locals_.rend(); ++it)
      if (it->first == x.text)
        return it->second;
    for (const auto* type_name : {"bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"})
      if (x.text == type_name)
        return value{value::content{type_value{x.text}}};
    return names_.find(x.text);
  }

  [[nodiscard]] bool is_local(const std::string& text) const {
    return std::any_of(locals_.begin(), locals_.end(), [&](const auto& x) { return x.first == text; });
  }

  // -- members ----------------------------------------------------------------------------------------------------

  [[nodiscard]] bool holds_variables(const node& x) const {
    return x.what == node::kind::name && x.text == "variables" && !is_local("variables");
  }

  evaluated variable(const node& x) {
    auto out = names_.variable(x.text, cost_);
    if (!out && !cost_.spend(text_cost(out.error().size())))
      return cost_exceeded();
    return out;
  }

  evaluated select(const node& x) {
    const auto& inner = *x.children[0];
    if (holds_variables(inner)) {
      auto out = variable(x);
      return out && x.optional ? value::some(std::move(*out)) : out;
    }
    auto of = visit(inner);
    if (!of)
      return of;
    return member_of(*of, value::content{x.text}, x.optional);
  }

  /// `of[key]`, for a list, a map, or an optional one of these.
  evaluated member_of(const value& of, const value& key, bool optional) {
    if (const auto* held = of.as<optional_value>()) {
      if (!held->held)
        return value::none();
      return member_of(*held->held, key, true);
    }
    if (of.is_list())
      return element_of(of, key, optional);
    const auto found = of.is_map() ? of.find(key, cost_) : std::nullopt;
    if (optional)
      return found ? value::some(*found) : value::none();
    return found ? evaluated{*found} : error("no such key: " + key_text(key));
  }

  static evaluated element_of(const value& of, const value& key, bool optional) {
    std::optional<std::int64_t> at;
    if (const auto* x = key.as<std::int64_t>())
      at = *x;
    else if (const auto* u = key.as<std::uint64_t>(); u != nullptr && *u <= static_cast<std::uint64_t>(INT64_MAX))
      at = static_cast<std::int64_t>(*u);
    else if (const auto* d = key.as<double>(); d != nullptr && std::trunc(*d) == *d && std::abs(*d) < 9e15)
      at = static_cast<std::int64_t>(*d);
    if (!at)
      return error("unsupported index type '" + key.type_name() + "' in list");
    const bool inside = *at >= 0 && static_cast<std::size_t>(*at) < of.size();
    if (optional)
      return inside ? value::some(of.at(static_cast<std::size_t>(*at))) : value::none();
    return inside ? evaluated{of.at(static_cast<std::size_t>(*at))} : error("index out of bounds: " + std::to_string(*at));
  }

  evaluated index(const node& x) {
    auto of = visit(*x.children[0]);
    if (!of)
      return of;
    auto key = visit(*x.children[1]);
    if (!key)
      return key;
    return member_of(*of, *key, x.optional);
  }

  evaluated has(const node& x) {
    // A variable that was declared is there, unless it cannot be evaluated.
    if (holds_variables(*x.children[0])) {
      auto out = variable(x);
      return out ? give(true) : out;
    }
    auto of = visit(*x.children[0]);
    if (!of)
      return of;
    auto inner = *of;
    if (const auto* held = inner.as<optional_value>()) {
      if (!held->held)
        return value{value::content{false}};
      inner = *held->held;
    }
    return value{value::content{inner.is_map() && inner.find(value::content{x.text}, cost_).has_value()}};
  }

  // -- calls ------------------------------------------------------------------------------------------------------

  evaluated call(const node& x) {
    if (x.text == "_&&_" || x.text == "_||_")
      return either(x, x.text == "_||_");
    if (x.text == "_?_:_") {
      auto condition = visit(*x.children[0]);
      if (!condition)
        return condition;
      const auto* yes = condition->as<bool>();
      return yes == nullptr ? no_overload() : visit(*x.children[*yes ? 1 : 2]);
    }
    std::vector<value> given;
    std::size_t work = 1;
    const bool paid_later = pays_itself(x.text);
    for (const auto& child : x.children) {
      auto one = visit(*child);
      if (!one)
        return one;
      given.push_back(std::move(*one));
      // A search goes through one text as often as the other is long, at worst.
      const auto size = paid_later ? 0 : weight(given.back());
      work = x.member_call ? work * (size + 1) : work + size;
    }
    if (!cost_.spend(std::min<std::size_t>(work, INT32_MAX)))
      return cost_exceeded();
    const auto* chosen = choose(x.text, x.member_call, given);
    return chosen == nullptr ? no_overload() : chosen->run({given, cost_});
  }

  /// `&&` and `||`: the side that decides hides an error of the other.
  evaluated either(const node& x, bool deciding) {
    auto left = visit(*x.children[0]);
    const auto* first = left ? left->as<bool>() : nullptr;
    if (first != nullptr && *first == deciding)
      return left;
    auto right = visit(*x.children[1]);
    const auto* second = right ? right->as<bool>() : nullptr;
    if (second != nullptr && *second == deciding)
      return right;
    if (!left)
      return left;
    if (!right)
      return right;
    return first != nullptr && second != nullptr ? right : no_overload();
  }

  // -- lists and maps ---------------------------------------------------------------------------------------------

  evaluated make_list(const node& x) {
    value_list out;
    for (std::size_t i = 0; i < x.children.size(); ++i) {
      auto one = visit(*x.children[i]);
      if (!one)
        return one;
      if (!x.optional_items[i]) {
        out.push_back(std::move(*one));
        continue;
      }
      const auto* held = one->as<optional_value>();
      if (held == nullptr)
        return no_overload();
      if (held->held)
        out.push_back(*held->held);
    }
    return value::of(std::move(out));
  }

  evaluated make_map(const node& x) {
    value_map out;
    for (std::size_t i = 0; i + 1 < x.children.size(); i += 2) {
      auto key = visit(*x.children[i]);
      if (!key)
        return key;
      auto held = visit(*x.children[i + 1]);
      if (!held)
        return held;
      auto entry = std::move(*held);
      if (x.optional_items[i / 2]) {
        const auto* optional = entry.as<optional_value>();
        if (optional == nullptr)
          return no_overload();
        if (!optional->held)
          continue;
        entry = value{*optional->held};
      }
      // Of a key that is given twice the last one counts.
      const auto known = find_entry(out, *key, cost_) - out.cbegin();
      if (known == std::ssize(out))
        out.emplace_back(std::move(*key), std::move(entry));
      else
        out[static_cast<std::size_t>(known)].second = std::move(entry);
    }
    return value::of(std::move(out));
  }

  // -- macros -----------------------------------------------------------------------------------------------------

  /// What a macro goes through: the elements of a list, the keys of a map.
  tl::expected<value_list, std::string> range_of(const node& x) {
    auto of = visit(*x.children[0]);
    if (!of)
      return tl::unexpected{of.error()};
    if (!of->is_list() && !of->is_map())
      return error("got '" + go_type(*of) + "', expected iterable type");
    if (!cost_.spend(of->size()))
      return cost_exceeded();
    if (of->is_map())
      return of->keys();
    value_list out;
    for (std::size_t i = 0; i < of->size(); ++i)
      out.push_back(of->at(i));
    return out;
  }

  evaluated with(const node& x, const value& element, std::size_t child) {
    locals_.emplace_back(x.text, element);
    auto out = visit(*x.children[child]);
    locals_.pop_back();
    return out;
  }

  /// `all` and `exists`: an element that decides hides the errors of the others.
  evaluated quantified(const node& x) {
    const auto range = range_of(x);
    if (!range)
      return tl::unexpected{range.error()};
    const bool deciding = x.what == node::kind::exists;
    std::optional<std::string> failed;
    for (const auto& element : *range) {
      auto one = with(x, element, 1);
      const auto* holds = one ? one->as<bool>() : nullptr;
      if (holds != nullptr && *holds == deciding)
        return one;
      if (holds == nullptr && !failed)
        failed = one ? no_overload().value() : one.error();
    }
    return failed ? evaluated{error(*failed)} : value{value::content{!deciding}};
  }

  /// `filter`, `map` and `exists_one`.
  evaluated collected(const node& x) {
    const auto range = range_of(x);
    if (!range)
      return tl::unexpected{range.error()};
    value_list out;
    const bool transforms = x.what == node::kind::transform;
    for (const auto& element : *range) {
      const bool asks = !transforms || x.children.size() == 3;
      if (asks) {
        auto chosen = with(x, element, transforms ? 2 : 1);
        if (!chosen)
          return chosen;
        const auto* yes = chosen->as<bool>();
        if (yes == nullptr)
          return no_overload();
        if (!*yes)
          continue;
      }
      auto one = transforms ? with(x, element, 1) : evaluated{element};
      if (!one)
        return one;
      out.push_back(std::move(*one));
    }
    if (x.what == node::kind::exists_one)
      return value{value::content{out.size() == 1}};
    return value::of(std::move(out));
  }

  const scope& names_;
  budget& cost_;
  std::vector<std::pair<std::string_view, value>> locals_;
};

} // namespace

evaluated evaluate(const node& root, const scope& names, budget& cost) {
  return evaluator{names, cost}.visit(root);
}

} // namespace paddock::embedded::cel
