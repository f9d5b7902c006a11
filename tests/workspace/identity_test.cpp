#define CAF_SUITE identity

#include "workspace/events.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;

namespace {

session running_on(const std::string& pod, std::optional<guest_boot_id> boot = std::nullopt) {
  session out;
  out.at = state::running;
  out.sandbox = sandbox_uid{"S1"};
  out.pod = pod_uid{pod};
  out.boot = std::move(boot);
  out.claims.emplace("workspace", claim_uid{"C1"});
  out.guest = guest::endpoint{"127.0.0.1", 1024, secret{pod}};
  return out;
}

const auto b1 = guest_boot_id{"B1"};
const auto b2 = guest_boot_id{"B2"};
const auto p1 = pod_uid{"P1"};
const auto p2 = pod_uid{"P2"};

identity guest_of(const pod_uid& pod, std::optional<guest_boot_id> boot) {
  return {sandbox_uid{"S1"}, {}, pod, std::move(boot)};
}

} // namespace

SCENARIO("the first boot id of a pod is where counting starts, the same one again is nothing, another one is a restart") {
  auto now = running_on("P1");
  CHECK(!hear(now, p1, b1));
  CHECK(!hear(now, p1, b1));
  const auto restart = hear(now, p1, b2);
  REQUIRE(restart);
  CHECK(restart->reason == guest_restart::why::container_restarted);
  CHECK(restart->previous.pod == p1);
  CHECK(restart->previous.boot == b1);
  CHECK(restart->current.pod == p1);
  CHECK(restart->current.boot == b2);
  CHECK(!hear(now, p1, b2));
}

SCENARIO("nothing is heard of a pod that was left, of no boot id, or where nothing runs") {
  auto now = running_on("P2", b2);
  CHECK(!hear(now, p1, b1));
  CHECK(!hear(now, p2, guest_boot_id{}));
  CHECK(now.boot == b2);
  now.at = state::suspending;
  CHECK(!hear(now, p2, b1));
  CHECK(now.boot == b2);
}

SCENARIO("a move forgets the boot id, and a move to where the session is, or of one that does not run, is none") {
  auto now = running_on("P1", b1);
  const auto next = found_pod{p2, guest::endpoint{"127.0.0.2", 1024, secret{"P2"}}};
  const auto restart = move_to(now, next);
  REQUIRE(restart);
  CHECK(restart->reason == guest_restart::why::pod_replaced);
  CHECK(restart->previous == identity_of(running_on("P1", b1)));
  CHECK(restart->current == identity_of(running_on("P2")));
  CHECK_EQ(now.guest->host, "127.0.0.2");
  CHECK(!move_to(now, next));
  now.at = state::suspending;
  now.pod = p1;
  CHECK(!move_to(now, next));
  CHECK(now.pod == p1);
}

SCENARIO("an identity names a boot id only beside its pod") {
  auto now = running_on("P1", b1);
  now.pod.reset();
  CHECK(!identity_of(now).boot);
  CHECK(identity_of(now).sandbox == sandbox_uid{"S1"});
  CHECK_EQ(identity_of(now).claims.size(), 1u);
}

SCENARIO("another pod outranks another boot id, and a look that failed leaves the boot ids") {
  using look = guest_look::found;
  const auto accepted = guest_of(p1, b1);
  struct row {
    guest_look seen;
    identity now;
    evidence wanted;
  };
  const auto rows = std::vector<row>{
    {{look::stranger}, guest_of(p1, b2), evidence::unknown},
    {{look::no_pod}, guest_of(p1, b2), evidence::pod_gone},
    {{look::pod, p2}, guest_of(p1, b2), evidence::pod_replaced},
    {{look::pod, p2}, guest_of(p2, b2), evidence::pod_replaced},
    {{look::pod, p1}, guest_of(p1, b2), evidence::container_restarted},
    {{look::pod, p1}, guest_of(p1, b1), evidence::same_guest},
    {{look::pod, p1}, guest_of(p1, std::nullopt), evidence::same_guest},
    {{look::failed}, guest_of(p1, b2), evidence::container_restarted},
    {{look::failed}, guest_of(p1, b1), evidence::unknown},
    {{look::failed}, guest_of(p2, b2), evidence::unknown}, // that boot id is not of the pod that had the command
  };
  for (const auto& x : rows)
    CHECK_EQ(to_string(weigh(x.seen, accepted, x.now)), to_string(x.wanted));
  CHECK(is_gone_for_sure(evidence::pod_gone));
  CHECK(is_gone_for_sure(evidence::pod_replaced));
  CHECK(is_gone_for_sure(evidence::container_restarted));
  CHECK(!is_gone_for_sure(evidence::same_guest));
  CHECK(!is_gone_for_sure(evidence::unknown));
}

SCENARIO("what is said of an event to people names no pod") {
  const auto who = guest_of(pod_uid{"POD-SECRET"}, b1);
  for (const auto& x : std::vector<event>{
         guest_restart{guest_restart::why::pod_replaced, who, who}, guest_restart{guest_restart::why::container_restarted, who, who},
         cancellation_unconfirmed{agent_health::ok, evidence::same_guest, who, who}, suspended_elsewhere{who}}) {
    CHECK_EQ(to_string(x).find("POD-SECRET"), std::string::npos);
    CHECK(!to_string(x).empty());
  }
}
