#define CAF_SUITE suspended_elsewhere

// A workspace that somebody else suspends, whole: a call finds out, or a refresh does ([W] 3.8, 3.12).

#include "tests/actors/rebind_fixture.hpp"

using namespace paddock;
using namespace paddock::test;
using strings = std::vector<std::string>;

namespace {

const auto dial_refused = guest::failure{guest::dial_failed{"desk.ns.svc", 1024, "refused"}};
const auto cut = guest::failure{guest::lost{"the connection was cut"}};

struct fixture : rebind_fixture {
  /// Somebody else suspends it: the pod goes, and nobody listens there.
  void suspend_elsewhere() {
    host.cluster.set_mode("Suspended");
    host.guest.on_execute = [old = host.guest.on_execute, this](const guest_call& x) {
      if (host.cluster.pod)
        return old(x);
      scripted_execution out;
      out.answer = tl::unexpected{dial_refused};
      return out;
    };
    host.guest.on_read = [this, old = host.guest.on_read](const guest_call& x) -> std::optional<guest::result<guest::file_content>> {
      if (host.cluster.pod)
        return old(x);
      return guest::result<guest::file_content>{tl::unexpected{dial_refused}};
    };
  }
  std::shared_ptr<answer_of<workspace_view>> refresh() {
    return settled<workspace_view>(atom::refresh_v, minute);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(suspended_elsewhere_tests, fixture)

// [W 171] a failed call finds out
SCENARIO("a call that fails because somebody else suspended the workspace says so, and a resume cures it") {
  open_and_listen();
  suspend_elsewhere();
  const auto one = start(command());
  turn();
  CHECK_EQ(reason(one), "WorkspaceSuspended");
  CHECK_JSON(details(one).at("noticedBy"), "transport");
  CHECK_JSON(details(one).at("cause"), "AgentDialFailed");
  CHECK_EQ(now().state, "suspending");
  REQUIRE_EQ(heard->events.size(), 1u);
  CHECK_EQ(heard->events[0].what, "suspended-elsewhere");
  CHECK_EQ(heard->events[0].previous.pod_uid, "P1");
  const auto disks = now().volume_claim_uids;
  CHECK(nothing_written());
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
  CHECK_EQ(now().pod_uid, "P2");
  CHECK_EQ(now().sandbox_uid, "S1");
  CHECK_EQ(now().volume_claim_uids, disks);
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK_EQ(host.sent("DELETE"), 0u);
}

// [W 172] a refresh finds out
// [W 173] and a suspend does its own part
SCENARIO("a refresh finds out what somebody else did, and changes nothing; a suspend still waits for the pod to go") {
  open_and_listen();
  host.cluster.controller_acts = false;
  host.cluster.set_mode("Suspended");
  const auto dialled = host.guest.calls.size();
  auto got = refresh();
  REQUIRE(got->value);
  CHECK_EQ(got->value->state, "suspending");
  CHECK_EQ(host.requests(), strings({"GET SB"}));
  std::optional<problem> no;
  exec(&no);
  REQUIRE(no);
  CHECK_EQ(no->reason, "WorkspaceSuspended");
  CHECK_JSON(nlohmann::json::parse(no->details).at("noticedBy"), "admission");
  CHECK_EQ(host.guest.calls.size(), dialled);
  CHECK(host.requests().empty());
  auto reads = 0;
  host.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<workspace::test::desk_cluster::reply> {
    if (what.method == "GET" && what.path.ends_with("/pods/namzu-ws-desk") && ++reads == 3)
      host.cluster.pod.reset();
    return std::nullopt;
  };
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  CHECK_EQ(host.requests(), strings({"GET SB", "PATCH SB json", "GET POD", "GET POD", "GET POD"}));
  CHECK_EQ(now().state, "suspended");
}

// [W 176] the look fails
SCENARIO("where the cluster cannot be asked the caller gets what the call failed of") {
  open_and_listen();
  suspend_elsewhere();
  host.cluster.intercept = [](const k8s::call& what, std::size_t) { return status(500, what); };
  const auto one = start(command());
  turn();
  CHECK_EQ(reason(one), "AgentDialFailed");
  CHECK_EQ(now().state, "running");
  CHECK(heard->events.empty());
}

// [W 177] where there is nothing to find
SCENARIO("a refresh asks nothing of a suspended workspace, and an object that is gone changes nothing") {
  open_and_listen();
  auto object = host.cluster.sandbox;
  host.cluster.sandbox.reset();
  auto got = refresh();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "AlreadyGone");
  CHECK_EQ(now().state, "running");
  host.cluster.sandbox = object;
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  host.forget();
  REQUIRE(refresh()->value);
  CHECK(host.requests().empty());
  host.cluster.set_mode("Running");
  got = refresh();
  REQUIRE(got->value);
  CHECK_EQ(got->value->state, "suspended");
  CHECK(host.requests().empty());
}

SCENARIO("a refresh of a running workspace is one read, and a stranger under the name is named") {
  open_and_listen();
  REQUIRE(refresh()->value);
  CHECK_EQ(host.requests(), strings({"GET SB"}));
  host.cluster.stand("Suspended", std::nullopt, "S2");
  const auto got = refresh();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "WorkspaceReplaced");
  CHECK(nothing_written());
}

SCENARIO("a refresh of a workspace that this node knows nothing of says whether there is one, and takes nothing up") {
  auto got = refresh();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "AlreadyGone");
  host.cluster.stand("Running");
  host.forget();
  got = refresh();
  REQUIRE(got->value);
  CHECK_EQ(got->value->state, "unknown");
  CHECK_EQ(host.requests(), strings({"GET SB"}));
  CHECK_EQ(writes(), 0u);
}

// [W 178] a walk
SCENARIO("a walk that a suspend ends says only how it ended; the next call finds out") {
  hosts.files.listed = {{"a", 1}, {"b", 2}};
  hosts.files.breaks = cut;
  open_and_listen();
  const auto what = walk(10);
  const auto walk = start(what);
  turn();
  REQUIRE(walk.call->value);
  suspend_elsewhere();
  mail::tell_anonymously(*walk.call->value, atom::grant_v, std::uint64_t{1000});
  turn();
  CHECK_EQ(reason(walk), "RemoteLost");
  CHECK_EQ(now().state, "running");
  CHECK(host.requests().empty());
  hosts.files.breaks.reset();
  const auto read = start({read_spec{"a", {}, {}}, 10});
  turn();
  CHECK_EQ(reason(read), "WorkspaceSuspended");
  CHECK_JSON(details(read).at("noticedBy"), "transport");
  const auto again = start(what);
  turn();
  REQUIRE(again.call->why);
  CHECK_EQ(again.call->why->reason, "WorkspaceSuspended");
  const auto said = nlohmann::json::parse(again.call->why->details);
  CHECK_JSON(said.at("noticedBy"), "admission");
  CHECK_JSON(said.at("operation"), "walkFiles");
}

// [W 179] a file stream
SCENARIO("a file that breaks off because somebody else suspended the workspace says so") {
  host.guest.files["a"] = "some of it";
  hosts.files.breaks = cut;
  open_and_listen();
  const auto read = start({read_spec{"a", {}, {}}, 4});
  turn();
  CHECK_EQ(read.log->output.size(), 1u);
  host.cluster.set_mode("Suspended");
  mail::tell_anonymously(*read.call->value, atom::grant_v, std::uint64_t{1000});
  turn();
  CHECK_EQ(reason(read), "WorkspaceSuspended");
  CHECK_JSON(details(read).at("noticedBy"), "transport");
  CHECK_JSON(details(read).at("operation"), "readFile");
}

// [W 180] found out by the flush of a suspend
SCENARIO("a suspend whose flush finds out, and whose write is refused, does not leave a running workspace behind") {
  auto notes = std::vector<std::string>{};
  host.on.told = [&](const workspace::id&, const workspace::rest_note& x) {
    notes.push_back(std::holds_alternative<workspace::flush_unreachable>(x) ? "flush-unreachable" : "other");
  };
  hosts.work.on_flush = [](const guest::endpoint&, const auto&) -> guest::result<guest::flush_report> {
    return tl::unexpected{dial_refused};
  };
  open_and_listen();
  host.cluster.set_mode("Suspended");
  host.cluster.intercept = [](const k8s::call& what, std::size_t) { return what.method == "PATCH" ? status(409, what) : std::nullopt; };
  const auto got = settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute);
  CHECK(got->why);
  CHECK_EQ(notes, strings({"flush-unreachable"}));
  CHECK_EQ(now().state, "suspending");
  host.cluster.intercept = nullptr;
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
  CHECK_EQ(now().state, "running");
}

CAF_TEST_FIXTURE_SCOPE_END()
