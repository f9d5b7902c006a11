#include "embedded/cel_lexer.hpp"

#include <array>
#include <charconv>

namespace paddock::embedded::cel {

namespace {

using kind = node::kind;
using parsed = tl::expected<node_ptr, problem>;

constexpr std::array<std::string_view, 18> reserved{"as",   "break",     "const",   "continue", "else", "false",
                                                    "for",  "function",  "if",      "import",   "in",   "let",
                                                    "loop", "namespace", "package", "return",   "true", "null"};

node_ptr make(kind what, std::size_t at, std::string text = {}) {
  auto out = std::make_unique<node>();
  out->what = what;
  out->at = at;
  out->text = std::move(text);
  return out;
}

tl::unexpected<problem> wrong(std::size_t at, std::string text) {
  return tl::unexpected{problem{at, "Syntax error: " + std::move(text), false}};
}

/// The binary operators from the loosest to the tightest.
struct level {
  std::array<std::string_view, 7> symbols;
};
constexpr std::array<level, 5> levels{
  level{{"||"}}, level{{"&&"}}, level{{"==", "!=", "<", "<=", ">", ">=", "in"}}, level{{"+", "-"}}, level{{"*", "/", "%"}},
};

std::string function_of(std::string_view symbol) {
  return symbol == "in" ? "@in" : "_" + std::string{symbol} + "_";
}

class parser {
public:
  explicit parser(std::vector<token> tokens) : tokens_(std::move(tokens)) {
  }

  parsed whole() {
    auto out = expression();
    if (out && now().what != token::kind::end)
      return wrong(now().at, "mismatched input " + shown() + " expecting <EOF>");
    return out;
  }

private:
  // -- tokens -----------------------------------------------------------------------------------------------------

  [[nodiscard]] const token& now() const {
    return tokens_[next_];
  }
  [[nodiscard]] bool is(std::string_view symbol) const {
    return now().what == token::kind::symbol && now().text == symbol;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return now().what == token::kind::identifier && now().text == word;
  }
  bool take(std::string_view symbol) {
    const bool there = is(symbol);
    next_ += there ? 1 : 0;
    return there;
  }
  [[nodiscard]] std::string shown() const {
    if (now().what == token::kind::end)
      return "'<EOF>'";
    return now().what == token::kind::text ? "a string" : "'" + now().text + "'";
  }
  [[nodiscard]] tl::unexpected<problem> unexpected_here() const {
    return wrong(now().at, "no viable alternative at input " + shown());
  }
  /// No name follows a dot.
  [[nodiscard]] tl::unexpected<problem> unexpected_after_dot() const {
    if (now().what != token::kind::end && now().what != token::kind::symbol)
      return unexpected_here();
    return wrong(now().at, "no viable alternative at input '." + now().text + "'");
  }
  [[nodiscard]] tl::unexpected<problem> missing(std::string_view symbol) const {
    return wrong(now().at, "missing '" + std::string{symbol} + "' at " + shown());
  }

  // -- expressions ------------------------------------------------------------------------------------------------

  /// One level of nesting; ends what would recurse too deep or grow too large.
  class nested {
  public:
    explicit nested(int& depth) : depth_(depth) {
      ++depth_;
    }
    ~nested() {
      --depth_;
    }
    nested(const nested&) = delete;
    nested& operator=(const nested&) = delete;

  private:
    int& depth_;
  };

  [[nodiscard]] tl::unexpected<problem> too_deep() const {
    return tl::unexpected{problem{now().at, "expression nests deeper than " + std::to_string(max_expression_depth), true}};
  }

  parsed expression() {
    const nested one{depth_};
    if (depth_ > max_expression_depth)
      return too_deep();
    auto condition = binary(0);
    if (!condition || !is("?"))
      return condition;
    auto out = make(kind::call, now().at, "_?_:_");
    take("?");
    auto yes = binary(0);
    if (!yes)
      return yes;
    if (!take(":"))
      return missing(":");
    auto no = expression();
    if (!no)
      return no;
    return finish(std::move(out), std::move(*condition), std::move(*yes), std::move(*no));
  }

  template <class... Children>
  parsed finish(node_ptr out, Children... children) {
    (out->children.push_back(std::move(children)), ...);
    for (const auto& x : out->children)
      out->depth = std::max(out->depth, x->depth + 1);
    if (out->depth > max_expression_depth)
      return too_deep();
    if (++nodes_ > max_expression_nodes)
      return tl::unexpected{problem{now().at, "expression has more than " + std::to_string(max_expression_nodes) + " parts", true}};
    return out;
  }

  [[nodiscard]] std::optional<std::string_view> operator_of(std::size_t which) const {
    for (const auto symbol : levels[which].symbols)
      if (!symbol.empty() && (symbol == "in" ? is_word("in") : is(symbol)))
        return symbol;
    return std::nullopt;
  }

  parsed binary(std::size_t which) {
    if (which == levels.size())
      return unary();
    auto left = binary(which + 1);
    while (left) {
      const auto symbol = operator_of(which);
      if (!symbol)
        break;
      auto out = make(kind::call, now().at, function_of(*symbol));
      ++next_;
      auto right = binary(which + 1);
      if (!right)
        return right;
      left = finish(std::move(out), std::move(*left), std::move(*right));
    }
    return left;
  }

  parsed unary() {
    const nested one{depth_};
    if (depth_ > max_expression_depth)
      return too_deep();
    const auto at = now().at;
    if (take("!")) {
      auto what = unary();
      return what ? finish(make(kind::call, at, "!_"), std::move(*what)) : std::move(what);
    }
    if (is("-") && tokens_[next_ + 1].what != token::kind::number) {
      take("-");
      auto what = unary();
      return what ? finish(make(kind::call, at, "-_"), std::move(*what)) : std::move(what);
    }
    return member();
  }

  parsed member() {
    auto out = primary();
    while (out) {
      const auto at = now().at;
      if (take("."))
        out = after_dot(std::move(*out), at);
      else if (take("["))
        out = after_bracket(std::move(*out), at);
      else if (is("{"))
        return tl::unexpected{problem{at, "message literals are not supported", true}};
      else
        break;
    }
    return out;
  }

  parsed after_dot(node_ptr of, std::size_t dot) {
    const bool optional = take("?");
    if (now().what != token::kind::identifier)
      return optional ? unexpected_here() : unexpected_after_dot();
    const auto name = now().text;
    ++next_;
    if (!optional && is("(")) {
      const auto at = now().at;
      take("(");
      // `optional.of` and `sets.contains` are functions with a dot in the name.
      if (of->what == kind::name && (of->text == "optional" || of->text == "sets"))
        return call(nullptr, of->text + "." + name, at);
      return call(std::move(of), name, at);
    }
    auto out = make(kind::select, dot, name);
    out->optional = optional;
    return finish(std::move(out), std::move(of));
  }

  parsed after_bracket(node_ptr of, std::size_t at) {
    auto out = make(kind::index, at);
    out->optional = take("?");
    auto key = expression();
    if (!key)
      return key;
    if (!take("]"))
      return missing("]");
    return finish(std::move(out), std::move(of), std::move(*key));
  }

  // -- calls and macros -------------------------------------------------------------------------------------------

  tl::expected<std::vector<node_ptr>, problem> arguments(std::string_view close) {
    std::vector<node_ptr> out;
    while (!take(close)) {
      if (!out.empty() && !take(","))
        return missing(close);
      auto one = expression();
      if (!one)
        return tl::unexpected{one.error()};
      out.push_back(std::move(*one));
    }
    return out;
  }

  parsed call(node_ptr of, const std::string& name, std::size_t at) {
    auto all = arguments(")");
    if (!all)
      return tl::unexpected{all.error()};
    if (of && (name == "all" || name == "exists" || name == "exists_one" || name == "existsOne" || name == "filter" || name == "map"))
      if (all->size() == 2 || (name == "map" && all->size() == 3))
        return comprehension(std::move(of), name, std::move(*all), at);
    if (!of && name == "has" && all->size() == 1) {
      auto& what = (*all)[0];
      if (what->what != kind::select || what->optional)
        return tl::unexpected{problem{what->at, "invalid argument to has() macro", false}};
      auto out = make(kind::has, at, what->text);
      return finish(std::move(out), std::move(what->children[0])); // the select goes, what it selects from stays
    }
    auto out = make(kind::call, at, name);
    out->member_call = of != nullptr;
    if (of)
      out->children.push_back(std::move(of));
    for (auto& x : *all)
      out->children.push_back(std::move(x));
    return finish(std::move(out));
  }

  parsed comprehension(node_ptr of, const std::string& name, std::vector<node_ptr> all, std::size_t at) {
    if (all[0]->what != kind::name)
      return tl::unexpected{problem{all[0]->at, "argument must be a simple name", false}};
    const auto what = name == "all"      ? kind::all
                      : name == "exists" ? kind::exists
                      : name == "filter" ? kind::filter
                      : name == "map"    ? kind::transform
                                         : kind::exists_one;
    auto out = make(what, at, all[0]->text);
    if (all.size() == 3) // map(x, condition, value)
      return finish(std::move(out), std::move(of), std::move(all[2]), std::move(all[1]));
    return finish(std::move(out), std::move(of), std::move(all[1]));
  }

  // -- primaries --------------------------------------------------------------------------------------------------

  parsed primary() {
    const auto at = now().at;
    if (now().what == token::kind::text) {
      auto out = make(kind::literal, at);
      out->constant = now().constant;
      ++next_;
      return finish(std::move(out));
    }
    if (now().what == token::kind::number || is("-"))
      return number();
    if (take("(")) {
      auto inner = expression();
      if (inner && !take(")"))
        return missing(")");
      return inner;
    }
    if (take("["))
      return list(at);
    if (take("{"))
      return map(at);
    const bool rooted = take("."); // a leading dot means the root, which is the only scope
    if (now().what != token::kind::identifier)
      return rooted ? unexpected_after_dot() : unexpected_here();
    return word();
  }

  parsed word() {
    const auto at = now().at;
    const auto name = now().text;
    if (name == "true" || name == "false" || name == "null") {
      auto out = make(kind::literal, at);
      out->constant = name == "null" ? value{} : value{value::content{name == "true"}};
      ++next_;
      return finish(std::move(out));
    }
    if (!is_identifier(name))
      return wrong(at, "mismatched input '" + name + "' expecting an identifier");
    ++next_;
    if (is("(")) {
      const auto open = now().at;
      take("(");
      return call(nullptr, name, open);
    }
    return finish(make(kind::name, at, name));
  }

  parsed number() {
    const auto at = now().at;
    const bool negative = take("-");
    auto out = make(kind::literal, at);
    if (const auto* real = now().constant.as<double>()) {
      out->constant = value::content{negative ? -*real : *real};
    } else if (now().constant.as<std::uint64_t>() != nullptr) {
      if (negative)
        return unexpected_here();
      out->constant = now().constant;
    } else {
      const auto text = std::string_view{now().text};
      const bool hex = text.starts_with("0x") || text.starts_with("0X");
      const auto digits = (negative ? "-" : "") + std::string{hex ? text.substr(2) : text};
      std::int64_t whole = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole, hex ? 16 : 10);
      if (error != std::errc{} || end != digits.data() + digits.size())
        return tl::unexpected{problem{at, "invalid int literal", false}};
      out->constant = value::content{whole};
    }
    ++next_;
    return finish(std::move(out));
  }

  parsed list(std::size_t at) {
    auto out = make(kind::list, at);
    while (!take("]")) {
      if (!out->children.empty() && !take(","))
        return missing("]");
      if (!out->children.empty() && take("]"))
        break;
      out->optional_items.push_back(take("?"));
      auto one = expression();
      if (!one)
        return one;
      out->children.push_back(std::move(*one));
    }
    return finish(std::move(out));
  }

  parsed map(std::size_t at) {
    auto out = make(kind::map, at);
    while (!take("}")) {
      if (!out->children.empty() && !take(","))
        return missing("}");
      if (!out->children.empty() && take("}"))
        break;
      out->optional_items.push_back(take("?"));
      auto key = expression();
      if (!key)
        return key;
      if (!take(":"))
        return missing(":");
      auto held = expression();
      if (!held)
        return held;
      out->children.push_back(std::move(*key));
      out->children.push_back(std::move(*held));
    }
    return finish(std::move(out));
  }

  std::vector<token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
  std::size_t nodes_ = 0;
};

} // namespace

bool is_identifier(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  if (text.empty() || (text[0] >= '0' && text[0] <= '9') || !std::all_of(text.begin(), text.end(), fits))
    return false;
  return std::find(reserved.begin(), reserved.end(), text) == reserved.end() && text != "var" && text != "void" && text != "while";
}

tl::expected<node_ptr, problem> parse(std::string_view text) {
  if (text.size() > max_expression_bytes)
    return tl::unexpected{problem{0, "expression is longer than " + std::to_string(max_expression_bytes) + " bytes", true}};
  auto tokens = read_tokens(text);
  if (!tokens)
    return tl::unexpected{problem{tokens.error().at, "Syntax error: " + tokens.error().text, false}};
  return parser{std::move(*tokens)}.whole();
}

} // namespace paddock::embedded::cel
