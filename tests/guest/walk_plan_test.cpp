#define CAF_SUITE walk_plan

#include "guest/walk_plan.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

using namespace paddock::guest;
using nlohmann::json;

namespace {

constexpr std::uint64_t max_safe = 9'007'199'254'740'991;

walk_options asking(std::string pattern) {
  auto result = walk_options{};
  result.pattern = std::move(pattern);
  result.max_entries = 10;
  return result;
}

std::string complaint(std::string_view root, const walk_options& options) {
  auto plan = plan_walk(root, options);
  return plan ? "(none)" : plan.error();
}

std::string complaint(std::string pattern) {
  return complaint("/r", asking(std::move(pattern)));
}

std::string branches(std::string pattern) {
  auto plan = plan_walk("/r", asking(std::move(pattern)));
  return plan ? json(plan->branches).dump() : plan.error();
}

std::string complaint_of_guest(const json& change) {
  auto text =
    json{{"root", "/r"}, {"branches", {"*"}}, {"includeHidden", false}, {"maxDepth", nullptr}, {"maxEntries", 1}, {"maxVisitedEntries", 1}};
  text.merge_patch(change); // null removes
  auto plan = read_walk_plan(text.dump());
  return plan ? "(none)" : plan.error();
}

} // namespace

SCENARIO("what is not said has its default") {
  auto options = walk_options{};
  options.max_entries = 3;
  auto plan = plan_walk("/r//a/./b/../c/", options);
  REQUIRE(plan);
  CHECK_EQ(plan->root, "/r/a/c");
  CHECK_EQ(json(plan->branches).dump(), R"(["**/*"])");
  CHECK_EQ(plan->max_visited_entries, 20'000u);
  CHECK_EQ(plan->max_entries, 3u);
  CHECK(!plan->max_depth);
  CHECK(!plan->include_hidden);
}

SCENARIO("a root is absolute") {
  CHECK_EQ(complaint("r", asking("*")), "the root of a walk is an absolute path");
  CHECK_EQ(complaint("", asking("*")), "the root of a walk is an absolute path");
  CHECK_EQ(complaint(std::string_view{"/a\0b", 4}, asking("*")), "the root of a walk is UTF-8 without a NUL");
  CHECK_EQ(complaint("/a\xff", asking("*")), "the root of a walk is UTF-8 without a NUL");
  CHECK_EQ(complaint("/", asking("*")), "(none)");
}

SCENARIO("the numbers are positive safe integers, and the number of entries is required") {
  auto none = walk_options{};
  CHECK_EQ(complaint("/r", none), "maxEntries is a positive safe integer");
  auto options = asking("*");
  options.max_entries = max_safe + 1;
  CHECK_EQ(complaint("/r", options), "maxEntries is a positive safe integer");
  options.max_entries = max_safe;
  CHECK_EQ(complaint("/r", options), "(none)");
  options.max_visited_entries = 0;
  CHECK_EQ(complaint("/r", options), "maxVisitedEntries is a positive safe integer");
  options.max_visited_entries = max_safe + 1;
  CHECK_EQ(complaint("/r", options), "maxVisitedEntries is a positive safe integer");
  options.max_visited_entries = max_safe;
  options.max_depth = 0;
  CHECK_EQ(complaint("/r", options), "maxDepth is a positive safe integer");
  options.max_depth = max_safe + 1;
  CHECK_EQ(complaint("/r", options), "maxDepth is a positive safe integer");
  options.max_depth = max_safe;
  CHECK_EQ(complaint("/r", options), "(none)");
}

SCENARIO("leading dots go, from the pattern and from each branch") {
  CHECK_EQ(branches("././*.c"), R"(["*.c"])");
  CHECK_EQ(branches("{./a,././b}"), R"(["a","b"])");
  CHECK_EQ(branches(".a/.b"), R"([".a/.b"])");
}

SCENARIO("a pattern stays below the root, in every branch") {
  CHECK_EQ(complaint(""), "the pattern is empty");
  CHECK_EQ(complaint("./"), "the pattern is empty");
  CHECK_EQ(complaint("{a,}"), "the pattern is empty");
  CHECK_EQ(complaint("{a,./}"), "the pattern is empty");
  CHECK_EQ(complaint("/a"), "the pattern is not relative to the root");
  CHECK_EQ(complaint(".//a"), "the pattern is not relative to the root");
  CHECK_EQ(complaint("{a,/b}"), "the pattern is not relative to the root");
  CHECK_EQ(complaint("C:a"), "the pattern is not relative to the root");
  CHECK_EQ(complaint("{a,c}:x"), "the pattern is not relative to the root");
  CHECK_EQ(complaint("a/../b"), "the pattern holds a '..' segment");
  CHECK_EQ(complaint(".."), "the pattern holds a '..' segment");
  CHECK_EQ(complaint("a/{b,..}/c"), "the pattern holds a '..' segment");
  CHECK_EQ(complaint("a/.{.,b}/c"), "the pattern holds a '..' segment");
  CHECK_EQ(complaint("a/\\.\\./c"), "the pattern holds a '..' segment");
  CHECK_EQ(complaint(std::string("a\0", 2)), "the pattern holds a NUL");
  CHECK_EQ(complaint("a\xff"), "the pattern is not UTF-8");
  CHECK_EQ(complaint("a..b/...{a,b}"), "(none)");
}

SCENARIO("a pattern is bounded in characters and in branches") {
  CHECK_EQ(complaint(std::string(4096, 'a')), "(none)");
  CHECK_EQ(complaint(std::string(4097, 'a')), "the pattern has more than 4096 characters");
  auto wide = std::string{};
  for (auto i = 0; i < 2048; ++i)
    wide += "\xf0\x9f\x98\x80"; // two units each
  CHECK_EQ(complaint(wide), "(none)");
  CHECK_EQ(complaint(wide + "a"), "the pattern has more than 4096 characters");
  CHECK_EQ(complaint("{1..256}"), "(none)");
  CHECK_EQ(complaint("{1..257}"), "the pattern has more than 256 brace branches");
  CHECK_EQ(branches("{a,b,a}"), R"(["a","b"])"); // each once
  CHECK_EQ(complaint(std::string(4000, 'a') + "{1..100}"), "the branches of the pattern are longer than one argument may be");
}

SCENARIO("a plan arrives in the guest as it left") {
  auto options = asking("a/{b,\\*c}*[!d]\n\"");
  options.include_hidden = true;
  options.max_depth = 7;
  options.max_visited_entries = max_safe;
  auto plan = plan_walk("/r \xc3\xa9", options);
  REQUIRE(plan);
  auto words = walk_arguments(*plan);
  REQUIRE_EQ(words.size(), 2u);
  CHECK_EQ(words[0], "walk");
  CHECK_EQ(words[1],
           "{\"root\":\"/r \xc3\xa9\",\"branches\":[\"a/b*[!d]\\n\\\"\",\"a/\\\\*c*[!d]\\n\\\"\"],\"includeHidden\":true,\"maxDepth\":7,"
           "\"maxEntries\":10,\"maxVisitedEntries\":9007199254740991}");
  auto read = read_walk_plan(words[1]);
  REQUIRE(read);
  CHECK_EQ(read->root, plan->root);
  CHECK(read->branches == plan->branches);
  CHECK(read->include_hidden);
  CHECK(read->max_depth == 7u);
  CHECK_EQ(read->max_entries, 10u);
  CHECK_EQ(read->max_visited_entries, max_safe);
  plan->max_depth.reset();
  CHECK(walk_arguments(*plan)[1].find("\"maxDepth\":null") != std::string::npos);
  CHECK(!read_walk_plan(walk_arguments(*plan)[1])->max_depth);
}

SCENARIO("the guest holds a plan to the same rules") {
  CHECK_EQ(complaint_of_guest(json::object()), "(none)");
  CHECK_EQ(complaint_of_guest({{"maxDepth", 1}, {"unknown", 1}}), "(none)");
  CHECK_EQ(complaint_of_guest({{"maxEntries", 1e3}}), "(none)");
  for (const auto& bad : {json(0), json(-1), json(1.5), json("1"), json(true), json(nullptr), json(1e16)}) {
    CHECK_EQ(complaint_of_guest({{"maxEntries", bad}}), "maxEntries is a positive safe integer");
    CHECK_EQ(complaint_of_guest({{"maxVisitedEntries", bad}}), "maxVisitedEntries is a positive safe integer");
    if (!bad.is_null())
      CHECK_EQ(complaint_of_guest({{"maxDepth", bad}}), "maxDepth is a positive safe integer");
  }
  CHECK_EQ(complaint_of_guest({{"root", "r"}}), "the root of a walk is an absolute path");
  CHECK_EQ(complaint_of_guest({{"root", 1}}), "root is a string");
  CHECK_EQ(complaint_of_guest({{"branches", "a"}}), "branches is a list of strings");
  CHECK_EQ(complaint_of_guest({{"branches", {1}}}), "branches is a list of strings");
  CHECK_EQ(complaint_of_guest({{"branches", json::array()}}), "the pattern has no branch");
  CHECK_EQ(complaint_of_guest({{"branches", std::vector<std::string>(257, "a")}}), "the pattern has more than 256 brace branches");
  CHECK_EQ(complaint_of_guest({{"branches", {"a", "../b"}}}), "the pattern holds a '..' segment");
  CHECK_EQ(complaint_of_guest({{"includeHidden", 1}}), "includeHidden is a boolean");
  CHECK_EQ(read_walk_plan("[]").error(), "the plan is not a JSON object");
  CHECK_EQ(read_walk_plan(std::string(100'000, '[')).error(), "the plan is not a JSON object");
}
