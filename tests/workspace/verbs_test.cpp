#define CAF_SUITE verbs

#include "tests/workspace/desk.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;
using verb = desk::verb;

namespace {

const auto unauthorized = failure{guest::failure{guest::unauthorized{}}};

bool is_write(const k8s::call& x) {
  return x.method != "GET";
}

// -- every request fails in turn ------------------------------------------------

/// A verb and what stands before it.
struct course {
  const char* name;
  verb what;
  const char* stands; // mode, or null
  state from;
};

const auto courses = std::vector<course>{
  {"create", verb::open, nullptr, state::unknown},
  {"adopt what runs", verb::open, "Running", state::unknown},
  {"adopt what is suspended", verb::open, "Suspended", state::unknown},
  {"take up what runs", verb::take_up, "Running", state::unknown},
  {"take up what is suspended", verb::take_up, "Suspended", state::unknown},
  {"suspend", verb::suspend, "Running", state::running},
  {"suspend again", verb::suspend, "Suspended", state::suspending},
  {"resume", verb::resume, "Suspended", state::suspended},
  {"resume what runs", verb::resume, "Running", state::running},
  {"remove", verb::remove, "Running", state::running},
  {"remove what is suspended", verb::remove, "Suspended", state::suspended},
};

session before_of(const course& x, const desk& on) {
  auto got = session{};
  got.at = x.from;
  if (x.from == state::unknown)
    return got;
  got.epoch = 3;
  got.stamped = true;
  got.sandbox = sandbox_uid{"S1"};
  got.template_name = "tpl";
  if (x.from == state::running) {
    got.pod = pod_uid{k8s::text_at(*on.cluster.pod, "/metadata/uid").value()};
    got.guest = guest::endpoint{"desk.ns.svc", 1024, secret{got.pod->text()}};
  }
  return got;
}

enum class fault { refused, denied, answer_lost, cut_off, server_error, too_many };

desk_cluster::reply reply_of(fault x, const k8s::call& what) {
  switch (x) {
    case fault::refused: return pt::unreachable(what, false);
    case fault::denied: return pt::denied(what);
    case fault::answer_lost: return pt::timed_out(what);
    case fault::cut_off: return pt::unreachable(what, true);
    case fault::server_error: return pt::status(what, 500);
    case fault::too_many: break;
  }
  return pt::status(what, 429);
}

/// Whether the failure says that a write may have happened: itself, or the clean-up in it.
bool says_unknown(const failure& x) {
  return std::holds_alternative<write_unknown>(x);
}

/// The invariants of a verb of which the `n`-th request failed.
void check_failed(const course& x, const desk& on, const session& before, const desk::withdrawn& got, const k8s::call& failed, fault how,
                  std::size_t n) {
  MESSAGE(x.name << ", request " << n << " " << failed.method << " " << failed.path << ", fault " << static_cast<int>(how));
  const auto start = got.why ? std::get_if<std::shared_ptr<const start_failed>>(&*got.why) : nullptr;
  // Only a remove deletes.
  if (x.what != verb::remove)
    CHECK_EQ(on.sent("DELETE"), 0u);
  CHECK(on.sent("DELETE") <= 3u);
  // A session runs, or there is none.
  CHECK_EQ(got.after.at == state::running, got.after.guest.has_value() && got.after.at == state::running);
  if (got.after.at == state::running)
    CHECK(got.after.pod.has_value());
  // The epoch is never lowered, and grows by one exactly where a write is in doubt.
  if (before.epoch) {
    REQUIRE(got.after.epoch.has_value());
    CHECK(*got.after.epoch >= *before.epoch);
  }
  const auto in_doubt = is_write(failed) && how != fault::refused && how != fault::denied;
  if (!got.why) {
    // Only the reads of the disks may fail without a word.
    CHECK(failed.path.find("persistentvolumeclaims") != std::string::npos);
    return;
  }
  if (in_doubt) {
    const auto in_clean_up = start != nullptr && (*start)->clean_up == "unknown";
    CHECK(says_unknown(*got.why) || in_clean_up);
    CHECK(got.after.at != state::suspended);
    CHECK(got.after.at != state::deleted);
    if (x.what == verb::suspend || x.what == verb::remove)
      CHECK(got.after.at == state::suspending);
    if (x.what == verb::resume && x.from == state::suspended && says_unknown(*got.why))
      CHECK(got.after.at == state::resuming);
    if (x.what == verb::open && x.stands != nullptr && x.stands == std::string{"Suspended"} && failed.method == "PATCH"
        && says_unknown(*got.why))
      CHECK(got.after.at == state::resuming);
    const auto stored = on.cluster.sandbox ? on.cluster.annotation("holder-epoch") : std::nullopt;
    if (stored)
      CHECK(std::stoull(*stored) < *got.after.epoch);
  } else {
    CHECK(!says_unknown(*got.why));
    if (is_write(failed) && x.what == verb::suspend)
      CHECK(got.after.at == before.at);
  }
}

} // namespace

// [W 295] which outcomes are unknown
SCENARIO("whichever request of a verb fails, nothing is deleted, and what is not known is said to be unknown") {
  for (const auto& x : courses) {
    for (auto how : {fault::refused, fault::denied, fault::answer_lost, fault::cut_off, fault::server_error, fault::too_many}) {
      auto got_through = false;
      for (auto n = std::size_t{1}; n < 30 && !got_through; ++n) {
        auto on = desk{host::fenced, server::with_generations};
        if (x.stands != nullptr)
          on.cluster.stand(x.stands, x.from == state::unknown ? "0" : "3");
        const auto before = before_of(x, on);
        auto failed = std::optional<k8s::call>{};
        on.cluster.intercept = [&](const k8s::call& call, std::size_t at) -> std::optional<desk_cluster::reply> {
          if (at != n)
            return std::nullopt;
          failed = call;
          return reply_of(how, call);
        };
        auto got = on.run(x.what, before);
        if (failed)
          check_failed(x, on, before, got, *failed, how, n);
        else {
          got_through = true;
          CHECK(!got.why.has_value());
        }
      }
      CHECK(got_through);
    }
  }
}

// [W 295] the caller's own withdrawal during a write
SCENARIO("a verb withdrawn at any request answers with a session that holds") {
  for (const auto& x : courses) {
    auto got_through = false;
    for (auto n = std::size_t{1}; n < 30 && !got_through; ++n) {
      auto on = desk{host::fenced, server::with_generations};
      if (x.stands != nullptr)
        on.cluster.stand(x.stands, x.from == state::unknown ? "0" : "3");
      const auto before = before_of(x, on);
      auto held = std::optional<k8s::call>{};
      on.cluster.hold = [&, seen = std::size_t{0}](const k8s::call& call) mutable {
        if (++seen != n)
          return false;
        held = call;
        return true;
      };
      auto got = on.run_and_withdraw(x.what, before, [&] { return !on.api.waiting().empty(); });
      if (!held) {
        got_through = true;
        CHECK(!got.why.has_value());
        continue;
      }
      MESSAGE(x.name << ", withdrawn at request " << n);
      if (!got.why) {
        CHECK(held->path.find("persistentvolumeclaims") != std::string::npos);
        CHECK(got.after.at == state::running);
        continue;
      }
      if (is_write(*held)) {
        REQUIRE(std::holds_alternative<write_unknown>(*got.why));
        CHECK(got.after.at != state::running || x.what == verb::resume);
        CHECK(*got.after.epoch > before.epoch.value_or(0));
      } else
        CHECK_EQ(reason_of(*got.why), "Cancelled");
      if (x.what != verb::remove)
        CHECK_EQ(on.sent("DELETE"), 0u);
    }
    CHECK(got_through);
  }
}

// -- explaining -----------------------------------------------------------------

SCENARIO("a call that failed because somebody suspended the workspace says so") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  x.cluster.set_mode("Suspended");
  auto got = x.explain(before, "exec", unauthorized);
  const auto* why = failed_with<suspended>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "exec");
  CHECK_EQ(why->noticed_by, "transport");
  CHECK(got.after.at == state::suspending);
  CHECK_EQ(got.after.retired_pod, before.pod);
  CHECK(!got.after.guest.has_value());
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

SCENARIO("a workspace that runs explains nothing, and neither does a read that fails") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  auto got = x.explain(before, "exec", unauthorized);
  CHECK_EQ(reason_of(got.answer.error()), "AgentUnauthorized");
  CHECK(got.after.at == state::running);
  CHECK_EQ(x.requests(), strings{"GET SB"});
  x.cluster.intercept = [](const k8s::call& what, std::size_t) { return std::optional{pt::status(what, 500)}; };
  got = x.explain(before, "exec", unauthorized);
  CHECK_EQ(reason_of(got.answer.error()), "AgentUnauthorized");
  CHECK(got.after.at == state::running);
}

SCENARIO("a stranger under the name outranks a suspend") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  x.cluster.stand("Suspended", std::nullopt, "S2");
  auto got = x.explain(before, "exec", unauthorized);
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  x.forget();
  got = x.explain(before, "exec", failure{*why});
  CHECK(failed_with<replaced>(got) != nullptr);
  CHECK(x.requests().empty());
}

SCENARIO("a session that does not run is not explained") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = x.suspend(opened_on(x)).after;
  x.forget();
  auto got = x.explain(before, "exec", unauthorized);
  CHECK_EQ(reason_of(got.answer.error()), "AgentUnauthorized");
  CHECK(x.requests().empty());
}
