#define CAF_SUITE rest

// What a suspend asks of the guest before its pod goes: the quiesce and the flush.

#include "tests/support/scripted_hosts.hpp"
#include "tests/workspace/desk.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using strings = std::vector<std::string>;

namespace {

/// A desk whose guest answers a quiesce and a flush, and who is told the notes. `log` has every question and every write, in order.
struct resting_desk {
  resting_desk() {
    x.on.work = &work;
    x.on.told = [this](const id& which, const rest_note& note) {
      CHECK_EQ(which.text(), "desk");
      notes.push_back(note);
    };
    work.on_quiesce = [this](const guest::endpoint&, const guest::quiesce_request& how) -> guest::result<guest::quiesce_report> {
      log.push_back(how.grace ? "quiesce " + std::to_string(how.grace->count()) : "quiesce");
      x.cluster.intercept = nullptr;
      return quiesced;
    };
    work.on_flush = [this](const guest::endpoint&, std::optional<std::chrono::milliseconds> bound) -> guest::result<guest::flush_report> {
      log.push_back(bound ? "flush " + std::to_string(bound->count()) : "flush");
      CHECK_EQ(x.sent("PATCH"), 0u); // nothing was written before the guest had answered
      return flushed;
    };
    auto got = x.open();
    REQUIRE(got.answer.has_value());
    before = got.after;
    x.forget();
  }
  transition<done> suspend(suspend_options how) {
    return x.suspend(before, how);
  }
  /// The suspend failed, and left everything as it was.
  void check_unchanged(const transition<done>& got) {
    CHECK(!got.answer.has_value());
    CHECK_EQ(x.sent("PATCH"), 0u);
    CHECK(got.after.at == state::running);
    CHECK(got.after.guest.has_value());
  }
  void check_suspended(const transition<done>& got) {
    CHECK(got.answer.has_value());
    CHECK_EQ(x.sent("PATCH"), 1u);
    CHECK(got.after.at == state::suspended);
  }
  template <class Note>
  const Note* only_note() {
    REQUIRE_EQ(notes.size(), 1u);
    return std::get_if<Note>(&notes[0]);
  }

  desk x;
  pt::scripted_work work;
  session before;
  strings log;
  std::vector<rest_note> notes;
  guest::result<guest::quiesce_report> quiesced = guest::quiesce_report{{}, "pid-namespace", 1000, 1};
  guest::result<guest::flush_report> flushed = guest::flush_report{3, "/workspace"};
};

tl::unexpected<guest::failure> no(guest::failure why) {
  return tl::unexpected{std::move(why)};
}

} // namespace

// [W 185] the order of the quiesce
// [W 194] the order of the flush
SCENARIO("a suspend quiesces, then flushes, and only then writes") {
  auto it = resting_desk{};
  const auto got = it.suspend({true, true});
  it.check_suspended(got);
  CHECK_EQ(it.log, (strings{"quiesce", "flush"}));
  CHECK(it.notes.empty());
}

// [W 200] flush:false
SCENARIO("what was not asked for is not asked of the guest") {
  auto it = resting_desk{};
  const auto got = it.suspend({false, false});
  it.check_suspended(got);
  CHECK(it.log.empty());
}

// [W 201] the bound of the flush
SCENARIO("the bound of a flush and the grace of a quiesce reach the guest") {
  auto it = resting_desk{};
  auto how = suspend_options{true, true};
  how.flush_bound = std::chrono::milliseconds{45'000};
  how.quiesce_grace = std::chrono::milliseconds{2'000};
  it.check_suspended(it.suspend(how));
  CHECK_EQ(it.log, (strings{"quiesce 2000", "flush 45000"}));
}

// [W 183] an image that cannot be quiesced
SCENARIO("an image without quiesce is noted once and suspended") {
  auto it = resting_desk{};
  it.quiesced = no(guest::unsupported{"quiesce"});
  it.check_suspended(it.suspend({false, true}));
  REQUIRE(it.only_note<quiesce_not_supported>() != nullptr);
  CHECK_EQ(std::get<quiesce_not_supported>(it.notes[0]).feature, "quiesce");
}

// [W 184] an unconfirmed quiesce
// [G 206] the same, by the words of the wire
SCENARIO("an unconfirmed quiesce stops the suspend and the workspace goes on") {
  auto it = resting_desk{};
  it.quiesced = no(guest::quiesce_unconfirmed{"quiesce_unconfirmed", "pid 12 (sleep)"});
  const auto got = it.suspend({true, true});
  it.check_unchanged(got);
  const auto* why = failed_with<guest::failure>(got);
  REQUIRE(why != nullptr);
  CHECK(std::holds_alternative<guest::quiesce_unconfirmed>(*why));
  CHECK_EQ(it.log, strings{"quiesce"}); // and no flush
  CHECK(it.notes.empty());
  // The session is what it was: the next command goes where the last one went.
  CHECK(got.after.guest->token == it.before.guest->token);
  CHECK_EQ(got.after.guest->host, it.before.guest->host);
}

SCENARIO("a quiesce that could not be asked for stops the suspend too") {
  auto it = resting_desk{};
  it.quiesced = no(guest::dial_failed{"127.1.1.1", 1024, "refused"});
  it.check_unchanged(it.suspend({true, true}));
}

// [W 186] a quiesce of the narrow scope
SCENARIO("a quiesce that reached only what the guest had started is noted with its report") {
  auto it = resting_desk{};
  it.quiesced = guest::quiesce_report{{{12, "sleep", "SIGKILL"}}, "owned-sessions", 1000, 2};
  it.check_suspended(it.suspend({false, true}));
  const auto* note = it.only_note<quiesce_narrowed>();
  REQUIRE(note != nullptr);
  REQUIRE_EQ(note->report.stopped.size(), 1u);
  CHECK_EQ(note->report.stopped[0].pid, 12);
  auto wide = resting_desk{};
  wide.check_suspended(wide.suspend({false, true}));
  CHECK(wide.notes.empty());
}

// [W 195] an unconfirmed flush
SCENARIO("an unconfirmed flush stops the suspend") {
  auto it = resting_desk{};
  it.flushed = no(guest::flush_unconfirmed{"flush_unconfirmed", "EIO"});
  const auto got = it.suspend({true, false});
  it.check_unchanged(got);
  REQUIRE(failed_with<guest::failure>(got) != nullptr);
  CHECK(it.notes.empty());
}

// [W 196] an image that cannot flush
// [W 197] one that says so only when it is asked
SCENARIO("an image without flush is noted once and suspended") {
  auto it = resting_desk{};
  it.flushed = no(guest::unsupported{"flush"});
  it.check_suspended(it.suspend({true, false}));
  CHECK(it.only_note<flush_not_supported>() != nullptr);
}

// [W 198] an unreachable guest
// [W 199] a fenced one
// [G 210] both, by the words of the wire
SCENARIO("a guest that could not be asked to flush is noted once with the cause, and suspended") {
  for (const auto& why : {guest::failure{guest::dial_failed{"127.1.1.1", 1024, "refused"}}, guest::failure{guest::retiring{}},
                          guest::failure{guest::unauthorized{}}, guest::failure{guest::lost{"idle"}}}) {
    auto it = resting_desk{};
    it.flushed = no(why);
    it.check_suspended(it.suspend({true, false}));
    const auto* note = it.only_note<flush_unreachable>();
    REQUIRE(note != nullptr);
    CHECK_EQ(note->cause.index(), why.index());
    CHECK(!to_string(it.notes[0]).empty());
  }
}

// [W 203] a delete does not flush
SCENARIO("a delete asks nothing of the guest") {
  auto it = resting_desk{};
  CHECK(it.x.remove(it.before).answer.has_value());
  CHECK(it.log.empty());
}

SCENARIO("a workspace that is suspended already asks nothing of a guest") {
  auto it = resting_desk{};
  auto asleep = it.suspend({true, true});
  it.log.clear();
  it.x.forget();
  const auto again = it.x.suspend(asleep.after, {true, true});
  CHECK(again.answer.has_value());
  CHECK(it.log.empty());
}
