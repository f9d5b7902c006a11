#define CAF_SUITE list_watch

#include "k8s/list_watch.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::k8s;
using namespace std::chrono_literals;
using listing = list_watch::listing;
using match = list_request::match;

namespace {

/// A plan whose chance is always `chance`.
struct plan : list_watch {
  explicit plan(double chance = 0.5) : list_watch(options(), [chance] { return chance; }) {
  }
  static list_watch_options options() {
    auto how = list_watch_options{};
    how.what.collection = "/things";
    how.page = 2;
    how.watch_for = 60s;
    how.silence = 15s;
    how.first_pause = 100ms;
    how.longest_pause = 1000ms;
    how.denied_pause = 60'000ms;
    return how;
  }
  /// The next step as this kind; a test of another kind fails.
  template <class Step>
  Step is() {
    auto got = next();
    REQUIRE(std::holds_alternative<Step>(got));
    return std::get<Step>(got);
  }
  std::chrono::milliseconds pause() {
    return is<pause_step>().length;
  }
  /// Lists everything in one page at `version`.
  page_verdict list(const std::string& version) {
    is<list_step>();
    return page_came(version, "");
  }
  bool event(const std::string& version, watch_event::kind what = watch_event::kind::modified) {
    return heard({what, {{"metadata", {{"name", "a"}, {"uid", "u"}, {"resourceVersion", version}}}}});
  }
};

read_failure answered(unsigned status) {
  return {status, std::nullopt, "scripted"};
}

} // namespace

SCENARIO("pages are read one after another, and the watch goes on from the version of the list") {
  auto it = plan{};
  auto first = it.is<list_step>().what;
  CHECK_EQ(to_call(first).path, "/things?limit=2");
  CHECK(it.page_came("7", "t1").what == listing::goes_on);
  CHECK_EQ(to_call(it.is<list_step>().what).path, "/things?limit=2&continue=t1");
  CHECK(it.page_came("7", "t2").what == listing::goes_on);
  CHECK_EQ(to_call(it.is<list_step>().what).path, "/things?limit=2&continue=t2");
  CHECK_EQ(it.position(), "");
  const auto end = it.page_came("7", "");
  CHECK(end.what == listing::whole);
  CHECK(!end.anew);
  CHECK_EQ(it.position(), "7");
  const auto watch = it.is<watch_step>();
  CHECK_EQ(to_call(watch.what).path, "/things?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=75");
  CHECK(watch.silence == 90s);
  CHECK(watch.whole == 105s);
}

SCENARIO("a watch that ends goes on from the last version heard, bookmarks included") {
  auto it = plan{};
  it.list("7");
  it.is<watch_step>();
  CHECK(it.event("8"));
  CHECK(it.event("12", watch_event::kind::bookmark));
  it.watch_ended(70s);
  CHECK_EQ(it.is<watch_step>().what.version, "12");
  THEN("what was told already is not told again") {
    CHECK(!it.event("8"));
    CHECK(!it.event("11"));
    CHECK_EQ(it.position(), "12");
    CHECK(it.event("13"));
  }
}

SCENARIO("pauses double up to a bound, and chance takes any part of each") {
  auto it = plan{0.5};
  for (auto length : {50ms, 100ms, 200ms, 400ms, 500ms, 500ms}) {
    it.is<list_step>();
    it.page_failed(answered(500));
    CHECK(it.pause() == length);
  }
  auto none = plan{0};
  none.is<list_step>();
  none.page_failed(answered(0));
  CHECK(none.pause() == 0ms);
  GIVEN("a server that says when to come back") {
    it.is<list_step>();
    it.page_failed({429, 7000ms, ""});
    CHECK(it.pause() == 7500ms);
  }
  GIVEN("a server that says to come back in years") {
    it.is<list_step>();
    it.page_failed({429, std::chrono::hours{99'999}, ""});
    CHECK(it.pause() == 1h + 500ms);
  }
}

SCENARIO("a list that cannot be had in one piece either is read in pages again") {
  auto it = plan{};
  for (auto i = 0; i < 3; ++i) {
    it.is<list_step>();
    it.page_came("7", "t1");
    it.is<list_step>();
    it.page_failed(answered(410));
  }
  it.pause();
  CHECK_EQ(to_call(it.is<list_step>().what).path, "/things");
  it.page_failed(answered(0));
  it.pause();
  CHECK_EQ(to_call(it.is<list_step>().what).path, "/things?limit=2");
}

SCENARIO("a watch that lasted or brought something starts the pauses anew") {
  auto it = plan{};
  it.list("7");
  for (auto length : {50ms, 100ms, 200ms}) {
    it.is<watch_step>();
    it.watch_failed(answered(0), 1s);
    CHECK(it.pause() == length);
  }
  it.is<watch_step>();
  CHECK(it.watch_ended(5s));
  it.is<watch_step>();
  CHECK(!it.watch_ended(4s)); // which told nothing
  CHECK(it.pause() == 50ms);
  it.is<watch_step>();
  CHECK(it.event("8"));
  it.watch_ended(1s);
  CHECK(it.pause() == 50ms);
}

SCENARIO("a forgotten version is one list, of nothing older than what is known, and then a watch") {
  auto it = plan{};
  it.list("7");
  it.is<watch_step>();
  CHECK(it.event("9"));
  it.watch_ended(60s);
  it.is<watch_step>();
  it.watch_failed(watch_fault{watch_expired{}});
  const auto list = it.is<list_step>().what;
  CHECK_EQ(list.version, "9");
  CHECK(list.how == match::not_older_than);
  CHECK(it.page_came("20", "").what == listing::whole);
  CHECK_EQ(it.is<watch_step>().what.version, "20");
  WHEN("the new version is forgotten at once as well") {
    it.watch_failed(watch_fault{watch_expired{}});
    THEN("there is a pause before each further list") {
      CHECK(it.pause() == 50ms);
      it.list("21");
      it.is<watch_step>();
      it.watch_failed(answered(410), 0s);
      CHECK(it.pause() == 100ms);
      it.is<list_step>();
    }
  }
}

SCENARIO("a server that cannot list from that version is asked for the present state") {
  for (auto status : {400u, 410u, 422u, 504u}) {
    auto it = plan{};
    it.list("7");
    it.is<watch_step>();
    CHECK(it.event("9"));
    it.watch_failed(watch_fault{watch_expired{}});
    it.is<list_step>();
    it.page_failed(answered(status));
    CHECK_EQ(it.is<list_step>().what.version, "");
  }
}

SCENARIO("a forgotten token begins the list again, twice at once, and then without pages after a pause") {
  auto it = plan{};
  for (auto n = 0; n < 2; ++n) {
    it.is<list_step>();
    CHECK(it.page_came("7", "t").what == listing::goes_on);
    CHECK_EQ(it.is<list_step>().what.more, "t");
    it.page_failed(answered(410));
  }
  it.is<list_step>();
  CHECK(it.page_came("7", "t").what == listing::goes_on);
  it.is<list_step>();
  it.page_failed(answered(410));
  CHECK(it.pause() == 50ms);
  CHECK_EQ(to_call(it.is<list_step>().what).path, "/things");
  CHECK(it.page_came("9", "").what == listing::whole);
}

SCENARIO("pages that are not one list are void") {
  const auto other_version = std::pair{"8", ""};
  const auto token_of_its_own = std::pair{"7", "t"};
  for (const auto& [version, more] : {other_version, token_of_its_own}) {
    auto it = plan{};
    it.is<list_step>();
    it.page_came("7", "t");
    it.is<list_step>();
    CHECK(it.page_came(version, more).what == listing::void_);
    CHECK(it.pause() == 50ms);
    CHECK_EQ(to_call(it.is<list_step>().what).path, "/things?limit=2");
  }
}

SCENARIO("a list older than what is known is not believed, unless it comes three times in a row") {
  for (auto third_is_old : {true, false}) {
    auto it = plan{};
    it.list("50");
    it.is<watch_step>();
    it.watch_failed(watch_fault{watch_unreadable{}});
    for (auto n = 0; n < 2; ++n) {
      it.pause();
      CHECK(it.list("9").what == listing::void_);
      CHECK_EQ(it.position(), "50");
    }
    it.pause();
    const auto third = it.list(third_is_old ? "9" : "51");
    CHECK(third.what == listing::whole);
    CHECK_EQ(third.anew, third_is_old);
    CHECK_EQ(it.is<watch_step>().what.version, third_is_old ? "9" : "51");
    if (third_is_old) {
      CHECK(it.event("10"));
    } else {
      it.watch_failed(watch_fault{watch_unreadable{}});
      it.pause();
      CHECK(it.list("9").what == listing::void_);
    }
  }
}

SCENARIO("what cannot be read is followed by a list, after a pause") {
  auto it = plan{};
  it.list("7");
  it.is<watch_step>();
  it.watch_failed(watch_fault{watch_unreadable{}});
  CHECK(it.pause() == 50ms);
  it.is<list_step>();
}

SCENARIO("who may not read asks again about every minute, and goes on from where it was") {
  auto it = plan{0.25};
  it.is<list_step>();
  it.page_failed(answered(403));
  CHECK(it.pause() == 45s);
  it.list("7");
  it.is<watch_step>();
  it.watch_failed(answered(403), 0s);
  CHECK(it.pause() == 45s);
  CHECK_EQ(it.is<watch_step>().what.version, "7");
  GIVEN("a kind that is no longer served") {
    it.watch_failed(answered(404), 0s);
    CHECK(it.pause() == 45s);
    it.is<list_step>();
    it.page_failed(answered(404));
    CHECK(it.pause() == 45s);
    it.is<list_step>();
  }
}

SCENARIO("an error in the stream keeps the version, and a few of them in a row doubt it") {
  auto it = plan{};
  it.list("7");
  for (auto n = 0; n < 4; ++n) {
    it.is<watch_step>();
    it.watch_failed(watch_fault{watch_refused{500, "", "", {}}});
    it.pause();
  }
  CHECK_EQ(it.is<watch_step>().what.version, "7");
  it.watch_failed(answered(503), 0s);
  it.pause();
  it.is<list_step>();
  GIVEN("a version that the server cannot read") {
    it.page_came("8", "");
    it.is<watch_step>();
    it.watch_failed(answered(400), 0s);
    it.pause();
    it.is<list_step>();
  }
}
