#define CAF_SUITE fenced_write

#include "k8s/fenced_write.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <random>

using namespace paddock;
using namespace paddock::k8s;
using nlohmann::json;

namespace {

constexpr auto epoch_path = "/metadata/annotations/sandbox.namzu.ai~1holder-epoch";
constexpr auto changed_path = "/metadata/annotations/sandbox.namzu.ai~1operating-mode-changed-at";
const auto now = time_source::wall_clock::time_point{std::chrono::milliseconds{1767323045678}};
const std::string path = "/sb";

json test(const char* at, const char* value) {
  return {{"op", "test"}, {"path", at}, {"value", value}};
}

json add(const char* at, json value) {
  return {{"op", "add"}, {"path", at}, {"value", std::move(value)}};
}

/// A Sandbox as the API shows it; absent where a text is empty.
json object(const std::string& uid, const std::string& version, std::optional<std::string> epoch, const std::string& mode = "Running") {
  auto it = json{{"metadata", {{"name", "namzu-ws-a"}}}, {"spec", {{"operatingMode", mode}}}};
  if (!uid.empty())
    it["metadata"]["uid"] = uid;
  if (!version.empty())
    it["metadata"]["resourceVersion"] = version;
  if (epoch)
    it["metadata"]["annotations"] = {{epoch_annotation, *epoch}, {"other", "x"}};
  return it;
}

reading seen(const std::string& uid, const std::string& version, std::optional<std::string> epoch, const std::string& mode = "Running") {
  return read_fence(object(uid, version, std::move(epoch), mode));
}

holder who(std::optional<std::uint64_t> epoch, const std::string& uid = {}) {
  auto it = holder{};
  it.epoch = epoch;
  if (!uid.empty())
    it.uid = sandbox_uid{uid};
  return it;
}

sandbox_write mode(operating_mode x) {
  auto it = sandbox_write{};
  it.mode = x;
  return it;
}

const auto suspend = mode(operating_mode::suspended);

/// What two patches are compared as: the test framework cannot print json.
std::string text(const json& x) {
  return x.dump(1);
}

template <class T>
const T* refused(const tl::expected<void, refusal>& x) {
  return x ? nullptr : std::get_if<T>(&x.error());
}

template <class T>
const T* refused(const tl::expected<next_step, refusal>& x) {
  return x ? nullptr : std::get_if<T>(&x.error());
}

bool is(const tl::expected<next_step, refusal>& x, next_step wanted) {
  return x && *x == wanted;
}

} // namespace

// [C 51] the stored epoch is tested first
// [C 53] the uid is tested
SCENARIO("a fenced mode write tests the stored epoch and the uid, and then writes epoch, time and mode") {
  auto got = compose(path, suspend, who(7, "S1"), seen("S1", "100", "5"), now);
  REQUIRE(got);
  CHECK_EQ(got->method, "PATCH");
  CHECK(got->type == call::content::json_patch);
  CHECK_EQ(got->path, path);
  const auto expected = json::array({test(epoch_path, "5"), test("/metadata/uid", "S1"), add(epoch_path, "7"),
                                     add(changed_path, "2026-01-02T03:04:05.678Z"), add("/spec/operatingMode", "Suspended")});
  CHECK_EQ(text(got->body), text(expected));
}

// [C 52] an object without annotations
SCENARIO("without an annotations map the map is added whole on a tested resource version") {
  auto got = compose(path, suspend, who(3), seen("S1", "100", std::nullopt), now);
  REQUIRE(got);
  CHECK_EQ(text(got->body),
           text(json::array({test("/metadata/resourceVersion", "100"),
                             add("/metadata/annotations", {{epoch_annotation, "3"}, {mode_changed_annotation, "2026-01-02T03:04:05.678Z"}}),
                             add("/spec/operatingMode", "Suspended")})));
  GIVEN("no epoch, but a uid") {
    auto unfenced = compose(path, suspend, who(std::nullopt, "S1"), seen("S1", "100", std::nullopt), now);
    REQUIRE(unfenced);
    CHECK_EQ(text(unfenced->body[0]), text(test("/metadata/uid", "S1")));
    CHECK_EQ(text(unfenced->body[1]), text(test("/metadata/resourceVersion", "100")));
    CHECK_EQ(unfenced->body[2]["path"].get<std::string>(), "/metadata/annotations");
  }
  GIVEN("no resource version either") {
    THEN("nothing may be sent") {
      CHECK(!compose(path, suspend, who(3), seen("S1", "", std::nullopt), now));
      CHECK(!compose(path, suspend, who(std::nullopt, "S1"), seen("S1", "", std::nullopt), now));
    }
  }
}

SCENARIO("an object with other annotations keeps them") {
  auto it = object("S1", "100", std::nullopt);
  it["metadata"]["annotations"] = {{"theirs", "1"}};
  auto got = compose(path, suspend, who(3), read_fence(it), now);
  REQUIRE(got);
  CHECK_EQ(text(got->body), text(json::array({test("/metadata/resourceVersion", "100"), add(epoch_path, "3"),
                                              add(changed_path, "2026-01-02T03:04:05.678Z"), add("/spec/operatingMode", "Suspended")})));
  CHECK_EQ(text(it.patch(got->body)["metadata"]["annotations"]["theirs"]), text("1"));
}

// [C 54] a patch without a test
SCENARIO("a patch with changes and no test is refused by the builder") {
  CHECK(!patch_of(json::array(), json::array({add("/spec/operatingMode", "Running")})));
  CHECK(patch_of(json::array({test("/metadata/uid", "S1")}), json::array({add("/spec/operatingMode", "Running")})));
  // Annotations present, no epoch and no uid: there is nothing to test.
  CHECK(!compose(path, suspend, who(std::nullopt), seen("", "100", "5"), now));
}

// [C 55] an epoch that is no number
SCENARIO("an unreadable stored epoch is not 0") {
  for (const auto* text :
       {"latest", "", " 5", "5 ", "+5", "-5", "05", "00", "5.0", "1e3", "0x5", "9007199254740992", "99999999999999999999"}) {
    const auto it = seen("S1", "100", text);
    CHECK(!it.epoch);
    CHECK_EQ(it.annotation.value_or("none"), text);
    auto verdict = admit(it, who(highest_epoch));
    const auto* no = refused<epoch_overtaken>(verdict);
    REQUIRE(no);
    CHECK(!no->stored);
    CHECK_EQ(no->annotation.value_or("none"), text);
  }
  CHECK_EQ(parse_epoch("0").value_or(9), 0u);
  CHECK_EQ(parse_epoch("9007199254740991").value_or(0), highest_epoch);
}

SCENARIO("a stored epoch admits its own holder and newer ones") {
  const auto it = seen("S1", "100", "5");
  CHECK(admit(it, who(5)));
  CHECK(admit(it, who(6)));
  CHECK(admit(it, who(std::nullopt)));
  auto verdict = admit(it, who(4));
  const auto* no = refused<epoch_overtaken>(verdict);
  REQUIRE(no);
  CHECK_EQ(no->ours, 4u);
  CHECK_EQ(no->stored.value_or(0), 5u);
  CHECK(admit(seen("S1", "100", std::nullopt), who(0)));
}

SCENARIO("a stranger is reported as one whatever its epoch") {
  auto verdict = admit(seen("S2", "100", "9"), who(4, "S1"));
  const auto* no = refused<other_object>(verdict);
  REQUIRE(no);
  CHECK_EQ(no->expected, sandbox_uid{"S1"});
  CHECK_EQ(no->actual.value_or(sandbox_uid{}), sandbox_uid{"S2"});
  auto unnamed = admit(seen("", "100", "4"), who(4, "S1"));
  REQUIRE(refused<other_object>(unnamed));
  CHECK(!refused<other_object>(unnamed)->actual);
}

SCENARIO("an annotation that this holder wrote and that is gone is not epoch 0") {
  auto me = who(4, "S1");
  CHECK(admit(seen("S1", "100", std::nullopt), me));
  me.stamped = true;
  CHECK(refused<epoch_overtaken>(admit(seen("S1", "100", std::nullopt), me)));
  CHECK(admit(seen("S1", "100", "4"), me));
}

SCENARIO("the shape of a write follows from the epoch, the uid and the mode") {
  const auto stamp = sandbox_write{};
  CHECK(shape_of(stamp, who(std::nullopt)) == write_shape::nothing);
  CHECK(shape_of(suspend, who(std::nullopt)) == write_shape::merge_patch);
  CHECK(shape_of(stamp, who(std::nullopt, "S1")) == write_shape::nothing);
  CHECK(shape_of(suspend, who(std::nullopt, "S1")) == write_shape::json_patch);
  CHECK(shape_of(stamp, who(4)) == write_shape::json_patch);
  CHECK(shape_of(suspend, who(4)) == write_shape::json_patch);
  const auto merge = compose_merge_patch(path, operating_mode::suspended, now);
  CHECK(merge.type == call::content::merge_patch);
  CHECK_EQ(text(merge.body), text(json({{"metadata", {{"annotations", {{mode_changed_annotation, "2026-01-02T03:04:05.678Z"}}}}},
                                        {"spec", {{"operatingMode", "Suspended"}}}})));
}

SCENARIO("a stamp touches neither the mode nor its time") {
  auto got = compose(path, sandbox_write{}, who(6, "S1"), seen("S1", "100", "2"), now);
  REQUIRE(got);
  CHECK_EQ(text(got->body), text(json::array({test(epoch_path, "2"), test("/metadata/uid", "S1"), add(epoch_path, "6")})));
}

SCENARIO("a refresh tests the mode and writes hash, template and mode in that order") {
  auto what = mode(operating_mode::running);
  what.only_if_suspended = true;
  what.more_annotations.emplace_back(template_hash_annotation, "sha256:1");
  what.pod_template = json{{"spec", json::object()}};
  auto got = compose(path, what, who(4, "S1"), seen("S1", "100", "4", "Suspended"), now);
  REQUIRE(got);
  CHECK_EQ(text(got->body),
           text(json::array({test(epoch_path, "4"), test("/metadata/uid", "S1"), test("/spec/operatingMode", "Suspended"),
                             add(epoch_path, "4"), add(changed_path, "2026-01-02T03:04:05.678Z"),
                             add("/metadata/annotations/sandbox.namzu.ai~1pod-template-hash", "sha256:1"),
                             add("/spec/podTemplate", {{"spec", json::object()}}), add("/spec/operatingMode", "Running")})));
  auto bare = compose(path, what, who(std::nullopt), seen("", "100", std::nullopt, "Suspended"), now);
  REQUIRE(bare);
  CHECK_EQ(text(bare->body[0]), text(test("/spec/operatingMode", "Suspended")));
  CHECK_EQ(text(bare->body[1]), text(test("/metadata/resourceVersion", "100")));
}

SCENARIO("after a 422 a write is made again only when something it tested has moved") {
  const auto me = who(4, "S1");
  const auto tested = seen("S1", "100", "4");
  CHECK(is(after_422(suspend, me, tested, seen("S1", "100", "4"), 1), next_step::give_up));
  CHECK(is(after_422(suspend, me, tested, seen("S1", "101", "4"), 1), next_step::again));
  CHECK(is(after_422(suspend, me, tested, seen("S1", "100", "3"), 2), next_step::again));
  CHECK(is(after_422(suspend, me, tested, seen("S1", "101", "4"), 3), next_step::give_up));
  CHECK(refused<other_object>(after_422(suspend, me, tested, seen("S2", "101", "9"), 1)));
  GIVEN("a wake-up that tests the mode") {
    auto wake = mode(operating_mode::running);
    wake.only_if_suspended = true;
    const auto asleep = seen("S1", "100", "4", "Suspended");
    CHECK(is(after_422(wake, me, asleep, seen("S1", "101", "4", "Running"), 1), next_step::yielded));
    CHECK(is(after_422(wake, me, asleep, seen("S1", "101", "4", "Suspended"), 1), next_step::again));
    CHECK(refused<epoch_overtaken>(after_422(wake, me, asleep, seen("S1", "101", "9", "Running"), 1)));
  }
  GIVEN("a refresh without an epoch") {
    auto refresh = mode(operating_mode::running);
    refresh.only_if_suspended = true;
    refresh.pod_template = json::object();
    const auto asleep = seen("S1", "100", "4", "Suspended");
    CHECK(is(after_422(refresh, who(std::nullopt, "S1"), asleep, seen("S1", "101", "4", "Suspended"), 1), next_step::give_up));
  }
}

SCENARIO("a delete always names the resource version, and the uid when it is known") {
  auto both = compose_delete(path, who(5, "S1"), seen("S1", "100", "5"));
  REQUIRE(both);
  CHECK_EQ(both->method, "DELETE");
  CHECK_EQ(text(both->body),
           text(json({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"resourceVersion", "100"}, {"uid", "S1"}}}})));
  auto unnamed = compose_delete(path, who(5), seen("S1", "100", "5"));
  REQUIRE(unnamed);
  CHECK_EQ(text(unnamed->body["preconditions"]), text(json({{"resourceVersion", "100"}})));
  CHECK(!compose_delete(path, who(5, "S1"), seen("S1", "", "5")));
}

SCENARIO("after a 409 a delete is repeated only on an object that is the same in mode, epoch and uid") {
  const auto me = who(5, "S1");
  const auto first = seen("S1", "100", "5", "Suspended");
  CHECK(is(after_conflict(me, first, seen("S1", "101", "5", "Suspended"), 1), next_step::again));
  CHECK(is(after_conflict(me, first, seen("S1", "101", "5", "Suspended"), 3), next_step::give_up));
  CHECK(is(after_conflict(me, first, seen("S1", "101", "5", "Running"), 1), next_step::give_up));
  CHECK(is(after_conflict(me, first, seen("S1", "101", "6", "Suspended"), 1), next_step::give_up));
  CHECK(is(after_conflict(who(std::nullopt, "S1"), first, seen("S1", "101", "5", "Suspended"), 1), next_step::give_up));
  CHECK(refused<other_object>(after_conflict(me, first, seen("S2", "101", "5", "Suspended"), 1)));
  CHECK(refused<other_object>(after_conflict(who(5), first, seen("S2", "101", "5", "Suspended"), 1)));
}

SCENARIO("a starting holder holds one more than its own term stored, or the first epoch of its term") {
  const auto own = epoch_term{1000, 3};
  const auto first = 1000 + 3 * epochs_per_term;
  CHECK_EQ(first_of(own), first);
  const auto from = [&](std::optional<std::uint64_t> stored) {
    return first_epoch(own, seen("S1", "1", stored ? std::optional{std::to_string(*stored)} : std::nullopt));
  };
  CHECK_EQ(from(std::nullopt).value(), first);
  CHECK_EQ(from(0).value(), first);
  CHECK_EQ(from(first - 1).value(), first);
  CHECK_EQ(from(first).value(), first + 1);
  CHECK_EQ(from(first + 7).value(), first + 8);
  auto later = from(first + epochs_per_term);
  REQUIRE(!later);
  CHECK_EQ(later.error().stored.value_or(0), first + epochs_per_term);
  CHECK(!from(first + epochs_per_term - 1)); // the term has no more
  CHECK(!first_epoch(own, seen("S1", "1", "latest")));
  CHECK_EQ(next_epoch(own, first).value(), first + 1);
  CHECK(!next_epoch(own, first + epochs_per_term - 1));
}

namespace {

/// An API server with one Sandbox under the name. A JSON patch applies whole or not at all.
struct small_server {
  json sandbox = object("a", "1", std::nullopt);
  int version = 1;
  bool apply(const call& what) {
    if (what.type == call::content::json_patch) {
      try {
        sandbox = sandbox.patch(what.body);
      } catch (const json::exception&) {
        return false;
      }
    } else
      sandbox.merge_patch(what.body);
    move();
    return true;
  }
  void move() {
    sandbox["metadata"]["resourceVersion"] = std::to_string(++version);
  }
};

/// A host that reads, decides and writes in separate steps, so that anything may happen between them.
struct host {
  holder me;
  std::optional<reading> last;
};

} // namespace

SCENARIO("no order of racing holders lets an older one write over a newer one, or anyone to a stranger") {
  const auto seed = std::random_device{}();
  MESSAGE("seed " << seed);
  std::mt19937 random{seed};
  const auto pick = [&](unsigned n) { return std::uniform_int_distribution<unsigned>{0, n - 1}(random); };
  auto landed = 0;
  auto failed = 0;
  for (auto history = 0; history < 300; ++history) {
    small_server server;
    auto hosts = std::vector<host>{{who(4, "a"), {}}, {who(5, "a"), {}}, {who(6, "a"), {}}};
    for (auto i = 0; i < 40; ++i) {
      if (pick(8) == 0)
        server.move(); // a controller's status
      else if (pick(60) == 0) {
        // The stranger may carry the very epoch that was tested on the object before.
        server.sandbox = object("b", "1", pick(2) == 0 ? std::nullopt : std::optional{std::to_string(4 + pick(3))});
        server.move();
      } else {
        auto& it = hosts[pick(3)];
        if (!it.last || pick(2) == 0) {
          it.last = read_fence(server.sandbox);
          continue;
        }
        if (!admit(*it.last, it.me))
          continue;
        auto what = pick(3) == 0 ? sandbox_write{} : mode(pick(2) == 0 ? operating_mode::running : operating_mode::suspended);
        auto patch = compose(path, what, it.me, *it.last, now);
        REQUIRE(patch);
        const auto before = read_fence(server.sandbox);
        if (!server.apply(*patch)) {
          ++failed;
          continue;
        }
        ++landed;
        REQUIRE_EQ(before.uid.value().text(), "a");
        REQUIRE_LE(before.epoch.value(), it.me.epoch.value());
        REQUIRE_EQ(read_fence(server.sandbox).epoch.value(), it.me.epoch.value());
      }
    }
  }
  CHECK(landed > 0);
  CHECK(failed > 0);
}
