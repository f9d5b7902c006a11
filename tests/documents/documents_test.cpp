#define CAF_SUITE documents

#include "documents/documents.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::documents;
using nlohmann::json;

namespace {

/// `line: value`, one a document; or `refused LINE: problem`.
std::string read(std::string_view text) {
  const auto got = read_documents(text);
  if (!got)
    return "refused " + std::to_string(got.error().line) + ": " + got.error().problem;
  auto all = std::string{};
  for (const auto& x : *got)
    all += (all.empty() ? "" : " | ") + std::to_string(x.line) + ": " + x.value.dump();
  return all;
}

bool is_refused(std::string_view text, std::size_t line, std::string_view problem) {
  const auto got = read_documents(text);
  return !got && got.error().line == line && got.error().problem.find(problem) != std::string::npos;
}

std::string repeated(std::string_view what, std::size_t n) {
  auto got = std::string{};
  for (auto i = std::size_t{0}; i < n; ++i)
    got += what;
  return got;
}

} // namespace

SCENARIO("a text holds documents of YAML or of JSON, and each has a line") {
  CHECK_EQ(read(""), "");
  CHECK_EQ(read("# nothing\n"), "");
  CHECK_EQ(read("a: 1\n"), R"(1: {"a":1})");
  CHECK_EQ(read("# x\n---\na: 1\n---\n---\n# y\nb: [2, 'x', \"53\"]\n...\n"), R"(3: {"a":1} | 5: null | 7: {"b":[2,"x","53"]})");
  CHECK_EQ(read("\n{\"a\": 1}\n\n{\"b\":\n [true, null, 1.5]} 7 \"x\""), R"(2: {"a":1} | 4: {"b":[true,null,1.5]} | 5: 7 | 5: "x")");
  CHECK_EQ(read("{a: 1}\n---\n{\"b\": 2}\n"), R"(1: {"a":1} | 3: {"b":2})");
  CHECK_EQ(read("{\"a\": \"\\ud83d\\ude00\"}"), R"(1: {"a":"😀"})");
  CHECK_EQ(read("\xEF\xBB\xBF"
                "a: 1\r\nb: 2\r\n"),
           R"(1: {"a":1,"b":2})");
  CHECK_EQ(read("a: |\n  two\n  lines\nb: !!str 5\n"), R"(1: {"a":"two\nlines\n","b":"5"})");
}

SCENARIO("a key that stands twice is refused by its line") {
  CHECK_EQ(read("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n"), "refused 5: has the key \"c\" twice");
  CHECK_EQ(read("{\n\"a\": 1,\n\"b\": {},\n\"a\": 1}"), "refused 4: has the key \"a\" twice");
  CHECK_EQ(read("a: 1\n\"a\": 1\n"), "refused 2: has the key \"a\" twice");
  CHECK_EQ(read("{\"a\": 1, \"\\u0061\": 2}"), "refused 1: has the key \"a\" twice");
  CHECK_EQ(read("a: {b: 1}\n---\na: {b: 2}\n"), R"(1: {"a":{"b":1}} | 3: {"a":{"b":2}})");
}

SCENARIO("what not everyone reads alike is refused by its line") {
  CHECK(is_refused("a: &x {b: 1}\nc:\n  <<: *x\n", 3, "merge key"));
  CHECK_EQ(read("\"<<\": 1\n"), R"(1: {"<<":1})");
  CHECK(is_refused("a: 1\nb: !custom 2\n", 2, "the tag !custom"));
  CHECK(is_refused("a: !!int \"5\"\n", 1, "tag"));
  CHECK(is_refused("a: 1\n[b]: 2\n", 2, "key that is no text"));
  CHECK(is_refused("a: 1\n~: 2\n", 2, "key that is nothing"));
  CHECK(is_refused("a: &x 1\n*x : 2\n", 2, "alias for a key"));
  CHECK(is_refused("a: 1\nb: &x:y 2\n", 2, "the anchor x:y"));
  CHECK(is_refused("a: 1\n&x:y c : 2\n", 2, "the anchor x:y"));
}

SCENARIO("what only some readers take for the end of a line is refused, so that nobody reads a member in a comment of another") {
  for (const auto* end : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF", "\xC2\x9B", "\r", "\x0C"}) {
    CHECK(is_refused("a: 1\n# no" + std::string{end} + "b: 2\n", 2, "control character"));
    CHECK(is_refused("{\"a\":\n\"" + std::string{end} + "\"}", 2, "control character"));
  }
  CHECK_EQ(read("a: \"\\u2028\"\nb: \"\xC2\xA0\xE2\x80\xA7\"\n"), "1: {\"a\":\"\xE2\x80\xA8\",\"b\":\"\xC2\xA0\xE2\x80\xA7\"}");
}

SCENARIO("a further document that some readers pass over is refused") {
  CHECK(is_refused("a: 1\n--- {b: 2}\n", 2, "on the line of its ---"));
  CHECK(is_refused("a: 1\n--- |\n x\n", 2, "on the line of its ---"));
  CHECK_EQ(read("--- {a: 1}\n---\t # x\r\nb: 2\n---\r\nc: 3\n"), R"(1: {"a":1} | 3: {"b":2} | 5: {"c":3})");
}

SCENARIO("a scalar in doubt is told with its place, and its text stands for it") {
  const auto got = read_documents("a: 1\n---\nspec:\n  on: x\n  ports:\n  - port: 443\n  - port: 0065\n  fine: \"yes\"\n");
  REQUIRE(got);
  REQUIRE_EQ(got->size(), 2u);
  CHECK(got->at(0).doubts.empty());
  REQUIRE_EQ(got->at(1).doubts.size(), 2u);
  CHECK_EQ(got->at(1).doubts[0].path, "spec.on");
  CHECK_EQ(got->at(1).doubts[0].line, 4u);
  CHECK_EQ(got->at(1).doubts[1].path, "spec.ports[1].port");
  CHECK_EQ(got->at(1).doubts[1].line, 7u);
  CHECK_EQ(got->at(1).doubts[1].text, "0065");
  CHECK_EQ(got->at(1).value["spec"]["ports"][1]["port"], "0065");
  THEN("so is a key that would not stay a text, and decimals stay what they are") {
    const auto keys = read_documents("80: a\ntrue: b\n0x50: c\n");
    REQUIRE(keys);
    CHECK_EQ(keys->at(0).value["80"], "a");
    REQUIRE_EQ(keys->at(0).doubts.size(), 2u);
    CHECK_EQ(keys->at(0).doubts[0].path, "true");
  }
  THEN("JSON has no such scalars") {
    const auto plain = read_documents(R"({"a": "yes", "on": 1e3})");
    REQUIRE(plain);
    CHECK(plain->at(0).doubts.empty());
  }
}

SCENARIO("what is neither YAML nor JSON is refused by its line") {
  CHECK(is_refused("a: 1\nb: [1, 2\nc: 3\n", 3, "is not YAML"));
  CHECK(is_refused("a: 1\n  b: 2\n", 2, "is not YAML"));
  CHECK(is_refused("  a: 1\nb: 2\n", 2, "belongs to nothing above it"));
  CHECK(is_refused("--- ,", 1, "belongs to nothing above it"));
  CHECK(is_refused(",", 1, "is not YAML"));
  CHECK(is_refused("a: *unknown\n", 1, "is not YAML"));
  CHECK(is_refused("{\n\"a\": 1,\n\"b\" 2}", 3, "is not JSON"));
  CHECK(is_refused("{\"a\": 1,\n", 2, "is not JSON"));
  CHECK(is_refused("{\"a\": 1", 1, "is not JSON"));
  CHECK(is_refused("[1,\n2", 2, "is not JSON"));
  CHECK(is_refused("{\n\"a\": 1e999}", 2, "out of range"));
  CHECK(is_refused("a: \xff\n", 1, "not UTF-8"));
  CHECK(is_refused("\xff\xfe"
                   "a\0:\0",
                   1, "not UTF-8"));
  for (const auto* text : {"{",       "[",     "}",  "\"", "'", "%", "%YAML", "@",  "`",      "? ",     "- -",
                           "a: b: c", "\t- a", "&a", "*a", "!", "|", ">",     "{a", "[a,,b]", "{\"a\"}"})
    read(text); // ends
}

SCENARIO("nesting and aliases are bounded") {
  CHECK(is_refused(repeated("[", 100'000), 1, "levels deep"));
  CHECK(is_refused(repeated("{\"a\":", 101) + "1" + repeated("}", 101), 1, "more than 100 levels deep"));
  CHECK(read_documents(repeated("{\"a\":", 100) + "1" + repeated("}", 100)));
  CHECK(is_refused("a: " + repeated("[", 200) + repeated("]", 200), 1, "levels deep"));
  CHECK(is_refused("a: " + repeated("- ", 100'000) + "x", 1, ""));
  auto laughs = std::string{"a: &a [x, x, x, x, x, x, x, x, x, x]\n"};
  for (auto x = 'b'; x < 'k'; ++x)
    laughs += std::string{x} + ": &" + x + " [" + repeated(std::string{"*"} + static_cast<char>(x - 1) + ",", 10) + "]\n";
  CHECK(is_refused(laughs, 5, "aliases for more than 100000 values"));
  const auto long_text = "a: &a " + std::string(1024 * 1024, 'x') + "\nb:\n";
  CHECK(read_documents(long_text + repeated("- *a\n", 64)));
  CHECK(is_refused(long_text + repeated("- *a\n", 65), 67, "aliases for more than 64 MiB of text"));
  CHECK(is_refused("a: &a [*a]\n", 1, "within what it stands for"));
  CHECK_EQ(read("a: &x {b: [1]}\nc: *x\nd: &s text\ne: [*s, *s]\n"), R"(1: {"a":{"b":[1]},"c":{"b":[1]},"d":"text","e":["text","text"]})");
  CHECK(is_refused(std::string(largest_text + 1, ' '), 1, "larger than"));
}

SCENARIO("the line of a value is found by its path") {
  const auto* text = "# a\nkind: List\nitems:\n- kind: A\n  spec:\n    egress:\n    - to: []\n    - to:\n      - x: 1\n---\n- kind: B\n";
  const auto got = read_documents(text);
  REQUIRE(got);
  REQUIRE_EQ(got->size(), 2u);
  CHECK_EQ(got->at(1).line, 11u);
  const auto lines = lines_of(text, {{2, "items[0].spec.egress[1].to[0].x"},
                                     {2, "items[0].spec.egress[1]"},
                                     {2, "items[0].spec.egress[1].to[0].missing.y"},
                                     {2, "items[0].speck"},
                                     {2, "items[0].spec.egress[10]"},
                                     {2, "items[0].spec.egress[1].to[0].x"},
                                     {2, ""},
                                     {11, "[0].kind"}});
  CHECK_EQ(lines, (std::vector<std::size_t>{9, 8, 9, 4, 6, 9, 2, 11}));
  CHECK_EQ(lines_of("{\n\"a\":\n{\"b\": 1}\n}", {{1, "a.b"}, {1, "a.c"}}), (std::vector<std::size_t>{3, 2}));
}
