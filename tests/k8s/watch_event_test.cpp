#define CAF_SUITE watch_event

#include "k8s/objects.hpp"
#include "k8s/watch_event.hpp"
#include "tests/support/text_file.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::k8s;
using fault = watch_unreadable::fault;

namespace {

std::string recorded(const std::string& name) {
  return test::text_of(PADDOCK_TEST_RECORDINGS "/" + name + ".ndjson");
}

/// `ADDED w 260`, one an event; a fault as `to_string` has it.
std::vector<std::string> said(watch_decoder& by, std::string_view bytes) {
  auto got = std::vector<std::string>{};
  by.take(bytes);
  while (auto next = by.next()) {
    if (!*next) {
      got.push_back(to_string(next->error()));
      break;
    }
    const auto& object = (*next)->object;
    got.push_back(std::string{to_string((*next)->what)} + " " + text_at(object, "/metadata/name").value_or("-") + " "
                  + text_at(object, "/metadata/resourceVersion").value_or("-"));
  }
  return got;
}

std::vector<std::string> said(std::string_view bytes) {
  auto by = watch_decoder{};
  return said(by, bytes);
}

using strings = std::vector<std::string>;

std::optional<fault> fault_of(std::string_view line, std::size_t longest = 1000) {
  auto by = watch_decoder{longest};
  by.take(line);
  auto next = by.next();
  if (!next || *next)
    return std::nullopt;
  const auto* why = std::get_if<watch_unreadable>(&next->error());
  return why != nullptr ? std::optional{why->what} : std::nullopt;
}

std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

} // namespace

SCENARIO("the recorded watches of a real API server read as what happened") {
  CHECK_EQ(said(recorded("watch-events")), (strings{"ADDED w 260", "MODIFIED w 261", "MODIFIED w 262", "DELETED w 263"}));
  CHECK_EQ(said(recorded("watch-initial-events-bookmark")), (strings{"ADDED a 240", "BOOKMARK - 264"}));
}

SCENARIO("bytes may be cut anywhere") {
  const auto all = recorded("watch-events") + recorded("watch-initial-events-bookmark");
  const auto whole = said(all);
  for (auto cut = std::size_t{0}; cut <= all.size(); ++cut) {
    auto by = watch_decoder{};
    auto got = said(by, all.substr(0, cut));
    for (auto& x : said(by, all.substr(cut)))
      got.push_back(std::move(x));
    REQUIRE(got == whole);
  }
}

SCENARIO("what a cut connection leaves behind is no event") {
  const auto all = recorded("watch-events");
  CHECK_EQ(said(all.substr(0, all.size() - 1)).size(), 3u);
  CHECK_EQ(said("").size(), 0u);
}

SCENARIO("a version that the server has forgotten is told apart from every other error") {
  auto by = watch_decoder{};
  by.take(recorded("watch-resourceversion-old"));
  auto got = by.next();
  REQUIRE(got && !*got);
  const auto* expired = std::get_if<watch_expired>(&got->error());
  REQUIRE(expired != nullptr);
  CHECK_EQ(expired->message, "too old resource version: 1 (222)");
  GIVEN("an error that asks to come back later") {
    auto other = watch_decoder{};
    other.take(event("ERROR", R"({"kind":"Status","code":504,"reason":"Timeout","message":"m","details":{"retryAfterSeconds":3}})"));
    auto end = other.next();
    REQUIRE(end && !*end);
    const auto* refused = std::get_if<watch_refused>(&end->error());
    REQUIRE(refused != nullptr);
    CHECK_EQ(refused->code, 504u);
    CHECK_EQ(refused->reason, "Timeout");
    CHECK(refused->retry_after == std::chrono::seconds{3});
  }
}

SCENARIO("what is nothing that a watch says is named, and nothing follows it") {
  const auto fine = event("ADDED", R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"}})");
  CHECK(!fault_of(fine));
  CHECK(fault_of("no json\n") == fault::not_json);
  CHECK(fault_of("{\"type\":\"ADDED\",\"object\":{\"a\":\"\xff\"}}\n") == fault::not_json);
  CHECK(fault_of(std::string(300, '[') + std::string(300, ']') + "\n") == fault::not_json);
  CHECK(fault_of("[]\n") == fault::not_an_event);
  CHECK(fault_of("7\n") == fault::not_an_event);
  CHECK(fault_of(event("RENAMED", "{}")) == fault::not_an_event);
  CHECK(fault_of(event("ADDED", "[]")) == fault::not_an_event);
  CHECK(fault_of(event("ERROR", "7")) == fault::not_an_event);
  CHECK(fault_of(event("ADDED", R"({"metadata":{"name":"a","uid":"u"}})")) == fault::no_identity);
  CHECK(fault_of(event("MODIFIED", R"({"metadata":{"name":"a","resourceVersion":"1"}})")) == fault::no_identity);
  CHECK(fault_of(event("DELETED", R"({"metadata":{"uid":"a","resourceVersion":"1"}})")) == fault::no_identity);
  CHECK(fault_of(event("BOOKMARK", R"({"metadata":{}})")) == fault::no_identity);
  auto by = watch_decoder{};
  CHECK_EQ(said(by, "no json\n" + fine).size(), 1u);
  CHECK_EQ(said(by, fine).size(), 0u);
}

SCENARIO("a line has a bound, with and without its end") {
  const auto fine = event("ADDED", R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"}})");
  CHECK(!fault_of(fine, fine.size() - 1));
  CHECK(fault_of(fine, fine.size() - 2) == fault::too_long);
  CHECK(fault_of(std::string(101, 'x'), 100) == fault::too_long);
  CHECK(!fault_of(std::string(100, 'x'), 100));
  GIVEN("many short lines in one piece") {
    auto by = watch_decoder{fine.size()};
    CHECK_EQ(said(by, fine + fine + "\r\n \n" + fine).size(), 3u);
  }
}
