#include "embedded/cel.hpp"

#include <algorithm>

namespace paddock::embedded::cel {

namespace {

using checked = tl::expected<type, problem>;

type of_kind(type::kind what, std::vector<type> of = {}) {
  return {what, std::move(of), nullptr};
}

const type boolean = of_kind(type::kind::boolean);

type element_of(const type& x) {
  if (x.what == type::kind::list || x.what == type::kind::optional)
    return x.of.empty() ? type{} : x.of[0];
  return {};
}

type key_of(const type& x) {
  return x.what == type::kind::map && x.of.size() == 2 ? x.of[0] : type{};
}

type held_of(const type& x) {
  return x.what == type::kind::map && x.of.size() == 2 ? x.of[1] : type{};
}

/// Whether both may stand in one list. What is known to be nothing in particular stands with its like only.
bool alike(const type& a, const type& b) {
  return fits(a, b) && (a.what == type::kind::dyn) == (b.what == type::kind::dyn);
}

/// The literal that a call of `matches` or `find` takes for a regular expression.
const std::string* pattern_of(const node& x) {
  const bool takes_pattern = (x.text == "matches" || x.text == "find") && x.children.size() == 2;
  return takes_pattern ? x.children[1]->constant.as<std::string>() : nullptr;
}

class checker {
public:
  explicit checker(const environment& known) : known_(known) {
  }

  tl::expected<verdict, problem> whole(const node& root) {
    auto out = visit(root);
    if (!out)
      return tl::unexpected{out.error()};
    return verdict{std::move(*out), deepest_};
  }

private:
  checked visit(const node& x) {
    reach(++depth_);
    auto out = type_of(x);
    --depth_;
    if (out && parts_of(*out) > max_type_parts)
      return wrong(x, "type with more than " + std::to_string(max_type_parts) + " parts", true);
    return out;
  }

  checked type_of(const node& x) {
    switch (x.what) {
      case node::kind::literal: return read_type(x.constant.type_name());
      case node::kind::name: return name(x);
      case node::kind::select:
      case node::kind::has: return select(x);
      case node::kind::index: return index(x);
      case node::kind::call: return call(x);
      case node::kind::list: return list(x);
      case node::kind::map: return map(x);
      default: return comprehension(x);
    }
  }

  void reach(int depth) {
    deepest_ = std::max(deepest_, depth);
  }

  static tl::unexpected<problem> wrong(const node& x, std::string text, bool unsupported = false) {
    return tl::unexpected{problem{x.at, std::move(text), unsupported}};
  }
  static tl::unexpected<problem> undeclared(const node& x) {
    return wrong(x, "undeclared reference to '" + x.text + "' (in container '')");
  }
  static tl::unexpected<problem> no_match(const node& x, const std::vector<type>& takes) {
    std::string text;
    for (std::size_t i = x.member_call ? 1 : 0; i < takes.size(); ++i)
      text += (text.empty() ? "" : ", ") + to_string(takes[i]);
    text = "(" + text + ")";
    if (x.member_call)
      text = to_string(takes[0]) + "." + text;
    return wrong(x, "found no matching overload for '" + x.text + "' applied to '" + text + "'");
  }

  /// Whether it is the name that the variables are members of.
  [[nodiscard]] bool holds_variables(const node& x) const {
    const auto hidden = [&](const auto& local) { return local.first == x.text; };
    return x.what == node::kind::name && x.text == "variables" && known_.names.contains(x.text)
           && std::none_of(locals_.begin(), locals_.end(), hidden);
  }

  checked name(const node& x) {
    if (holds_variables(x))
      return wrong(x, "'variables' but for a member of it by name is outside the supported subset", true);
    for (auto it = locals_.rbegin(); it != locals_.rend(); ++it)
      if (it->first == x.text)
        return it->second;
    if (const auto found = known_.names.find(x.text); found != known_.names.end())
      return found->second;
    if (std::find(known_.unsupported.begin(), known_.unsupported.end(), x.text) != known_.unsupported.end())
      return wrong(x, "'" + x.text + "' is outside the supported subset", true);
    // The names of types are values.
    for (const auto* type_name : {"bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"})
      if (x.text == type_name)
        return of_kind(type::kind::type);
    return undeclared(x);
  }

  checked select(const node& x) {
    const auto& holder = *x.children[0];
    const bool of_variables = holds_variables(holder);
    auto of = of_variables ? checked{known_.names.find(holder.text)->second} : visit(holder);
    if (!of)
      return of;
    if (const auto found = known_.variable_depths.find(x.text); of_variables && found != known_.variable_depths.end())
      reach(depth_ + found->second);
    if (deepest_ > max_composed_depth)
      return wrong(x, "expression nests deeper than " + std::to_string(max_composed_depth) + " with the variables that it names", true);
    auto inner = *of;
    const bool optional = x.optional || inner.what == type::kind::optional;
    if (inner.what == type::kind::optional)
      inner = element_of(inner);
    type out;
    if (inner.what == type::kind::object) {
      const auto found = inner.fields->find(x.text);
      if (found == inner.fields->end())
        return wrong(x, "undefined field '" + x.text + "'");
      out = found->second;
    } else if (inner.what == type::kind::map) {
      out = held_of(inner);
    } else if (inner.what != type::kind::dyn) {
      return wrong(x, "type '" + to_string(inner) + "' does not support field selection");
    }
    if (x.what == node::kind::has)
      return boolean;
    return optional ? of_kind(type::kind::optional, {out}) : out;
  }

  checked index(const node& x) {
    auto of = visit(*x.children[0]);
    if (!of)
      return of;
    auto key = visit(*x.children[1]);
    if (!key)
      return key;
    auto inner = *of;
    const bool optional = x.optional || inner.what == type::kind::optional;
    if (inner.what == type::kind::optional)
      inner = element_of(inner);
    type out;
    bool good = inner.what == type::kind::dyn || inner.what == type::kind::object;
    if (inner.what == type::kind::list) {
      good = fits(*key, of_kind(type::kind::integer));
      out = element_of(inner);
    } else if (inner.what == type::kind::map) {
      good = fits(*key, key_of(inner));
      out = held_of(inner);
    }
    if (!good)
      return wrong(x, "found no matching overload for '_[_]' applied to '(" + to_string(inner) + ", " + to_string(*key) + ")'");
    return optional ? of_kind(type::kind::optional, {out}) : out;
  }

  checked call(const node& x) {
    std::vector<type> takes;
    if (overloads_of(x.text, x.member_call).empty() && x.text != "_?_:_" && x.text != "_&&_" && x.text != "_||_")
      return known_elsewhere(x.text) ? wrong(x, "the function '" + x.text + "' is outside the supported subset", true) : undeclared(x);
    for (const auto& child : x.children) {
      auto one = visit(*child);
      if (!one)
        return one;
      takes.push_back(std::move(*one));
    }
    if (x.text == "_?_:_") {
      if (!fits(takes[0], boolean) || !fits(takes[1], takes[2]))
        return no_match(x, takes);
      return joined(takes[1], takes[2]);
    }
    if (x.text == "_&&_" || x.text == "_||_")
      return fits(takes[0], boolean) && fits(takes[1], boolean) ? checked{boolean} : no_match(x, takes);
    if ((x.text == "_==_" || x.text == "_!=_") && !fits(takes[0], takes[1]))
      return no_match(x, takes);
    if (x.text == "@in" && !fits(takes[0], takes[1].what == type::kind::map ? key_of(takes[1]) : element_of(takes[1])))
      return no_match(x, takes);
    std::optional<type> out;
    for (const auto& one : overloads_of(x.text, x.member_call)) {
      if (one.takes.size() != takes.size() || !std::equal(takes.begin(), takes.end(), one.takes.begin(), &fits))
        continue;
      out = out ? joined(*out, one.gives) : one.gives;
    }
    if (!out)
      return no_match(x, takes);
    if (auto bad = bad_pattern(x))
      return tl::unexpected{std::move(*bad)};
    if (x.text == "value" || x.text == "orValue")
      return element_of(takes[0]);
    if (x.text == "optional.of" || x.text == "optional.ofNonZeroValue")
      return of_kind(type::kind::optional, {takes[0]});
    if (x.text == "_+_" && out->what == type::kind::list)
      return joined(takes[0], takes[1]);
    return *out;
  }

  /// A literal that is no regular expression: such a policy is refused at once.
  std::optional<problem> bad_pattern(const node& x) {
    const auto* pattern = pattern_of(x);
    if (pattern == nullptr)
      return std::nullopt;
    const auto size = pattern_size(*pattern);
    const auto at = x.children[1]->at;
    if (!size)
      return size.error().too_large ? problem{at, size.error().text, true} : problem{at, "invalid " + x.text + " argument", false};
    programs_ += *size;
    if (programs_ > max_pattern_programs)
      return problem{at, "regular expressions with more than " + std::to_string(max_pattern_programs) + " instructions", true};
    return std::nullopt;
  }

  checked list(const node& x) {
    std::optional<type> element;
    for (std::size_t i = 0; i < x.children.size(); ++i) {
      auto one = visit(*x.children[i]);
      if (!one)
        return one;
      const auto held = x.optional_items[i] ? element_of(*one) : *one;
      if (element && !alike(held, *element))
        return wrong(*x.children[i], "expected type '" + to_string(*element) + "' but found '" + to_string(held) + "'");
      element = element ? joined(*element, held) : held;
    }
    return of_kind(type::kind::list, {element.value_or(type{})});
  }

  checked map(const node& x) {
    std::optional<type> keys;
    std::optional<type> values;
    for (std::size_t i = 0; i < x.children.size(); ++i) {
      auto one = visit(*x.children[i]);
      if (!one)
        return one;
      auto& all = i % 2 == 0 ? keys : values;
      const auto held = i % 2 == 1 && x.optional_items[i / 2] ? element_of(*one) : *one;
      if (all && !alike(held, *all))
        return wrong(*x.children[i], "expected type '" + to_string(*all) + "' but found '" + to_string(held) + "'");
      all = all ? joined(*all, held) : held;
    }
    return of_kind(type::kind::map, {keys.value_or(type{}), values.value_or(type{})});
  }

  checked comprehension(const node& x) {
    auto of = visit(*x.children[0]);
    if (!of)
      return of;
    type element;
    if (of->what == type::kind::list)
      element = element_of(*of);
    else if (of->what == type::kind::map)
      element = key_of(*of);
    else if (of->what != type::kind::dyn && of->what != type::kind::object)
      return wrong(*x.children[0],
                   "expression of type '" + to_string(*of) + "' cannot be range of a comprehension (must be list, map, or dynamic)");
    locals_.emplace_back(x.text, element);
    auto body = visit(*x.children[1]);
    auto condition = x.children.size() == 3 && body ? visit(*x.children[2]) : checked{boolean};
    locals_.pop_back();
    if (!body || !condition)
      return body ? condition : body;
    if (x.what == node::kind::transform) {
      if (!fits(*condition, boolean))
        return wrong(*x.children[2], "expected type 'bool' but found '" + to_string(*condition) + "'");
      return of_kind(type::kind::list, {*body});
    }
    if (!fits(*body, boolean))
      return wrong(*x.children[1], "expected type 'bool' but found '" + to_string(*body) + "'");
    return x.what == node::kind::filter ? of_kind(type::kind::list, {element}) : boolean;
  }

  const environment& known_;
  std::vector<std::pair<std::string, type>> locals_;
  int depth_ = 0;
  int deepest_ = 0;
  std::size_t programs_ = 0;
};

} // namespace

tl::expected<verdict, problem> check(const node& root, const environment& known) {
  return checker{known}.whole(root);
}

} // namespace paddock::embedded::cel
