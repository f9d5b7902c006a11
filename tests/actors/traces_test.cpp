#define CAF_SUITE traces

// The worked traces of [W] 3.18, each held against all that a run sends, whole: WORKSPACE, CALLs and flows over a scripted API server and
// a scripted guest. Where a rule of [W] 10 adds a request or a test, the row says so.

#include "egress/flows/ports.hpp"
#include "tests/actors/desk_fixture.hpp"
#include "tests/actors/listener.hpp"
#include "tests/workspace/bounded.hpp"

using namespace paddock;
using namespace paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
namespace wt = workspace::test;

namespace {

using host_kind = desk::host;
using server = desk::api_server;

/// Writes down requests, what the guest is asked, and events, in their order.
struct traced : desk_fixture {
  traced(host_kind how, server says, std::uint64_t epoch) : desk_fixture(how, says) {
    host.on.how.epoch_base = epoch;
    host.cluster.intercept = [this](const k8s::call& what, std::size_t) -> std::optional<wt::desk_cluster::reply> {
      note_reaped();
      note_requests();
      if (what.method != "POST" || what.path != k8s::cilium_policies_path("ns"))
        return std::nullopt;
      wt::apply(host, what.body);
      return found(what.body);
    };
    host.guest.on_execute = [this](const guest_call& x) {
      note(scripted_guest::is_privilege_probe(x) ? "probe" : "exec");
      scripted_execution out;
      if (!host.cluster.pod)
        out.answer = tl::unexpected{guest::failure{guest::dial_failed{"desk.ns.svc", 1024, "refused"}}};
      else if (x.where.token.reveal() != host.cluster.pod->at("metadata").at("uid"))
        out.answer = tl::unexpected{guest::failure{guest::unauthorized{}}};
      else if (scripted_guest::is_privilege_probe(x))
        out.output.emplace_back(guest::stream::out, scripted_guest::unprivileged_status());
      if (!out.answer)
        out.answer = host.guest.ended(0);
      return out;
    };
    hosts.work.on_flush = [this](const auto&, const auto&) {
      note("flush");
      return guest::result<guest::flush_report>{guest::flush_report{}};
    };
    heard->then = [this](const workspace_event&) { note("event"); };
  }
  void note_requests() {
    for (auto& line : host.requests())
      log.push_back(std::move(line));
  }
  void note_reaped() {
    if (ends.first != nullptr && !ends.first->signals.empty() && !std::exchange(ends.second, true))
      log.emplace_back("terminals reaped");
  }
  void note(const std::string& what) {
    note_reaped();
    note_requests();
    log.push_back(what);
  }
  /// Nothing waits here for time to pass.
  template <class T, class... Ts>
  std::shared_ptr<answer_of<T>> told(Ts... xs) {
    auto got = ask<T>(me, xs...);
    turn();
    return got;
  }
  void open_terminal() {
    ends.first = std::make_shared<scripted_terminal::script>(host.context.get_executor());
    ends.first->dies_of_signals = true;
    hosts.streams.prepared = ends.first;
    start({shell_spec{}, 100});
    turn();
  }

  strings log;
  std::pair<std::shared_ptr<scripted_terminal::script>, bool> ends; // a terminal that is open, and whether its end was seen
  std::shared_ptr<heard_events> heard = std::make_shared<heard_events>();
  event_sink_actor ear;
};

struct row {
  const char* name;
  host_kind how;
  server says;
  std::uint64_t epoch;
  std::function<void(traced&)> before;
  std::function<void(traced&)> verb;
  strings wanted;
  std::function<json(traced&)> body = {}; // of the write, where the trace tells it
};

void open_it(traced& x) {
  REQUIRE(x.told<opened_view>(atom::open_v, open_spec{}, minute)->value);
}
void suspend_it(traced& x) {
  REQUIRE(x.told<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
}
void resume_it(traced& x, bool refresh = false) {
  open_spec what;
  what.refresh_template = refresh;
  REQUIRE(x.told<opened_view>(atom::resume_v, what, minute)->value);
}
json op(const char* kind, const char* path, json value) {
  return {{"op", kind}, {"path", path}, {"value", std::move(value)}};
}
json changed_now(traced& x) {
  return op("add", wt::changed_at, x.host.now());
}

constexpr const char* mode_at = "/spec/operatingMode";
constexpr const char* uid_at = "/metadata/uid";

const auto traces = std::vector<row>{
  {"A: create, nothing stands",
   host_kind::unfenced,
   server::without_uids,
   0,
   [](traced&) {},
   open_it,
   {"GET TPL", "POST SBC", "GET SB", "GET POD", "probe", "GET PVC"}},
  {"B: create over a suspended object, unfenced",
   host_kind::unfenced,
   server::without_uids,
   0,
   [](traced& x) { x.host.cluster.stand("Suspended"); },
   open_it,
   {"GET TPL", "POST SBC", "GET SB", "GET POD", "PATCH SB merge", "GET SB", "GET POD", "probe", "GET PVC"},
   [](traced& x) { return desk::merge("Running", x.host.now()); }},
  {"C: create over a running object at epoch 9, stored none",
   host_kind::fenced,
   server::without_uids,
   9,
   [](traced& x) { x.host.cluster.stand("Running"); },
   open_it,
   {"GET TPL", "POST SBC", "GET SB", "GET POD", "PATCH SB json", "GET SB", "GET POD", "probe", "GET PVC"},
   [](traced&) {
     return json::array({op("test", "/metadata/resourceVersion", "101"), op("add", wt::epoch_at, "9")});
   }},
  {"D: suspend, unfenced, uid known",
   host_kind::unfenced,
   server::with_uids,
   0,
   open_it,
   suspend_it,
   {"flush", "GET SB", "PATCH SB json", "GET POD"},
   [](traced& x) {
     return json::array({op("test", uid_at, "S1"), changed_now(x), op("add", mode_at, "Suspended")});
   }},
  {"E: suspend, epoch 4, uid known",
   host_kind::fenced,
   server::with_uids,
   4,
   [](traced& x) {
     open_it(x);
     x.open_terminal();
   },
   suspend_it,
   {"GET SB", "terminals reaped", "flush", "PATCH SB json", "GET POD"},
   [](traced& x) {
     return json::array({op("test", wt::epoch_at, "4"), op("test", uid_at, "S1"), op("add", wt::epoch_at, "4"), changed_now(x),
                         op("add", mode_at, "Suspended")});
   }},
  {"F: resume with refresh, epoch 4",
   host_kind::fenced,
   server::with_uids,
   4,
   [](traced& x) {
     open_it(x);
     suspend_it(x);
     wt::edit_template(x.host);
   },
   [](traced& x) { resume_it(x, true); },
   {"GET SB", "GET TPL", "PATCH SB json", "GET SB", "GET POD", "probe"},
   [](traced& x) {
     const auto& now = *x.host.cluster.sandbox;
     return json::array({op("test", wt::epoch_at, "4"), op("test", uid_at, "S1"), op("test", mode_at, "Suspended"),
                         op("add", wt::epoch_at, "4"), changed_now(x),
                         op("add", wt::hash_at, *x.host.cluster.annotation("pod-template-hash")),
                         op("add", "/spec/podTemplate", now["spec"]["podTemplate"]), op("add", mode_at, "Running")});
   }},
  {"G: resume with per-sandbox egress; P7 looks at the policies once more after the bind",
   host_kind::unfenced,
   server::with_uids,
   0,
   [](traced& x) {
     auto how = egress::egress_config{};
     how.per_sandbox = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
     wt::bound(x.host, how);
     open_it(x);
     suspend_it(x);
     wt::apply(x.host, wt::grant("S0"));
   },
   [](traced& x) { resume_it(x); },
   {"GET SB", "GET VAP", "GET VAPB", "GET CNPC", "DELETE CNP namzu-sbx-S0", "PATCH SB json", "GET SB", "GET POD", "GET CNPC", "probe"},
   [](traced& x) {
     return json::array({op("test", uid_at, "S1"), op("test", mode_at, "Suspended"), changed_now(x), op("add", mode_at, "Running")}); // P6
   }},
  {"H: delete, epoch 4, uid known",
   host_kind::fenced,
   server::with_uids,
   4,
   [](traced& x) {
     open_it(x);
     x.open_terminal();
   },
   [](traced& x) { REQUIRE(x.told<caf::unit_t>(atom::remove_v, remove_spec{}, minute)->value); },
   {"GET SB", "terminals reaped", "DELETE SB"}},
  {"I: exec on a replaced pod",
   host_kind::unfenced,
   server::with_uids,
   0,
   [](traced& x) {
     open_it(x);
     x.host.cluster.pod = x.host.cluster.make_pod();
   },
   [](traced& x) { CHECK_EQ(x.exec()->ended.size(), 1u); },
   {"exec", "GET SB", "GET POD", "event", "exec"}},
  {"J: exec on a workspace suspended elsewhere",
   host_kind::unfenced,
   server::with_uids,
   0,
   [](traced& x) {
     open_it(x);
     x.host.cluster.set_mode("Suspended");
   },
   [](traced& x) {
     const auto log = x.exec();
     REQUIRE_EQ(log->failed.size(), 1u);
     CHECK_EQ(log->failed[0].reason, "WorkspaceSuspended");
   },
   {"exec", "GET SB", "GET SB", "event"}},
};

} // namespace

SCENARIO("each worked trace is all that a run sends") {
  for (const auto& one : traces) {
    MESSAGE(one.name);
    traced x{one.how, one.says, one.epoch};
    one.before(x);
    x.ear = x.keep(x.sys.spawn(listener, x.heard));
    REQUIRE(x.told<std::vector<workspace_event>>(atom::subscribe_v, x.ear)->value);
    x.host.forget();
    x.log.clear();
    const auto sent = x.host.api.sent("PATCH").size();
    one.verb(x);
    x.note_requests();
    CHECK_EQ(x.log, one.wanted);
    if (!one.body)
      continue;
    const auto patches = x.host.api.sent("PATCH");
    REQUIRE_EQ(patches.size(), sent + 1);
    CHECK_JSON(patches.back().body, one.body(x));
  }
}

SCENARIO("the delete of a worked trace carries the version and the uid that were read") {
  traced x{host_kind::fenced, server::with_uids, 4};
  open_it(x);
  const auto version = wt::version_of(x.host);
  REQUIRE(x.told<caf::unit_t>(atom::remove_v, remove_spec{}, minute)->value);
  CHECK_JSON(x.host.api.sent("DELETE").at(0).body["preconditions"], (json{{"resourceVersion", version}, {"uid", "S1"}}));
}

// [W 240]
SCENARIO("a workspace can be granted hosts of its own only where the node is configured to that") {
  for (const auto configured : {true, false}) {
    traced x{host_kind::unfenced, server::with_uids, 0};
    const auto backend = [&] {
      auto how = egress::egress_config{};
      how.per_sandbox = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
      wt::bound(x.host, how);
      return egress::backend{how, egress::translate(how, {"ns", "tpl"}).value()};
    }();
    if (!configured)
      x.host.on.how.egress.reset();
    egress::cluster over{x.host.api, x.host.time};
    const auto fences = egress::make_fence_port(over, backend, x.group);
    const auto policies = egress::make_policy_port(over, backend, x.group);
    if (configured) {
      x.on.fences = fences.get();
      x.on.policies = policies.get();
    }
    x.me = x.keep(x.sys.spawn<workspace_impl>(std::ref(x.on), *workspace::id::parse("desk")));
    open_it(x);
    const auto labels = x.host.api.sent("POST").at(0).body["spec"]["podTemplate"]["metadata"]["labels"];
    CHECK_EQ(labels.contains(wt::sandbox_key), configured);
    if (configured)
      CHECK_EQ(labels[wt::sandbox_key], "namzu-ws-desk");
    const auto before = x.host.api.calls.size();
    const auto got = x.told<policy_view>(atom::policy_v, policy_request{policy_spec{{"git.example.com"}}}, minute);
    if (configured) {
      REQUIRE(got->value);
      CHECK_EQ(got->value->allowed_hosts, strings{"git.example.com"});
      CHECK(x.host.cluster.objects.contains(k8s::cilium_policies_path("ns", "namzu-sbx-S1")));
    } else {
      REQUIRE(got->why);
      CHECK_EQ(got->why->reason, "PerSandboxEgressNotConfigured");
      CHECK_EQ(x.host.api.calls.size(), before);
      for (const auto& sent : x.host.api.calls) {
        CHECK(sent.path.find("policies") == std::string::npos);
        CHECK(sent.path.find("policybindings") == std::string::npos);
      }
    }
    // What the ports serve goes before they do.
    caf::anon_send_exit(x.me, caf::exit_reason::kill);
    x.me = nullptr;
    x.group.close([] {});
    x.settle();
  }
}
