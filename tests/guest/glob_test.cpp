#define CAF_SUITE glob

#include "guest/braces.hpp"
#include "guest/glob.hpp"
#include "guest/glob_paths.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock::guest;

namespace {

bool matches(std::string_view pattern, std::string_view name, bool hidden = false) {
  auto segment = glob_segment::compile(pattern);
  return segment && segment->matches(characters_of(name), hidden);
}

std::string joined(const std::optional<std::vector<std::string>>& words) {
  if (!words)
    return "(too many)";
  auto result = std::string{};
  for (const auto& word : *words)
    result += result.empty() ? word : " " + word;
  return result;
}

std::string expanded(std::string_view pattern, std::size_t most = 256) {
  return joined(expand_braces(pattern, most));
}

// The names of `path` one after the other, as a walk takes them. Absent: the branches cannot be compiled.
std::optional<bool> path_matches(const std::vector<std::string>& branches, std::string_view path, bool hidden = false) {
  auto paths = glob_paths::compile(branches, hidden);
  if (!paths)
    return std::nullopt;
  auto places = paths->start();
  for (;;) {
    auto slash = path.find('/');
    paths->take(path.substr(0, slash));
    if (slash == std::string_view::npos)
      return paths->matches(places);
    places = paths->below(places);
    path.remove_prefix(slash + 1);
  }
}

bool enters(const std::vector<std::string>& branches, std::vector<std::string> names, bool hidden = false) {
  auto paths = glob_paths::compile(branches, hidden).value();
  auto places = paths.start();
  for (const auto& name : names) {
    paths.take(name);
    places = paths.below(places);
  }
  return !places.empty();
}

} // namespace

SCENARIO("braces stand for several patterns") {
  CHECK_EQ(expanded("abc"), "abc");
  CHECK_EQ(expanded("a{b,c{d,e}}f"), "abf acdf acef");
  CHECK_EQ(expanded("{a,b}{c,d}"), "ac ad bc bd");
  CHECK_EQ(expanded("x{,y}"), "x xy");
  CHECK_EQ(expanded("{1..3}"), "1 2 3");
  CHECK_EQ(expanded("{3..1}"), "3 2 1");
  CHECK_EQ(expanded("{08..11}"), "08 09 10 11");
  CHECK_EQ(expanded("{-1..1}"), "-1 0 1");
  CHECK_EQ(expanded("{1..10..4}"), "1 5 9");
  CHECK_EQ(expanded("{a..e..2}"), "a c e");
  CHECK_EQ(expanded("{Z..a}"), "Z \\[ \\\\ \\] \\^ \\_ \\` a");
  // Ordinary characters.
  CHECK_EQ(expanded("{a}"), "{a}");
  CHECK_EQ(expanded("{}"), "{}");
  CHECK_EQ(expanded("{a{b,c}}"), "{ab} {ac}");
  CHECK_EQ(expanded("{a,b"), "{a,b");
  CHECK_EQ(expanded("{{a,b}"), "{a {b");
  CHECK_EQ(expanded("{a,b}}"), "a} b}");
  CHECK_EQ(expanded("\\{a,b}"), "\\{a,b}");
  CHECK_EQ(expanded("{a\\,b,c}"), "a\\,b c");
  CHECK_EQ(expanded("{1..99999999999999999}"), "{1..99999999999999999}");
  CHECK_EQ(expanded("a\\"), "a\\");
}

SCENARIO("the number of brace branches is bounded before they are made") {
  CHECK_EQ(expand_braces("{1..256}", 256)->size(), 256u);
  CHECK_EQ(expanded("{1..257}"), "(too many)");
  CHECK_EQ(expanded("{1..900000000000000}"), "(too many)");
  auto eight = std::string{};
  for (auto i = 0; i < 8; ++i)
    eight += "{a,b}";
  CHECK_EQ(expand_braces(eight, 256)->size(), 256u);
  CHECK_EQ(expanded(eight + "{a,b}"), "(too many)");
  // Two to the power of 800, and groups in groups.
  auto many = std::string{};
  auto deep = std::string{};
  for (auto i = 0; i < 800; ++i) {
    many += "{a,b}";
    deep += "{a,";
  }
  CHECK_EQ(expanded(many), "(too many)");
  CHECK_EQ(expanded(deep + std::string(800, '}')), "(too many)");
  CHECK_EQ(expand_braces(deep.substr(0, 3 * 255) + std::string(255, '}'), 256)->size(), 256u);
  CHECK_EQ(expanded(std::string(4096, '{')), std::string(4096, '{'));
}

SCENARIO("wildcards take characters, and not bytes") {
  CHECK(matches("*", "a"));
  CHECK(matches("*", "line\nbreak"));
  CHECK(matches("a*c", "ac"));
  CHECK(matches("a*b*c", "axbxbxc"));
  CHECK(!matches("a*b*c", "axcxb"));
  CHECK(matches("?", "\xc3\xa9"));
  CHECK(matches("?", "\xf0\x9f\x98\x80"));
  CHECK(!matches("?", "ab"));
  CHECK(!matches("?", ""));
  CHECK(matches("?\xc3\xa9", "x\xc3\xa9"));
  CHECK(matches("a?", "a\xff")); // not UTF-8: one character
  CHECK(!matches("A", "a"));
  CHECK(matches("!a", "!a"));
  CHECK(matches("#a", "#a"));
  CHECK(matches("\\*", "*"));
  CHECK(!matches("\\*", "a"));
  CHECK(matches("a\\", "a\\"));
  CHECK(matches("**.ts", "a.ts"));
  CHECK(matches("***", "a"));
}

SCENARIO("classes hold characters, ranges and the named ones") {
  CHECK(matches("[abc]", "b"));
  CHECK(!matches("[abc]", "d"));
  CHECK(matches("[a-c]x", "bx"));
  CHECK(matches("[!a-c]", "d"));
  CHECK(matches("[^a-c]", "d"));
  CHECK(!matches("[!a-c]", "a"));
  CHECK(matches("[]a]", "]"));
  CHECK(matches("[!]a]", "b"));
  CHECK(matches("[a-]", "-"));
  CHECK(matches("[-a]", "-"));
  CHECK(matches("[\\]]", "]"));
  CHECK(matches("[a\\-c]", "-"));
  CHECK(!matches("[a\\-c]", "b"));
  CHECK(!matches("[c-a]", "b"));
  CHECK(matches("[\xc3\xa0-\xc3\xbf]", "\xc3\xa9"));
  CHECK(matches("[[:digit:]]", "7"));
  CHECK(matches("[[:alpha:]_]", "_"));
  CHECK(matches("[![:space:]]", "a"));
  CHECK(!matches("[![:space:]]", "\n"));
  CHECK(!matches("[[:alpha:]]", "\xc3\xa9"));
  CHECK(matches("[[:word:]]", "_"));
  CHECK(matches("[[:xdigit:]][[:upper:]][[:lower:]][[:punct:]][[:blank:]][[:cntrl:]][[:graph:]][[:print:]][[:ascii:]][[:alnum:]]",
                "fAa!\t\x01~ z0"));
  CHECK(matches("[[:nothing:]]", "n]")); // no such class: its characters, and a bracket after it
  // Not closed.
  CHECK(matches("[a", "[a"));
  CHECK(matches("[]", "[]"));
  CHECK(matches("a[*", "a[b"));
}

SCENARIO("extended groups") {
  CHECK(matches("@(a|b)", "a"));
  CHECK(!matches("@(a|b)", "ab"));
  CHECK(matches("@(a|b|)c", "c"));
  CHECK(matches("?(a)b", "b"));
  CHECK(matches("?(a)b", "ab"));
  CHECK(!matches("?(a)b", "aab"));
  CHECK(matches("*(a|b)", ""));
  CHECK(matches("*(a|b)c", "ababc"));
  CHECK(matches("+(ab)", "abab"));
  CHECK(!matches("+(ab)", ""));
  CHECK(!matches("+(ab)", "aba"));
  CHECK(matches("!(a)", "b"));
  CHECK(matches("!(a)", "aa"));
  CHECK(matches("!(a)", ""));
  CHECK(!matches("!(a)", "a"));
  CHECK(matches("!(*.min).js", "a.js"));
  CHECK(!matches("!(*.min).js", "a.min.js"));
  CHECK(!matches("!(a|b).js", "b.js"));
  CHECK(matches("!(!(a))", "a"));
  CHECK(!matches("!(!(a))", "b"));
  CHECK(matches("!(foo)*", "foo")); // as in ksh and bash: the group takes `fo`
  CHECK(matches("@(a*|[)]|\\))", ")"));
  CHECK(matches("+(a|@(b|?(c)d))", "abdcd"));
  // Not closed, or without a group before it.
  CHECK(matches("@(a", "@(a"));
  CHECK(matches("*(a", "xx(a"));
  CHECK(matches("(a|b)", "(a|b)"));
}

SCENARIO("a leading dot is spelled, or asked for") {
  for (auto pattern : {"*", "?a", "[!b]a", "[.b]a", "!(b)", "*.a", "@(*|b)", "!(x).a", "**.a", "+(*)a"})
    CHECK_EQ(std::string{pattern} + (matches(pattern, ".a") ? " takes it" : ""), pattern);
  CHECK(matches("*", ".a", true));
  CHECK(matches("?a", ".a", true));
  CHECK(matches("!(b)", ".a", true));
  CHECK(matches("*.a", ".a", true));
  CHECK(matches(".*", ".a"));
  CHECK(matches(".a", ".a"));
  CHECK(matches("\\.a", ".a"));
  CHECK(matches("[.]a", ".a"));
  CHECK(matches("@(.a|b)", ".a"));
  CHECK(matches("?(b).a", ".a"));
  CHECK(matches("?(*).a", ".a")); // the group takes nothing
  CHECK(matches("+(.)a", "..a"));
  CHECK(matches("a*", "a.b"));
}

SCENARIO("what is literal is known as such") {
  CHECK_EQ(glob_segment::compile("a\\*b")->literal().value_or("(none)"), "a*b");
  CHECK_EQ(glob_segment::compile("[\xe2\x82\xac]\xf0\x9f\x98\x80\xc3\xa9")->literal().value_or("(none)"),
           "\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9");
  CHECK(!glob_segment::compile("a*")->literal());
  CHECK(!glob_segment::compile("@(a|b)")->literal());
  CHECK(!glob_segment::compile("[!a]")->literal());
  CHECK(!glob_segment::compile("[ab]")->literal());
  CHECK(glob_segment::compile("**")->crosses_directories());
  CHECK(!glob_segment::compile("***")->crosses_directories());
}

SCENARIO("patterns that make backtracking explode are matched in bounded time") {
  auto name = std::string(250, 'a');
  auto stars = std::string{};
  auto groups = std::string{};
  auto nested = std::string{"a"};
  for (auto i = 0; i < 100; ++i) {
    stars += "*a";
    groups += "*(a|aa)";
  }
  for (auto i = 0; i < 60; ++i)
    nested = (i % 2 == 0 ? "+(" : "!(") + nested + "|aa)";
  CHECK(!matches(stars + "b", name));
  CHECK(!matches(groups + "b", name));
  CHECK(!matches(nested + "b", name));
  CHECK(!matches("*!(*(a|!(b)))*!(a*a)b", name));
  // 2^250 ways, if each were tried.
  CHECK(matches("+(a|aa|aaa)", name));
  CHECK(!matches("+(a|aa|aaa)b", name));
}

SCENARIO("groups are nested as deep as is allowed, and no deeper") {
  auto nested = [](std::size_t depth) {
    auto result = std::string{};
    for (auto i = std::size_t{0}; i < depth; ++i)
      result += "+(";
    return result + "a" + std::string(depth, ')');
  };
  CHECK(matches(nested(glob_segment::max_nesting), "aaa"));
  CHECK(!glob_segment::compile(nested(glob_segment::max_nesting + 1)));
}

SCENARIO("a double star crosses directories as a whole segment only") {
  CHECK(path_matches({"**/*"}, "a") == true);
  CHECK(path_matches({"**/*"}, "a/b/c") == true);
  CHECK(path_matches({"a/**/b"}, "a/b") == true);
  CHECK(path_matches({"a/**/b"}, "a/x/y/b") == true);
  CHECK(path_matches({"a/**/b"}, "x/b") == false);
  CHECK(path_matches({"**"}, "a/b") == true);
  CHECK(path_matches({"a/**"}, "a") == false);
  CHECK(path_matches({"a/**"}, "a/b") == true);
  CHECK(path_matches({"**.ts"}, "a.ts") == true);
  CHECK(path_matches({"**.ts"}, "a/b.ts") == false);
  CHECK(path_matches({"a**/b"}, "ax/y/b") == false);
  CHECK(path_matches({"*"}, "a/b") == false);
  CHECK(path_matches({"*/b", "c"}, "c") == true);
  CHECK(path_matches({"a/./b"}, "a/b") == true);
  CHECK(path_matches({"a//b"}, "a/b") == true);
  CHECK(path_matches({"a/"}, "a") == false);
  CHECK(path_matches({"a/."}, "a") == false);
}

SCENARIO("a double star absorbs hidden names only where they are asked for") {
  CHECK(path_matches({"**/*"}, ".git/config") == false);
  CHECK(path_matches({"**/*"}, ".git/config", true) == true);
  CHECK(path_matches({"**"}, "a/.b") == false);
  CHECK(path_matches({"**"}, "a/.b", true) == true);
  CHECK(path_matches({".git/**"}, ".git/config") == true);
  CHECK(path_matches({"**/.git/*"}, "a/.git/config") == true);
}

SCENARIO("a directory is entered only when something below it can still match") {
  CHECK(!enters({"*.txt"}, {"a"}));
  CHECK(enters({"a/*.txt", "b"}, {"a"}));
  CHECK(!enters({"a/*.txt", "b"}, {"b"}));
  CHECK(!enters({"a/*.txt"}, {"a", "x"}));
  CHECK(enters({"**/x"}, {"a", "b", "c"}));
  CHECK(!enters({"**/x"}, {"a", ".b"}));
  CHECK(enters({"**/x"}, {"a", ".b"}, true));
  CHECK(enters({"**/.b/x"}, {"a", ".b"}));
  CHECK(!enters({"s[ab]/t/*"}, {"sa", "u"}));
}

SCENARIO("the leading literal segments that all branches share are known, and the longest branch") {
  auto leading = [](const std::vector<std::string>& branches) { return joined(glob_paths::compile(branches, false)->leading()); };
  CHECK_EQ(leading({"a/b/*.c"}), "a b");
  CHECK_EQ(leading({"a/b"}), "a");
  CHECK_EQ(leading({"a/b/c", "a/b"}), "a");
  CHECK_EQ(leading({"a/b/c", "a/b/d", "a/b/*"}), "a b");
  CHECK_EQ(leading({"a/b/c", "x/b/c"}), "");
  CHECK_EQ(leading({"a/*/c"}), "a");
  CHECK_EQ(leading({"\\*/./[b]/c"}), "* b");
  CHECK_EQ(leading({"**/a"}), "");
  CHECK(glob_paths::compile({"a/b", "*/*/*"}, false)->longest() == 3);
  CHECK(!glob_paths::compile({"a/b", "**"}, false)->longest());
}

SCENARIO("a branch that leaves the root is refused, however it is spelled") {
  for (auto branch : {"", "/a", "C:a", "z:", "..", "a/../b", "a/..", "\\.\\./a", "[.][.]/a", "\\../a"})
    CHECK_EQ(std::string{branch} + (glob_paths::compile({branch}, false) ? " is taken" : ""), branch);
  CHECK(!glob_paths::compile({"a", ".."}, false));
  CHECK(!glob_paths::compile({std::string("a\0b", 3)}, false));
  CHECK(!glob_paths::compile({}, false));
  CHECK(glob_paths::compile({"...", "a..b/..c", "ab:c", "1:x"}, false).has_value());
}

// -- against a model -------------------------------------------------------------------------------------------------------

namespace {

// A pattern as a tree, made without any text, and matched by trying all ways.
struct node {
  char kind = 'a'; // a: itself, `?`, `*`, `[` class of `text`, `^` its negation; a group: `@` `!` `+` `(` for `*(`, `o` for `?(`
  std::string text;
  std::vector<std::vector<node>> parts;
};
using sequence = std::vector<node>;

struct maker {
  std::mt19937_64 random;

  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random);
  }
  std::string letters(std::size_t most) {
    auto result = std::string{};
    for (auto n = below(most + 1); n > 0; --n)
      result += "ab."[below(3)];
    return result;
  }
  sequence make(std::size_t length, int depth) {
    auto result = sequence{};
    for (auto n = below(length + 1); n > 0; --n)
      result.push_back(make_node(depth));
    return result;
  }
  node make_node(int depth) {
    switch (below(depth > 0 ? 12 : 7)) {
      case 0: return {'*', "", {}};
      case 1: return {'?', "", {}};
      case 2: return {'[', "ab", {}};
      case 3: return {'^', below(2) == 0 ? "a" : "b.", {}};
      case 4:
      case 5:
      case 6: return {'a', std::string(1, "ab."[below(3)]), {}};
      default: {
        auto result = node{"@!+(o"[below(5)], "", {}};
        for (auto n = below(2) + 1; n > 0; --n)
          result.parts.push_back(make(3, depth - 1));
        return result;
      }
    }
  }
};

std::string text_of(const sequence& x) {
  auto result = std::string{};
  for (const auto& item : x) {
    switch (item.kind) {
      case 'a': result += item.text; break;
      case '[': result += "[" + item.text + "]"; break;
      case '^': result += "[!" + item.text + "]"; break;
      case '*':
      case '?':
        // Before a group's parenthesis they would be its kind; between items there is none.
        result += item.kind;
        break;
      default: {
        result += item.kind == '(' ? '*' : item.kind == 'o' ? '?' : item.kind;
        auto between = '(';
        for (const auto& part : item.parts) {
          result += between + text_of(part);
          between = '|';
        }
        result += ')';
      }
    }
  }
  return result;
}

using ends = std::set<std::size_t>;

struct model {
  std::string name;
  bool guarded = false; // the dot in front is to be spelled

  ends of(const sequence& x, std::size_t from) const {
    auto now = ends{from};
    for (const auto& item : x) {
      auto next = ends{};
      for (auto at : now)
        next.merge(of(item, at));
      now = std::move(next);
    }
    return now;
  }

  ends one_of(const node& x, std::size_t from) const {
    auto result = ends{};
    for (const auto& part : x.parts)
      result.merge(of(part, from));
    return result;
  }

  ends of(const node& x, std::size_t from) const {
    auto result = ends{};
    auto wild = std::string_view{"*?[^!"}.find(x.kind) != std::string_view::npos;
    if (wild && guarded && from == 0)
      return result;
    auto listed = from < name.size() && x.text.find(name[from]) != std::string::npos;
    switch (x.kind) {
      case 'a':
      case '[':
        if (listed)
          result.insert(from + 1);
        break;
      case '^':
        if (from < name.size() && !listed)
          result.insert(from + 1);
        break;
      case '?':
        if (from < name.size())
          result.insert(from + 1);
        break;
      case '*':
        for (auto end = from; end <= name.size(); ++end)
          result.insert(end);
        break;
      case '!': {
        auto taken = one_of(x, from);
        for (auto end = from; end <= name.size(); ++end)
          if (taken.count(end) == 0)
            result.insert(end);
        break;
      }
      case '@': return one_of(x, from);
      case 'o':
        result = one_of(x, from);
        result.insert(from);
        break;
      default: { // one or more, and for `(` none as well
        auto todo = one_of(x, from);
        while (!todo.empty()) {
          auto at = *todo.begin();
          todo.erase(todo.begin());
          if (result.insert(at).second)
            todo.merge(one_of(x, at));
        }
        if (x.kind == '(')
          result.insert(from);
      }
    }
    return result;
  }
};

// Whether `names` from `at` on are what the segments from `next` on say; `{}` is `**`.
bool path_model(const std::vector<std::optional<sequence>>& segments, std::size_t next, const std::vector<std::string>& names,
                std::size_t at, bool hidden) {
  if (next == segments.size())
    return at == names.size();
  auto guarded = [&](std::size_t i) { return !hidden && names[i].front() == '.'; };
  if (segments[next]) {
    if (at == names.size())
      return false;
    auto fits = model{names[at], guarded(at)}.of(*segments[next], 0).count(names[at].size()) > 0;
    return fits && path_model(segments, next + 1, names, at + 1, hidden);
  }
  auto last = next + 1 == segments.size();
  if (!last && path_model(segments, next + 1, names, at, hidden))
    return true;
  if (at == names.size() || guarded(at))
    return false;
  return (last && at + 1 == names.size()) || path_model(segments, next, names, at + 1, hidden);
}

} // namespace

SCENARIO("a segment matches what a model that tries all ways matches") {
  auto seed = std::random_device{}();
  auto make = maker{std::mt19937_64{seed}};
  auto matched = 0;
  for (auto round = 0; round < 20'000; ++round) {
    auto tree = make.make(4, 2);
    auto pattern = text_of(tree);
    auto name = make.letters(6);
    auto hidden = make.below(2) == 0;
    if (pattern == "**" || pattern.empty())
      continue;
    auto expected = model{name, !hidden && name.starts_with('.')}.of(tree, 0).count(name.size()) > 0;
    matched += expected ? 1 : 0;
    auto found = matches(pattern, name, hidden);
    if (found != expected)
      CAF_FAIL("seed " << seed << ": '" << pattern << "' on '" << name << "', hidden " << hidden << ": " << found);
  }
  CHECK(matched > 1000);
}

SCENARIO("a path matches what a model that tries all ways matches, and every directory on the way is entered") {
  auto seed = std::random_device{}();
  auto make = maker{std::mt19937_64{seed}};
  auto matched = 0;
  for (auto round = 0; round < 20'000; ++round) {
    auto hidden = make.below(2) == 0;
    auto branches = std::vector<std::string>{};
    auto models = std::vector<std::vector<std::optional<sequence>>>{};
    for (auto n = make.below(3) + 1; n > 0; --n) {
      auto segments = std::vector<std::optional<sequence>>{};
      auto text = std::string{};
      for (auto m = make.below(4) + 1; m > 0; --m) {
        auto segment = std::optional<sequence>{};
        if (make.below(3) != 0) {
          segment = make.make(3, 1);
          segment->insert(segment->begin(), node{make.below(2) == 0 ? 'a' : '?', "a", {}});
        }
        text += (text.empty() ? "" : "/") + (segment ? text_of(*segment) : "**");
        segments.push_back(std::move(segment));
      }
      branches.push_back(std::move(text));
      models.push_back(std::move(segments));
    }
    auto names = std::vector<std::string>{};
    for (auto n = make.below(4) + 1; n > 0; --n)
      names.push_back("ab."[make.below(3)] + make.letters(2));
    auto expected = std::any_of(models.begin(), models.end(), [&](const auto& x) { return path_model(x, 0, names, 0, hidden); });
    matched += expected ? 1 : 0;
    auto path = std::string{};
    for (const auto& name : names)
      path += (path.empty() ? "" : "/") + name;
    auto found = path_matches(branches, path, hidden);
    if (found != expected)
      CAF_FAIL("seed " << seed << ": '" << joined(branches) << "' on '" << path << "', hidden " << hidden);
    names.pop_back();
    if (expected && !enters(branches, names, hidden))
      CAF_FAIL("seed " << seed << ": '" << joined(branches) << "' stops above '" << path << "', hidden " << hidden);
  }
  CHECK(matched > 1000);
}
