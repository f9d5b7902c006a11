#define CAF_SUITE store_watch

#include "embedded/store_watch.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sstream>

using namespace paddock;
using namespace paddock::embedded;

namespace {

constexpr auto start = store::instant{std::chrono::seconds{1'767'323'045}};
const resource_kind& configs = *find_kind("", "v1", "configmaps");
constexpr std::size_t plenty = 1 << 20;

void make(store& objects, const std::string& name, json labels = json::object(), const std::string& name_space = "default") {
  auto got =
    objects.create(configs, name_space,
                   {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"labels", std::move(labels)}}}}, start);
  if (!got)
    CAF_FAIL(got.error().message);
}

void change(store& objects, const std::string& name, const json& patch) {
  auto got = objects.update(configs, "default", name, store::part::main, store::form::patch, [&](const json& x) -> api_result<json> {
    auto out = x;
    out.merge_patch(patch);
    return out;
  });
  if (!got)
    CAF_FAIL(got.error().message);
}

/// `ADDED a`, one a line.
std::vector<std::string> told(const std::string& lines) {
  std::vector<std::string> out;
  std::istringstream in{lines};
  for (std::string line; std::getline(in, line);) {
    const auto x = json::parse(line);
    out.push_back(text_at(x, {"type"}) + " " + text_at(x, {"object", "metadata", "name"}));
  }
  return out;
}

using lines = std::vector<std::string>;

store fresh(store_bounds bounds = {}) {
  store out{nullptr, bounds};
  if (!out.bootstrap({"default", "other"}, start))
    CAF_FAIL("no namespaces");
  return out;
}

} // namespace

SCENARIO("a watch from a version tells every write after it, once and in order") {
  auto objects = fresh();
  make(objects, "before");
  store_watch w{objects, {.kind = &configs, .name_space = "default", .from = objects.version()}};
  CHECK_EQ(w.next(plenty), "");
  make(objects, "a");
  make(objects, "elsewhere", json::object(), "other");
  change(objects, "a", {{"data", {{"k", "v"}}}});
  REQUIRE(objects.remove(configs, "default", "a", {}, start));
  CHECK_EQ(told(w.next(plenty)), (lines{"ADDED a", "MODIFIED a", "DELETED a"}));
  CHECK_EQ(w.next(plenty), "");
  CHECK(!w.ended());
}

SCENARIO("a watch without a version begins with what is there") {
  auto objects = fresh();
  make(objects, "a");
  make(objects, "b");
  store_watch w{objects, {.kind = &configs, .name_space = "", .end_of_initial = true, .bookmarks = true}};
  make(objects, "c");
  const auto text = w.next(plenty);
  CHECK_EQ(told(text), (lines{"ADDED a", "ADDED b", "BOOKMARK ", "ADDED c"}));
  CHECK_NE(text.find(R"("k8s.io/initial-events-end":"true")"), std::string::npos);
}

SCENARIO("an object enters and leaves a selection") {
  auto objects = fresh();
  auto selector = label_selector::parse("k=v");
  store_watch w{objects, {.kind = &configs, .name_space = "default", .what = {*selector, {}}, .from = objects.version()}};
  make(objects, "a");
  change(objects, "a", {{"metadata", {{"labels", {{"k", "v"}}}}}});
  change(objects, "a", {{"data", {{"x", "1"}}}});
  change(objects, "a", {{"metadata", {{"labels", nullptr}}}});
  REQUIRE(objects.remove(configs, "default", "a", {}, start));
  CHECK_EQ(told(w.next(plenty)), (lines{"ADDED a", "MODIFIED a", "DELETED a"}));
}

SCENARIO("what leaves a selection is told as it was, under the version of the write") {
  auto objects = fresh();
  make(objects, "a", {{"k", "v"}});
  auto selector = label_selector::parse("k=v");
  store_watch w{objects, {.kind = &configs, .name_space = "default", .what = {*selector, {}}, .from = objects.version()}};
  change(objects, "a", {{"metadata", {{"labels", {{"k", "other"}}}}}});
  const auto object = json::parse(w.next(plenty))["object"];
  CHECK_EQ(text_at(object, {"metadata", "labels", "k"}), "v");
  CHECK_EQ(text_at(object, {"metadata", "resourceVersion"}), std::to_string(objects.version()));
}

SCENARIO("an object is written in a form once for all who watch in it") {
  auto objects = fresh();
  auto written = 0;
  const auto form_of = [&](const char* name) {
    return watch_form{name, [&written, name](const std::string&, bool first, store::instant) {
                        ++written;
                        return in_quotes(std::string{name} + (first ? " first" : ""));
                      }};
  };
  shown_objects shared;
  const auto watch_in = [&](const char* name) {
    return store_watch{objects, {.kind = &configs, .from = objects.version(), .form = form_of(name)}, &shared};
  };
  auto one = watch_in("x");
  auto same = watch_in("x");
  auto other = watch_in("y");
  make(objects, "a");
  CHECK_EQ(one.next(plenty, start), "{\"type\":\"ADDED\",\"object\":\"x first\"}\n");
  CHECK_EQ(same.next(plenty, start), "{\"type\":\"ADDED\",\"object\":\"x first\"}\n");
  CHECK_EQ(written, 1);
  CHECK_EQ(other.next(plenty, start), "{\"type\":\"ADDED\",\"object\":\"y first\"}\n");
  CHECK_EQ(written, 2);
  change(objects, "a", {{"data", {{"k", "v"}}}});
  CHECK_EQ(one.next(plenty, start), "{\"type\":\"MODIFIED\",\"object\":\"x\"}\n");
  CHECK_EQ(written, 3);
  // What a form says of ages is another a second later.
  CHECK_EQ(same.next(plenty, start + std::chrono::seconds{1}), "{\"type\":\"MODIFIED\",\"object\":\"x\"}\n");
  CHECK_EQ(written, 4);
}

SCENARIO("a deletion is told under a version of its own") {
  auto objects = fresh();
  make(objects, "a");
  const auto version = objects.version();
  store_watch w{objects, {.kind = &configs, .name_space = "default", .from = version}};
  REQUIRE(objects.remove(configs, "default", "a", {}, start));
  const auto line = json::parse(w.next(plenty));
  CHECK_EQ(text_at(line, {"object", "metadata", "resourceVersion"}), std::to_string(version + 1));
}

SCENARIO("what is no longer kept is expired, and a watch that falls behind ends with it") {
  auto objects = fresh({.events = 4});
  store_watch slow{objects, {.kind = &configs, .name_space = "default", .from = objects.version()}};
  store_watch quick{objects, {.kind = &configs, .name_space = "default", .from = objects.version()}};
  for (int i = 0; i < 6; ++i) {
    make(objects, "c" + std::to_string(i));
    CHECK_EQ(told(quick.next(plenty)).size(), 1u);
  }
  const auto line = json::parse(slow.next(plenty));
  CHECK_EQ(text_at(line, {"type"}), "ERROR");
  CHECK_EQ(text_at(line, {"object", "reason"}), "Expired");
  CHECK(line["object"]["code"] == 410);
  CHECK(text_at(line, {"object", "message"}).starts_with("too old resource version: "));
  CHECK(slow.ended());
  CHECK(!quick.ended());
  store_watch kept{objects, {.kind = &configs, .name_space = "default", .from = objects.floor()}};
  CHECK_EQ(told(kept.next(plenty)).size(), 4u);
  store_watch future{objects, {.kind = &configs, .name_space = "default", .from = objects.version() + 1}};
  static_cast<void>(future.next(plenty));
  CHECK(future.ended());
}

SCENARIO("the bytes kept for watches have a bound too") {
  auto objects = fresh({.event_bytes = 4096});
  const auto from = objects.version();
  for (int i = 0; i < 10; ++i) {
    make(objects, "c" + std::to_string(i));
    change(objects, "c" + std::to_string(i), {{"data", {{"k", std::string(1000, 'x')}}}});
  }
  CHECK_GT(objects.floor(), from);
}

SCENARIO("a long story is told in pieces") {
  auto objects = fresh();
  store_watch w{objects, {.kind = &configs, .name_space = "default", .from = objects.version()}};
  for (int i = 0; i < 10; ++i)
    make(objects, "c" + std::to_string(i));
  std::size_t pieces = 0;
  std::size_t all = 0;
  for (auto piece = w.next(1); !piece.empty(); piece = w.next(1)) {
    ++pieces;
    all += told(piece).size();
  }
  CHECK_EQ(pieces, 10u);
  CHECK_EQ(all, 10u);
}
