#define CAF_SUITE cel

#include "embedded/cel.hpp"

#include <caf/test/bdd_dsl.hpp>

// What expressions mean is held against a real server in admission_expressions; here are the bounds, and what lies outside.

using namespace paddock::embedded;
using namespace paddock::embedded::cel;

namespace {

class object_scope final : public scope {
public:
  explicit object_scope(json object) : object_(std::move(object)) {
  }
  evaluated find(std::string_view name) const override {
    return name == "object" ? evaluated{value::of(object_)} : evaluated{value{}};
  }
  evaluated variable(std::string_view name, budget&) const override {
    return tl::unexpected{"no such key: " + std::string{name}};
  }

private:
  json object_;
};

environment known() {
  environment out;
  out.names = {{"object", type{}}};
  out.unsupported = {"authorizer"};
  return out;
}

/// `true`, `false`, or why there is no value.
std::string outcome(const std::string& text, const json& object = json::object(), std::int64_t steps = 100'000) {
  const auto made = program::compile(text, known());
  if (!made)
    return (made.error().unsupported ? "unsupported: " : "refused: ") + made.error().text;
  budget cost{steps};
  const object_scope names{object};
  const auto got = made->run(names, cost);
  if (!got)
    return got.error();
  const auto* yes = got->as<bool>();
  return yes == nullptr ? got->type_name() : *yes ? "true" : "false";
}

std::string repeated(const std::string& text, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i)
    out += text;
  return out;
}

} // namespace

SCENARIO("an expression that is too long, too deep or too large is outside the subset, and nothing recurses on it") {
  for (const auto& text :
       {repeated("(", 100'000), repeated("!", 10'000) + "true", repeated("(", 1'000) + "true" + repeated(")", 1'000),
        "true" + repeated(" && true", 1'000), "[" + repeated("1,", 5'000) + "1] == []", repeated("[", 300) + repeated("]", 300),
        "object" + repeated(".a", 1'000), "object" + repeated("[0]", 1'000), repeated("true ? true : ", 500) + "true"})
    CHECK(outcome(text).starts_with("unsupported: ERROR: <input>:"));
  CHECK_EQ(outcome("true" + repeated(" && true", 150)), "true");
}

SCENARIO("an expression ends when its budget is used up, and no operator hides that") {
  const auto object = json{{"list", json::array()}};
  auto large = object;
  for (int i = 0; i < 200; ++i)
    large["list"].push_back(i);
  const auto limit = "operation cancelled: actual cost limit exceeded";
  const std::string nested = "object.list.all(a, object.list.all(b, object.list.all(c, a + b + c >= 0)))";
  CHECK_EQ(outcome(nested, large), limit);
  CHECK_EQ(outcome(nested + " || true", large), limit);
  CHECK_EQ(outcome("object.list.exists(a, " + nested + ") || true", large), limit);
  CHECK_EQ(outcome("object.list.all(a, a >= 0)", large), "true");
  CHECK_EQ(outcome("object.list.all(a, a >= 0)", large, 100), limit);
  // Texts that double cost what they weigh.
  auto text = std::string{"object.text"};
  for (int i = 0; i < 30; ++i)
    text = "[" + text + "].map(x, x + x)[0]";
  CHECK_EQ(outcome(text + ".size() > 0", json{{"text", repeated("x", 1000)}}), limit);
  const json long_ones{{"text", repeated("a", 100'000)}, {"pattern", repeated("a", 4'000)}};
  CHECK_EQ(outcome("object.text.matches(object.pattern)", long_ones), limit);
  CHECK_EQ(outcome("object.text.matches(object.text)", long_ones), "regular expression is longer than 4096 bytes");
}

namespace {

constexpr auto exceeded = "operation cancelled: actual cost limit exceeded";

} // namespace

SCENARIO("a comparison is paid by all that it looks at") {
  auto numbers = json::array();
  for (int i = 0; i < 50'000; ++i)
    numbers.push_back(i);
  const json object{{"a", json::array({numbers})}, {"b", json::array({numbers})}, {"text", repeated("x", 1'000'000)}};
  CHECK_EQ(outcome("object.a == object.b", object), "true");
  for (const auto* text : {"object.a == object.b", "object.a != object.b", "object.a in [object.b]", "[object.a].indexOf(object.b) == 0",
                           "sets.contains([object.a], [object.b])", "{object.a: 1}[object.b] == 1", "{object.a: 1, object.b: 2} == {}",
                           "object.text == object.text", "[object.text, object.text].isSorted()", "{object.text: 1}[object.text] == 1"})
    CHECK_EQ(outcome(text, object, 20'000), exceeded);
  // What differs early costs little.
  CHECK_EQ(outcome("object.a == [1] || object.text == 'x' || object.text == object.text + 'x'", object, 200'100), "false");
  CHECK_EQ(outcome("object.a == [1] || object.text == 'x'", object, 100), "false");
}

SCENARIO("a value whose parts are shared is not compared for free") {
  auto text = std::string{"[object]"};
  for (int i = 0; i < 40; ++i)
    text = "[" + text + "].map(a, [a, a])[0]";
  CHECK_EQ(outcome("[" + text + "].all(x, x == x)"), exceeded);
}

SCENARIO("making texts is paid by their sizes, and passing them on is not") {
  const json object{{"text", repeated("a,", 100'000)}};
  std::string all;
  for (int i = 0; i < 1'000; ++i)
    all += "object.text,";
  CHECK_EQ(outcome("[" + all + "].size() == 1000", object, 4'000), "true");
  CHECK_EQ(outcome("[object.text].all(t, [t, t, t, t].map(x, x).size() == 4)", object, 100), "true");
  for (const auto& text :
       {"[" + all + "].join() == ''", "[" + all + "].join(',') == ''", std::string{"object.text.split('').size() == 200000"},
        std::string{"object.text.split(',').size() > 100"}, std::string{"object.text.replace('', '--') == ''"},
        std::string{"(object.text + object.text + object.text) == ''"}})
    CHECK_EQ(outcome(text, object, 50'000), exceeded);
}

SCENARIO("a failure that names a key does not repeat all of a long one") {
  CHECK_EQ(outcome("{'a': 1}[object.text] == 1", json{{"text", repeated("é", 100'000)}}), "no such key: " + repeated("é", 256) + "...");
}

SCENARIO("a type that grows with each step is outside the subset") {
  auto text = std::string{"[1]"};
  for (int i = 0; i < 30; ++i)
    text += ".map(a, {a: a})";
  CHECK_NE(outcome(text + ".size() == 1").find("type with more than 256 parts"), std::string::npos);
  CHECK_EQ(outcome(repeated("[", 90) + "1" + repeated("]", 90) + ".size() == 1"), "true");
}

SCENARIO("a regular expression is paid by the size of its program, and is bounded") {
  auto many = json::array();
  for (int i = 0; i < 200; ++i)
    many.push_back(i);
  const json object{{"list", many}, {"large", "[^a]{500}b"}, {"long", repeated("a", 5'000)}, {"huge", "\\p{L}{1000}"}};
  CHECK_EQ(outcome("object.list.all(x, !'x'.matches(object.large))", object), exceeded);
  CHECK_EQ(outcome("object.list.all(x, !'x'.matches(object.huge) || true)", object), exceeded);
  CHECK_EQ(outcome("'x'.matches(object.long)", object), "regular expression is longer than 4096 bytes");
  CHECK_EQ(outcome("object.list.all(x, string(x).matches('^[0-9]+$'))", object), "true");
  // Literals are made when the expression is checked.
  CHECK(outcome("'x'.matches('" + repeated("a", 5'000) + "')").starts_with("unsupported: "));
  CHECK(outcome("'x'.matches('\\\\p{L}{1000}')").starts_with("unsupported: "));
  CHECK(outcome("true" + repeated(" && 'x'.matches('[^a]{500}')", 50)).starts_with("unsupported: "));
  CHECK_EQ(outcome("true" + repeated(" && 'x'.matches('^[a-z]+$')", 50)), "true");
  CHECK(outcome("'x'.matches('(')").starts_with("refused: "));
}

SCENARIO("a regular expression takes time in the length of its text only") {
  CHECK_EQ(outcome("object.text.matches('^(a+)+$')", json{{"text", repeated("a", 5'000) + "b"}}), "false");
  CHECK_EQ(outcome("object.text.matches('(a|a)*b')", json{{"text", repeated("a", 5'000)}}), "false");
}

SCENARIO("what CEL has and the subset has not is said to be outside") {
  for (const auto* text :
       {"quantity('1Gi').isGreaterThan(quantity('1Mi'))", "duration('1h') > duration('1m')", "url('https://a').getHost() == 'a'",
        "ip('127.0.0.1').family() == 4", "authorizer.group('').resource('pods').check('get').allowed()", "'%s'.format(['a']) == 'a'",
        "optional.of(1).optMap(x, x + 1).hasValue()", "Thing{a: 1} == object"})
    CHECK(outcome(text).starts_with("unsupported: ERROR: <input>:1:"));
  CHECK(outcome("nothing(1)").starts_with("refused: "));
}

SCENARIO("a refusal points at the place, over lines and characters") {
  CHECK_EQ(outcome("true &&\n  'é' == nothing"), "refused: ERROR: <input>:2:10: undeclared reference to 'nothing' (in container '')\n"
                                                 " |   'é' == nothing\n | .........^");
}

SCENARIO("whatever is cut off or mixed up is refused and not read") {
  const std::string whole =
    R"(has(object.a) ? [1, 2u, 0x1f][0] in {'k': 1.5e3} : "\u00e9\x41\n" + '''x''' != r'\d' && -object.b[?"c"] >= 1)";
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK(!outcome(whole.substr(0, n)).empty());
  for (const auto* text : {"'",
                           "\"\\",
                           "'\\u12'",
                           "'\\ud800'",
                           "b'\\xzz'",
                           "1e",
                           "0x",
                           "1u2",
                           "99999999999999999999",
                           "99999999999999999999u",
                           "a.b.",
                           "{1:}",
                           "[1,,2]",
                           "has(1)",
                           "[].map(x)",
                           "&",
                           "#",
                           "\x80",
                           "`a`",
                           "1 ? 2",
                           "in",
                           "as",
                           "(",
                           ")",
                           "[",
                           "]",
                           "{",
                           "}"})
    CHECK(outcome(text).starts_with("refused: ERROR: <input>:"));
}

SCENARIO("numbers compare by what they are worth, at the ends of their ranges too") {
  const json object{{"big", 9007199254740993}, {"real", 9007199254740992.0}, {"max", INT64_MAX}};
  CHECK_EQ(outcome("object.big > object.real && object.big != object.real", object), "true");
  CHECK_EQ(outcome("dyn(9223372036854775807) < dyn(9223372036854775808u) && dyn(object.max) == dyn(9223372036854775807u)", object), "true");
  CHECK_EQ(outcome("dyn(0.0 / 0.0) == dyn(1)"), "false");
  CHECK_EQ(outcome("0.0 / 0.0 < 1.0 || 0.0 / 0.0 >= 1.0"), "false");
  CHECK_EQ(outcome("-9223372036854775808 / -1 == 0"), "integer overflow");
  CHECK_EQ(outcome("-9223372036854775808 % -1 == 0"), "integer overflow");
}
