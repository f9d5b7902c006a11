#define CAF_SUITE list_request

#include "k8s/list_request.hpp"
#include "k8s/paths.hpp"
#include "tests/support/text_file.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::k8s;
using match = list_request::match;

namespace {

nlohmann::json recorded(const std::string& name) {
  return nlohmann::json::parse(test::text_of(PADDOCK_TEST_RECORDINGS "/" + name + ".json"));
}

const selection all{"/api/v1/pods", {}, {}};

} // namespace

SCENARIO("a list is asked for in pages, with selectors, and no older than what is known") {
  CHECK_EQ(to_call(list_request{all}).path, "/api/v1/pods");
  CHECK_EQ(to_call(list_request{all, 500}).path, "/api/v1/pods?limit=500");
  CHECK_EQ(to_call(list_request{{"/p", "a=b,c", "metadata.name=x"}, 2}).path,
           "/p?labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dx&limit=2");
  CHECK_EQ(to_call(list_request{all, 0, {}, "7", match::not_older_than}).path,
           "/api/v1/pods?resourceVersion=7&resourceVersionMatch=NotOlderThan");
  CHECK_EQ(to_call(list_request{all, 0, {}, "7", match::exact}).path, "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact");
  THEN("a later page names its token and no version") {
    CHECK_EQ(to_call(list_request{all, 2, "a/b", "7", match::exact}).path, "/api/v1/pods?limit=2&continue=a%2Fb");
  }
}

SCENARIO("a watch names the version it goes on from and when the server ends it") {
  CHECK_EQ(to_call(watch_request{all, "7", true, std::chrono::seconds{60}}).path,
           "/api/v1/pods?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=60");
  CHECK_EQ(to_call(watch_request{all, "7", false}).path, "/api/v1/pods?watch=true&resourceVersion=7");
}

SCENARIO("the recorded pages of a real API server are read") {
  auto page = read_page(recorded("list-limit"));
  REQUIRE(page);
  CHECK_EQ(page->items.size(), 2u);
  CHECK_EQ(page->version, "231");
  CHECK_EQ(page->more, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjMxLCJzdGFydCI6Ii9kdXBmaWVsZFx1MDAwMCJ9");
  auto empty = read_page(recorded("list-empty"));
  REQUIRE(empty);
  CHECK(empty->items.empty());
  CHECK(empty->more.empty());
}

SCENARIO("an item says what it is, as the list does") {
  auto page = read_page(nlohmann::json::parse(
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"1"}}]})"));
  REQUIRE(page);
  CHECK(page->items.at(0).at("kind") == "Pod");
  CHECK(page->items.at(0).at("apiVersion") == "v1");
}

SCENARIO("what is no list is not taken for an empty one") {
  for (const auto* text : {"null", "[]", "{}", R"({"items":[]})", R"({"metadata":{"resourceVersion":"1"}})",
                           R"({"items":{},"metadata":{"resourceVersion":"1"}})", R"({"items":[{}],"metadata":{"resourceVersion":"1"}})",
                           R"({"items":[{"metadata":{"name":"a","uid":"u"}}],"metadata":{"resourceVersion":"1"}})"})
    CHECK(!read_page(nlohmann::json::parse(text)));
  CHECK(read_page(nlohmann::json::parse(R"({"items":null,"metadata":{"resourceVersion":"1"}})")));
}

SCENARIO("versions compare as numbers, and other texts not at all") {
  CHECK(older_version("9", "10"));
  CHECK(!older_version("10", "9"));
  CHECK(!older_version("10", "10"));
  CHECK(!older_version("", "10"));
  CHECK(!older_version("a", "b"));
  CHECK(!older_version("9", "10x"));
  CHECK(!version_number("18446744073709551616"));
  CHECK(!version_number("-1"));
}
