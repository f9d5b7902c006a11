#define CAF_SUITE list_pages

#include "embedded/list_options.hpp"
#include "embedded/store_watch.hpp"
#include "tests/embedded/api_world.hpp"

using namespace paddock;
using namespace paddock::test;

namespace {

using names = std::vector<std::string>;

std::string next_of(const json& list) {
  return text_at(list, {"metadata", "continue"});
}

} // namespace

SCENARIO("a list is told in pages, each with what is left") {
  api_world w;
  for (const auto* name : {"a", "b", "c", "d", "e"})
    w.config(name);
  const auto first = w.get(std::string{w.configs} + "?limit=2").body;
  CHECK_EQ(names_in(first), (names{"a", "b"}));
  CHECK(first["metadata"]["remainingItemCount"] == 3);
  const auto second = w.get(std::string{w.configs} + "?limit=2&continue=" + next_of(first)).body;
  CHECK_EQ(names_in(second), (names{"c", "d"}));
  CHECK(second["metadata"]["remainingItemCount"] == 1);
  const auto last = w.get(std::string{w.configs} + "?limit=2&continue=" + next_of(second)).body;
  CHECK_EQ(names_in(last), (names{"e"}));
  CHECK_EQ(next_of(last), "");
  CHECK(!last["metadata"].contains("remainingItemCount"));
}

SCENARIO("every page is of the moment of the first one") {
  api_world w;
  for (const auto* name : {"a", "c", "e", "g"})
    w.config(name);
  const auto first = w.get(std::string{w.configs} + "?limit=1").body;
  // Two come, one changes, one goes, one goes and comes again.
  w.config("b");
  w.config("z");
  REQUIRE_EQ(w.ask({"PATCH", std::string{w.configs} + "/c", R"({"data":{"k":"new"}})", "application/merge-patch+json"}).status, 200u);
  REQUIRE_EQ(w.ask({"DELETE", std::string{w.configs} + "/e"}).status, 200u);
  REQUIRE_EQ(w.ask({"DELETE", std::string{w.configs} + "/g"}).status, 200u);
  w.config("g", {{"labels", {{"made", "again"}}}});
  const auto rest = w.get(std::string{w.configs} + "?continue=" + next_of(first)).body;
  CHECK_EQ(names_in(rest), (names{"c", "e", "g"}));
  CHECK_EQ(text_at(rest["items"][0], {"data", "k"}), "v");
  CHECK(!rest["items"][2]["metadata"].contains("labels"));
  CHECK(rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]);
  const auto two = w.get(std::string{w.configs} + "?limit=1&continue=" + next_of(first)).body;
  CHECK(two["metadata"]["remainingItemCount"] == 2);
  const auto three = w.get(std::string{w.configs} + "?limit=1&continue=" + next_of(two)).body;
  CHECK(three["metadata"]["remainingItemCount"] == 1);
  CHECK(!w.get(std::string{w.configs} + "?limit=1&continue=" + next_of(three)).body["metadata"].contains("remainingItemCount"));
}

SCENARIO("pages over all namespaces go on in the right one, and selectors hold on every page") {
  api_world w;
  for (const auto* name_space : {"default", "other"})
    for (const auto* name : {"a", "b"})
      w.make(std::string{"/api/v1/namespaces/"} + name_space + "/configmaps", {{"metadata", {{"name", name}, {"labels", {{"is", name}}}}}});
  const auto first = w.get("/api/v1/configmaps?limit=3").body;
  CHECK_EQ(names_in(first), (names{"a", "b", "a"}));
  CHECK_EQ(names_in(w.get("/api/v1/configmaps?limit=3&continue=" + next_of(first)).body), (names{"b"}));
  const auto chosen = w.get("/api/v1/configmaps?limit=1&labelSelector=is%3Db").body;
  CHECK_EQ(names_in(chosen), (names{"b"}));
  CHECK(!chosen["metadata"].contains("remainingItemCount"));
  CHECK_EQ(names_in(w.get("/api/v1/configmaps?limit=1&labelSelector=is%3Db&continue=" + next_of(chosen)).body), (names{"b"}));
}

SCENARIO("a token whose moment is forgotten is answered 410 with one that goes on with what is there") {
  api_world w{{.events = 3}};
  for (const auto* name : {"a", "b", "c"})
    w.config(name);
  const auto first = w.get(std::string{w.configs} + "?limit=1").body;
  for (const auto* name : {"d", "e", "f", "g"})
    w.config(name);
  const auto gone = w.get(std::string{w.configs} + "?limit=1&continue=" + next_of(first));
  CHECK_EQ(gone.status, 410u);
  CHECK_EQ(text_at(gone.body, {"reason"}), "Expired");
  const auto rest = w.get(std::string{w.configs} + "?continue=" + next_of(gone.body));
  CHECK_EQ(names_in(rest.body), (names{"b", "c", "d", "e", "f", "g"}));
  const auto old = w.get(std::string{w.configs} + "?resourceVersion=2&resourceVersionMatch=Exact");
  CHECK_EQ(old.status, 410u);
  CHECK_EQ(old.message(), "The resourceVersion for the provided list is too old.");
}

SCENARIO("a list can be asked for as it was, or not older") {
  api_world w;
  const auto then = text_at(w.config("a"), {"metadata", "resourceVersion"});
  w.config("b");
  const auto at = [&](const std::string& match) { return std::string{w.configs} + "?resourceVersion=" + then + match; };
  CHECK_EQ(names_in(w.get(at("&resourceVersionMatch=Exact")).body), (names{"a"}));
  CHECK(w.get(at("&resourceVersionMatch=Exact")).body["metadata"]["resourceVersion"] == then);
  CHECK_EQ(names_in(w.get(at("&limit=5")).body), (names{"a"}));
  CHECK_EQ(names_in(w.get(at("")).body), (names{"a", "b"}));
  CHECK_EQ(names_in(w.get(at("&resourceVersionMatch=NotOlderThan&limit=5")).body), (names{"a", "b"}));
  CHECK_EQ(w.get(std::string{w.configs} + "?resourceVersion=999").status, 504u);
  CHECK_EQ(w.get(std::string{w.configs} + "/a?resourceVersion=999").status, 504u);
}

SCENARIO("a token may name what has dots in its name, and leads nowhere else") {
  const auto after = [](const std::string& name) { return read_token(to_token({1, {"n", name}}, "n"), "n"); };
  for (const auto* name : {"a..b", "..a", "a..", "...", "a.b"}) {
    const auto got = after(name);
    REQUIRE(got);
    CHECK_EQ(got->after.name, name);
  }
  for (const auto* name : {"..", ".", "a/..", "../b", "a/../b", "./b"})
    CHECK(!after(name));
}

// The texts are those of a real kube-apiserver 1.36.
SCENARIO("parameters that do not go together are refused") {
  api_world w;
  for (const auto* name : {"a", "b"})
    w.config(name);
  const auto token = next_of(w.get(std::string{w.configs} + "?limit=1").body);
  const std::vector<std::tuple<std::string, unsigned, std::string>> cases{
    {"resourceVersionMatch=Exact", 422u,
     "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"},
    {"resourceVersionMatch=Exact&resourceVersion=0", 422u, R"(resourceVersionMatch "exact" is forbidden for resourceVersion "0")"},
    {"resourceVersionMatch=Foo&resourceVersion=1", 422u, R"(Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", "")"},
    {"sendInitialEvents=true", 422u, "sendInitialEvents is forbidden for list"},
    {"watch=1&resourceVersionMatch=NotOlderThan", 422u, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
    {"watch=1&sendInitialEvents=true", 422u, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
    {"continue=" + token + "&resourceVersion=5", 400u, "specifying resource version is not allowed when using continue"},
    {"continue=abcd", 400u, "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value"},
    {"continue=!!", 400u, "illegal base64 data at input byte 0"},
    {"limit=x", 400u, R"(strconv.ParseInt: parsing "x": invalid syntax)"},
    {"fieldSelector=foo%3Dbar", 400u, R"("foo" is not a known field selector: only "metadata.name", "metadata.namespace")"},
    {"fieldSelector=foo", 400u, "invalid selector: 'foo'; can't understand 'foo'"},
  };
  for (const auto& [query, status, text] : cases) {
    const auto got = w.get(std::string{w.configs} + "?" + query);
    CAF_MESSAGE(query);
    CHECK_EQ(got.status, status);
    CHECK_NE(got.message().find(text), std::string::npos);
  }
  CHECK_EQ(names_in(w.get(std::string{w.configs} + "?limit=-1").body).size(), 2u);
}

SCENARIO("events are found by the object that they are about") {
  api_world w;
  for (const auto* name : {"a", "b"})
    w.make("/api/v1/namespaces/default/events", {{"metadata", {{"name", name}}},
                                                 {"involvedObject", {{"kind", "Pod"}, {"name", name}, {"namespace", "default"}}},
                                                 {"reason", "Started"},
                                                 {"type", "Normal"}});
  const auto about = [&](const std::string& fields) {
    return names_in(w.get("/api/v1/namespaces/default/events?fieldSelector=" + fields).body);
  };
  CHECK_EQ(about("involvedObject.name%3Da%2CinvolvedObject.kind%3DPod"), (names{"a"}));
  CHECK_EQ(about("reason%3DStarted"), (names{"a", "b"}));
  CHECK_EQ(about("type%21%3DNormal"), names{});
}

SCENARIO("a watch begins with what is there, and says where that ends, only when it is asked to") {
  api_world w;
  w.config("a");
  const auto told = [&](const std::string& query) {
    auto got = w.serve_one({.method = "GET", .target = std::string{w.configs} + "?watch=1" + query});
    auto* start = std::get_if<watch_start>(&got);
    REQUIRE(start != nullptr);
    store_watch watch{w.objects, start->request};
    return watch.next(1 << 20);
  };
  CHECK(told("").starts_with(R"({"type":"ADDED")"));
  CHECK_EQ(told("&resourceVersion=0").find("BOOKMARK"), std::string::npos);
  const std::string initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  CHECK_EQ(told(initial).find("BOOKMARK"), std::string::npos);
  const auto both = told(initial + "&allowWatchBookmarks=true");
  CHECK_NE(both.find(R"("type":"ADDED")"), std::string::npos);
  CHECK_NE(both.find(R"("k8s.io/initial-events-end":"true")"), std::string::npos);
  CHECK_EQ(told("&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"), "");
}
