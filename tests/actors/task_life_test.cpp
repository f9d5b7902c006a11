#define CAF_SUITE task_life

// A task sandbox that is held: its lease, its calls, its grants, and how it is given back.

#include "tests/actors/task_fixture.hpp"

using namespace paddock;
using namespace paddock::test;
using texts = std::vector<std::string>;

namespace {

struct fixture : task_fixture {
  fixture() {
    guest.on_execute = [this](const guest_call& x) {
      return scripted_guest::is_privilege_probe(x) || !keep_running
               ? scripted_execution{{{guest::stream::out, scripted_guest::unprivileged_status()}}, guest.ended(0)}
               : scripted_execution{};
    };
  }
  /// From now on DELETEs are answered by this.
  void answer_deletes(std::function<std::optional<task_cluster::reply>(const k8s::call&)> how) {
    host.intercept = [how = std::move(how)](const k8s::call& x) { return x.method == "DELETE" ? how(x) : std::nullopt; };
  }
  void answer_renewals(std::function<std::optional<task_cluster::reply>(const k8s::call&)> how) {
    host.intercept = [how = std::move(how)](const k8s::call& x) {
      return x.method == "PATCH" && x.path.find("/namzu-task-") != std::string::npos ? how(x) : std::nullopt;
    };
  }
  [[nodiscard]] std::size_t renewals() const {
    return count("PATCH", "/namzu-task-");
  }
  [[nodiscard]] std::size_t deletes() const {
    return count("DELETE", "/namzu-task-");
  }
  /// A command that runs until the test answers it: its place among the guest's calls.
  std::size_t start(const task_actor& which, const std::shared_ptr<sink_log>& log = std::make_shared<sink_log>()) {
    keep_running = true;
    run_spec what;
    what.program = "sleep";
    auto got = ask<call_actor>(which, atom::call_v, call_spec{what, 1024}, keep(sys.spawn(logging_sink, log)), caf::timespan{1min});
    turn();
    REQUIRE(got->value);
    return guest.calls.size() - 1;
  }
  void configure_grants(const std::function<void(egress::egress_config&)>& change = {}) {
    configure_egress([&](egress::egress_config& x) {
      per_sandbox(x);
      if (change)
        change(x);
    });
  }
  [[nodiscard]] json granted() const {
    const auto all = host.api.sent("POST");
    const auto found = std::ranges::find_if(all, [](const auto& x) { return x.path == task_cluster::policies; });
    REQUIRE(found != all.end());
    return found->body;
  }
  bool keep_running = false;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(task_life_tests, fixture)

// -- the lease ------------------------------------------------------------------------

// [C 149]
SCENARIO("a claim lives on by patches of its expiry alone") {
  makes.how.lease = std::chrono::seconds{1};
  held();
  const auto first = posted()["spec"]["lifecycle"]["shutdownTime"].get<std::string>();
  pass(600ms);
  REQUIRE_EQ(renewals(), 1u);
  const auto body = host.api.sent("PATCH")[0].body;
  CHECK(host.api.sent("PATCH")[0].type == k8s::call::content::merge_patch);
  CHECK_JSON(body, (json{{"spec", {{"lifecycle", {{"shutdownTime", body["spec"]["lifecycle"]["shutdownTime"]}}}}}}));
  CHECK(body["spec"]["lifecycle"]["shutdownTime"].get<std::string>() > first);
}

// [C 97]
SCENARIO("a Sandbox of its own lives on by patches of its own expiry alone") {
  held(direct());
  pass(31min);
  REQUIRE_EQ(renewals(), 1u);
  const auto body = host.api.sent("PATCH")[0].body;
  CHECK_JSON(body, (json{{"spec", {{"shutdownTime", body["spec"]["shutdownTime"]}}}}));
}

// [C 151]
SCENARIO("a renewal that fails is told to the holder and tried again; the task stays what it was") {
  makes.how.lease = std::chrono::seconds{10};
  const auto task = held();
  auto failures = 0;
  answer_renewals([&](const k8s::call& x) { return failures++ == 0 ? std::optional{status(x, 500)} : std::nullopt; });
  pass(5s);
  CHECK_EQ(renewals(), 1u);
  REQUIRE_EQ(told->size(), 1u);
  CHECK_EQ(told->at(0).what, "lease-renewal-failed");
  CHECK_EQ(told->at(0).why.reason, "Api");
  pass(499ms);
  CHECK_EQ(renewals(), 1u);
  pass(1ms); // a twentieth of the lease is less than the second of the back-off
  CHECK_EQ(renewals(), 2u);
  CHECK_EQ(told->size(), 1u);
  CHECK_EQ(view_of(task).status, "ready");
  CHECK_EQ(run(task)->ended.size(), 1u);
}

// [C 152]
SCENARIO("renewals that fail in a row come at longer and longer intervals, and after one that went well at the usual one") {
  held();
  auto fails = true;
  answer_renewals([&](const k8s::call& x) { return fails ? std::optional{status(x, 500)} : std::nullopt; });
  pass(30min);
  auto pauses = std::vector<std::chrono::seconds>{1s, 2s, 4s, 8s, 16s, 30s, 30s};
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    REQUIRE_EQ(renewals(), i + 1);
    pass(pauses[i] - 1ms);
    CHECK_EQ(renewals(), i + 1);
    fails = i + 1 < pauses.size();
    pass(1ms);
  }
  CHECK_EQ(renewals(), pauses.size() + 1);
  pass(30min - 1ms);
  CHECK_EQ(renewals(), pauses.size() + 1);
  pass(1ms);
  CHECK_EQ(renewals(), pauses.size() + 2);
}

// [C 153]
SCENARIO("a renewal that is not answered is given up after a quarter of its interval, told, and followed by another") {
  for (const auto& [lease, bound] : {std::pair{100s, 12'500ms}, std::pair{3'600s, 30'000ms}}) {
    auto one = std::make_unique<fixture>();
    one->makes.how.lease = lease;
    one->held();
    auto allowed = time_source::clock::duration{};
    one->answer_renewals([&](const k8s::call& x) {
      allowed = one->host.api.deadlines.back().at() - one->host.time.now();
      return one->renewals() == 1 ? one->no_answer(x) : std::nullopt;
    });
    one->pass(std::chrono::milliseconds{lease} / 2);
    CHECK(allowed == bound);
    REQUIRE_EQ(one->told->size(), 1u);
    CHECK_EQ(one->told->at(0).why.reason, "ApiTimeout");
    one->pass(5s);
    CHECK_EQ(one->renewals(), 2u);
  }
}

// [C 154]
// [G 257]
SCENARIO("a task whose object is gone is gone: it says so to every call, and is renewed no more") {
  for (const auto code : {404u, 410u}) {
    auto one = std::make_unique<fixture>();
    const auto task = one->held();
    one->answer_renewals([&](const k8s::call& x) { return std::optional{gone(x, code)}; });
    one->pass(31min);
    CHECK_EQ(one->view_of(task).status, "destroyed");
    auto refused = std::optional<problem>{};
    one->run(task, &refused);
    REQUIRE(refused);
    CHECK_EQ(refused->reason, "SandboxGone");
    CHECK_EQ(json::parse(refused->details)["operation"], "exec");
    one->pass(2h);
    CHECK_EQ(one->renewals(), 1u);
    REQUIRE_EQ(one->told->size(), 1u);
    CHECK_EQ(one->told->at(0).what, "gone");
    // Giving it back is no failure, and what is said after it is that it was given back.
    CHECK_EQ(outcome(one->destroy(task)), "done");
    one->run(task, &refused);
    CHECK_EQ(refused->reason, "SandboxDestroyed");
  }
}

SCENARIO("a task whose object goes while its guest is probed is not handed out") {
  makes.how.lease = std::chrono::seconds{10};
  guest.on_execute = [](const guest_call&) {
    return scripted_execution{{{guest::stream::out, scripted_guest::unprivileged_status()}}, std::nullopt};
  };
  answer_renewals([](const k8s::call& x) { return std::optional{gone(x)}; });
  const auto got = begin();
  turn();
  REQUIRE_EQ(probes(), 1u);
  pass(5s);
  REQUIRE_EQ(renewals(), 1u);
  guest.answer(0, guest.ended(0));
  settle();
  CHECK_EQ(outcome(got), "SandboxGone");
  CHECK_EQ(deletes(), 1u);
  CHECK(told->empty());
}

// [C 155]
SCENARIO("a task that was given back is renewed no more") {
  const auto task = held();
  destroy(task);
  pass(2h);
  CHECK_EQ(renewals(), 0u);
}

// -- calls ----------------------------------------------------------------------------

// [C 158]
SCENARIO("a command's streams come before its end, and its exit code is its own") {
  const auto task = held();
  guest.on_execute = [](const guest_call&) {
    return scripted_execution{{{guest::stream::out, "one"}, {guest::stream::err, "two"}}, std::nullopt};
  };
  auto log = std::make_shared<sink_log>();
  run_spec what;
  what.program = "both";
  auto got = ask<call_actor>(task, atom::call_v, call_spec{what, 1024}, keep(sys.spawn(logging_sink, log)), caf::timespan{1min});
  turn();
  CHECK_EQ(log->output, (std::vector<std::pair<int, std::string>>{{1, "one"}, {2, "two"}}));
  CHECK(log->ended.empty());
  guest.answer(guest.calls.size() - 1, guest.ended(7));
  settle();
  REQUIRE_EQ(log->ended.size(), 1u);
  CHECK_EQ(log->ended[0].exit_code, 7);
}

// [C 159]
SCENARIO("a task is busy while a command runs in it, and until the last of two has ended") {
  const auto task = held();
  CHECK_EQ(view_of(task).status, "ready");
  const auto one = start(task);
  CHECK_EQ(view_of(task).status, "busy");
  const auto two = start(task);
  guest.answer(one, guest.ended(0));
  turn();
  CHECK_EQ(view_of(task).status, "busy");
  guest.answer(two, guest.ended(0));
  turn();
  CHECK_EQ(view_of(task).status, "ready");
}

// [C 162]
SCENARIO("a command that may still run takes its task with it") {
  for (const auto deleted : {true, false}) {
    auto one = std::make_unique<fixture>();
    const auto task = one->held();
    auto log = std::make_shared<sink_log>();
    const auto command = one->start(task, log);
    if (!deleted)
      one->answer_deletes([&](const k8s::call& x) { return one->deletes() == 1 ? std::optional{status(x, 500)} : std::nullopt; });
    const auto unknown = guest::failure{guest::cancellation_unknown{"no answer", std::nullopt, std::nullopt}};
    one->guest.answer(command, guest::result<guest::execution>{tl::unexpected{unknown}});
    one->settle();
    REQUIRE_EQ(log->failed.size(), 1u);
    CHECK_EQ(log->failed[0].reason, "RemoteCancellationUnknown");
    const auto retirement = json::parse(log->failed[0].details)["retirement"];
    CHECK_EQ(retirement["accepted"].get<bool>(), deleted);
    CHECK_EQ(retirement.contains("error"), !deleted);
    CHECK_EQ(one->deletes(), 1u);
    CHECK_EQ(one->view_of(task).status, "destroyed");
    CHECK_EQ(outcome(one->destroy(task)), "done");
    CHECK_EQ(one->deletes(), deleted ? 1u : 2u);
  }
}

// [C 115]
SCENARIO("a guest that is fenced refuses the command alone") {
  const auto task = held();
  auto log = std::make_shared<sink_log>();
  const auto command = start(task, log);
  const auto before = host.api.calls.size();
  guest.answer(command, guest::result<guest::execution>{tl::unexpected{guest::failure{guest::retiring{}}}});
  settle();
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "AgentRetiring");
  CHECK_EQ(view_of(task).status, "ready");
  CHECK_EQ(host.api.calls.size(), before);
}

// -- giving it back ---------------------------------------------------------------------

// [C 172]
SCENARIO("who gives it back at the same time shares one delete, and a later one needs none") {
  const auto task = held();
  auto one = ask<caf::unit_t>(task, atom::remove_v, caf::timespan{1min});
  auto two = ask<caf::unit_t>(task, atom::remove_v, caf::timespan{1min});
  settle();
  CHECK_EQ(outcome(one), "done");
  CHECK_EQ(outcome(two), "done");
  CHECK_EQ(outcome(destroy(task)), "done");
  CHECK_EQ(deletes(), 1u);
}

// [C 173]
SCENARIO("an object that is gone already is given back") {
  const auto task = held();
  answer_deletes([](const k8s::call& x) { return std::optional{gone(x, 410)}; });
  CHECK_EQ(outcome(destroy(task)), "done");
}

// [C 174]
SCENARIO("a delete that fails is told, and may be tried again") {
  const auto task = held();
  answer_deletes([this](const k8s::call& x) { return deletes() == 1 ? std::optional{status(x, 500)} : std::nullopt; });
  CHECK_EQ(outcome(destroy(task)), "OutcomeUnknown"); // a server that fails so may have deleted it
  CHECK_EQ(view_of(task).status, "destroyed");
  CHECK_EQ(outcome(destroy(task)), "done");
  CHECK_EQ(deletes(), 2u);
}

// [C 175]
SCENARIO("what was given back refuses every operation by its name, and dials nothing") {
  configure_grants();
  const auto task = held();
  destroy(task);
  const auto dialled = guest.calls.size();
  auto walk = walk_spec{};
  walk.max_entries = 1;
  const auto refusal = [&](auto what) {
    auto got = ask<call_actor>(task, atom::call_v, call_spec{std::move(what)}, keep(sys.spawn(logging_sink, std::make_shared<sink_log>())),
                               caf::timespan{1min});
    settle();
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "SandboxDestroyed");
    CHECK_EQ(json::parse(got->why->details)["sandboxName"], "pool-x-1");
    return json::parse(got->why->details)["operation"].get<std::string>();
  };
  CHECK_EQ(refusal(run_spec{}), "exec");
  CHECK_EQ(refusal(read_spec{}), "readFile");
  CHECK_EQ(refusal(write_spec{}), "writeFile");
  CHECK_EQ(refusal(walk_spec{}), "listFiles");
  CHECK_EQ(refusal(walk), "walkFiles");
  CHECK_EQ(refusal(shell_spec{}), "openTerminal");
  CHECK_EQ(refusal(forward_spec{}), "openTcpConnection");
  const auto got = grant(task, {"a.example"});
  CHECK_EQ(json::parse(got->why->details)["operation"], "setNetworkPolicy");
  CHECK_EQ(guest.calls.size(), dialled);
}

SCENARIO("a holder that goes away gives its task back") {
  const auto task = held();
  caf::anon_send_exit(holder, caf::exit_reason::kill);
  settle();
  CHECK_EQ(deletes(), 1u);
}

SCENARIO("a node that stops gives its tasks back") {
  held();
  auto stopped = ask<caf::unit_t>(node(), atom::stop_v);
  settle();
  CHECK_EQ(deletes(), 1u);
}

SCENARIO("a TASK that crashes is not made again, and who waits is told that nobody knows") {
  on.chance = []() -> double { throw std::runtime_error{"planted"}; };
  const auto got = acquire();
  CHECK_EQ(outcome(got), "OutcomeUnknown");
  pass(1h);
  CHECK_EQ(host.api.sent("POST").size(), 1u);
  CHECK_EQ(renewals() + deletes(), 0u); // its claim dies with the lease
}

// -- grants -----------------------------------------------------------------------------

// [C 177]
SCENARIO("the first grant of a task proves the fence, writes one policy of its claim, reads it and lists what else selects the pod") {
  configure_grants();
  const auto task = held();
  host.api.calls.clear();
  REQUIRE_EQ(outcome(grant(task, {"API.example.com", ".corp.test"})), "done");
  const auto claim = host.objects[k8s::claims_path(task_space, view_of(task).name)];
  const auto name = "namzu-sbx-" + claim["metadata"]["uid"].get<std::string>();
  CHECK_EQ(sent(), (texts{"GET namzu-per-sandbox-egress", "GET namzu-per-sandbox-egress-binding", "POST ciliumnetworkpolicies",
                          "GET " + name, "GET networkpolicies?limit=500", "GET ciliumnetworkpolicies?limit=500"}));
  const auto body = granted();
  CHECK_EQ(body["metadata"]["name"], name);
  CHECK_JSON(body["metadata"]["ownerReferences"], (json{{{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
                                                         {"kind", "SandboxClaim"},
                                                         {"name", claim["metadata"]["name"]},
                                                         {"uid", claim["metadata"]["uid"]}}}));
  CHECK_JSON(body["spec"]["endpointSelector"]["matchLabels"], (json{{of->how.per_sandbox->label_key, claim["metadata"]["name"]}}));
  for (const auto* host_name : {"\"api.example.com\"", "\"corp.test\"", "\"*.corp.test\""})
    CHECK(body["spec"].dump().find(host_name) != std::string::npos);
}

// [C 186]
SCENARIO("without a pool the Sandbox owns the policy") {
  configure_grants();
  held(direct());
  const auto task = held(direct());
  REQUIRE_EQ(outcome(grant(task, {"a.example"})), "done");
  const auto owner = granted()["metadata"]["ownerReferences"][0];
  CHECK_EQ(owner["kind"], "Sandbox");
  CHECK_EQ(owner["apiVersion"], "agents.x-k8s.io/v1beta1");
  CHECK_EQ(owner["name"], view_of(task).name);
}

// [C 178]
// [C 179]
SCENARIO("without a fence, or where it may not be read, nothing is written; the next call finds it") {
  configure_grants();
  const auto task = held();
  const auto prefix = std::string{"/apis/admissionregistration.k8s.io/v1/"};
  const auto kinds = std::vector<std::pair<std::string, std::string>>{
    {prefix + "validatingadmissionpolicies/namzu-per-sandbox-egress", "ValidatingAdmissionPolicy"},
    {prefix + "validatingadmissionpolicybindings/namzu-per-sandbox-egress-binding", "ValidatingAdmissionPolicyBinding"}};
  for (const auto& [path, kind] : kinds) {
    host.intercept = [&](const k8s::call& x) { return x.path == path ? std::optional{gone(x)} : std::nullopt; };
    auto got = grant(task, {"a.example"});
    REQUIRE_EQ(outcome(got), "AdmissionFenceMissing");
    CHECK_EQ(json::parse(got->why->details)["resourceKind"], kind);
    host.intercept = [&](const k8s::call& x) { return x.path == path ? std::optional{denied(x)} : std::nullopt; };
    got = grant(task, {"a.example"});
    REQUIRE_EQ(outcome(got), "AdmissionFenceUnreadable");
    CHECK_EQ(json::parse(got->why->details)["cause"], "Credential");
  }
  CHECK_EQ(count("POST", "/ciliumnetworkpolicies"), 0u);
  host.intercept = {};
  CHECK_EQ(outcome(grant(task, {"a.example"})), "done");
}

// [C 180]
SCENARIO("a second grant of a node reads no fence, and replaces the hosts of the first") {
  configure_grants();
  const auto task = held();
  REQUIRE_EQ(outcome(grant(task, {"a.example"})), "done");
  const auto reads = host.fence_reads();
  REQUIRE_EQ(outcome(grant(task, {"b.example"})), "done");
  CHECK_EQ(host.fence_reads(), reads);
  const auto patches = host.api.sent("PATCH");
  REQUIRE_EQ(patches.size(), 1u);
  CHECK(patches[0].type == k8s::call::content::merge_patch);
  const auto stands = host.objects[patches[0].path].dump();
  CHECK(stands.find("b.example") != std::string::npos);
  CHECK(stands.find("a.example") == std::string::npos);
}

// [C 181]
SCENARIO("no hosts take the grant away, behind the fence; one that is not there is no failure") {
  configure_grants();
  const auto task = held();
  host.api.calls.clear();
  CHECK_EQ(outcome(grant(task, {})), "done");
  CHECK_EQ(host.fence_reads(), 2u);
  CHECK_EQ(host.api.calls.back().method, "DELETE");
  CHECK(host.api.calls.back().path.find("/ciliumnetworkpolicies/namzu-sbx-") != std::string::npos);
}

// [C 182]
SCENARIO("what is no host is refused before anything is asked") {
  configure_grants();
  const auto task = held();
  const auto before = host.api.calls.size();
  for (const auto* bad : {"*.x.com", "https://x", "x:443", "1.2.3.4", ".com", "", "."}) {
    const auto got = grant(task, {"fine.example", bad});
    REQUIRE_EQ(outcome(got), "NetworkPolicyHost");
    CHECK_EQ(json::parse(got->why->details)["host"], bad);
  }
  CHECK_EQ(host.api.calls.size(), before);
}

// [C 183]
SCENARIO("a domain with a leading dot cannot be narrowed to the names that TLS shows") {
  configure_grants([](egress::egress_config& x) {
    x.per_sandbox->narrowing.emplace();
    x.per_sandbox->narrowing->tls_server_names = true;
  });
  const auto task = held();
  const auto got = grant(task, {".x.com"});
  REQUIRE_EQ(outcome(got), "NetworkPolicyHost");
  CHECK(got->why->message.find("egress.perSandbox.narrowing") != std::string::npos);
}

// [C 184]
SCENARIO("a policy that is stored otherwise than it was sent fails the call") {
  configure_grants();
  const auto task = held();
  for (const auto* path : {"/spec/egress", "/metadata/ownerReferences"}) {
    host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
      if (x.method != "POST" && x.method != "PATCH")
        return std::nullopt;
      auto got = host.act(x);
      for (auto& [at, object] : host.objects)
        if (at.starts_with(task_cluster::policies + "/namzu-sbx-"))
          object[json::json_pointer{path}] = json::array();
      return got;
    };
    CHECK_EQ(outcome(grant(task, {"a.example"})), "EgressPolicyMismatch");
  }
}

// [C 185]
SCENARIO("of two grants at once the second begins when the first has ended, also where that failed") {
  configure_grants();
  const auto task = held();
  host.api.calls.clear();
  host.hold = [this](const k8s::call& x) { return x.method == "POST" && host.api.sent("POST").size() == 1; };
  auto one = ask<caf::unit_t>(task, atom::allow_v, policy_spec{{"a.example"}}, caf::timespan{1min});
  auto two = ask<caf::unit_t>(task, atom::allow_v, policy_spec{{"b.example"}}, caf::timespan{1min});
  turn();
  CHECK_EQ(host.api.calls.size(), host.fence_reads() + 1);
  REQUIRE_EQ(host.api.waiting().size(), 1u);
  host.api.answer(denied(host.api.waiting()[0]));
  settle();
  CHECK_EQ(outcome(one), "Credential");
  CHECK_EQ(outcome(two), "done");
  const auto posts = host.api.sent("POST");
  REQUIRE_EQ(posts.size(), 2u);
  CHECK(posts[0].body.dump().find("a.example") != std::string::npos);
  CHECK(posts[1].body.dump().find("b.example") != std::string::npos);
}

// [C 189]
SCENARIO("a third policy that lets the pod reach more fails the grant, unless only the named object is verified") {
  for (const auto named_only : {false, true}) {
    auto one = std::make_unique<fixture>();
    one->configure_grants([&](egress::egress_config& x) {
      if (named_only)
        x.verify = egress::verification::named_object_only;
    });
    const auto task = one->held();
    one->host.objects[task_cluster::policies + "/wide"] =
      json{{"metadata", {{"name", "wide"}}}, {"spec", {{"endpointSelector", json::object()}, {"egress", {{{"toEntities", {"world"}}}}}}}};
    CHECK_EQ(outcome(one->grant(task, {"a.example"})), named_only ? "done" : "EgressPolicyUnion");
  }
}

// -- all at once ---------------------------------------------------------------------------

// [C 196]
SCENARIO("a selector releases the claims that it names, gone ones too, all at once") {
  const auto claims = k8s::claims_path(task_space);
  auto listed = json::array();
  for (const auto* name : {"a", "b", "c"})
    listed.push_back({{"metadata", {{"name", name}}}});
  host.objects[claims + "/other"] = json{{"metadata", {{"name", "other"}}}};
  auto waiting = 0;
  host.hold = [&](const k8s::call& x) {
    waiting += x.method == "DELETE" ? 1 : 0;
    return x.method == "DELETE";
  };
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    return x.path == claims + "?labelSelector=host%3Dh1" ? std::optional{found({{"items", listed}})} : std::nullopt;
  };
  auto got = ask<released_view>(node(), atom::release_v, std::string{"host=h1"}, caf::timespan{1min});
  turn();
  REQUIRE_EQ(waiting, 3);
  const auto deletes = host.api.waiting();
  for (const auto& x : deletes)
    host.api.answer(x.path == claims + "/b" ? gone(x) : no_value());
  settle();
  REQUIRE(got->value);
  CHECK_EQ(got->value->deleted, 3u);
  CHECK_EQ(got->value->names, (texts{"a", "b", "c"}));
  CHECK(host.objects.contains(claims + "/other"));
}

SCENARIO("a selector that names very many claims has some of them released at once, and each in its turn") {
  auto listed = json::array();
  for (auto i = 0; i < 150; ++i)
    listed.push_back({{"metadata", {{"name", "c" + std::to_string(i)}}}});
  host.hold = [](const k8s::call& x) { return x.method == "DELETE"; };
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    return x.method == "GET" ? std::optional{found({{"items", listed}})} : std::nullopt;
  };
  auto got = ask<released_view>(node(), atom::release_v, std::string{"host=h1"}, caf::timespan{1min});
  for (const auto most : {64u, 64u, 22u}) {
    turn();
    REQUIRE_EQ(host.api.waiting().size(), most);
    for (auto i = 0u; i < most; ++i)
      host.api.answer(no_value());
  }
  settle();
  REQUIRE(got->value);
  CHECK_EQ(got->value->deleted, 150u);
  CHECK_EQ(host.api.sent("DELETE").size(), 150u);
}

// [C 197]
SCENARIO("an empty selector releases nothing") {
  auto got = ask<released_view>(node(), atom::release_v, std::string{}, caf::timespan{1min});
  settle();
  CHECK_EQ(outcome(got), "IllegalArgument");
  CHECK(host.api.calls.empty());
}

// [C 198]
SCENARIO("a release one of whose deletes fails has failed") {
  host.objects[k8s::claims_path(task_space, "a")] = json{{"metadata", {{"name", "a"}}}};
  answer_deletes([](const k8s::call& x) { return std::optional{status(x, 500)}; });
  auto got = ask<released_view>(node(), atom::release_v, std::string{"host=h1"}, caf::timespan{1min});
  settle();
  CHECK_EQ(outcome(got), "OutcomeUnknown");
}

// [C 199]
SCENARIO("how a pool stands is read from it, the claims and the pods; what is missing is zero") {
  const auto path = k8s::warm_pool_path(task_space, "pool");
  host.objects[path] = json{{"spec", {{"replicas", 3}}}, {"status", {{"readyReplicas", 2}}}};
  const auto claim_on = [this](const std::string& name, const std::string& pool) {
    host.objects[k8s::claims_path(task_space, name)] = json{{"metadata", {{"name", name}}}, {"spec", {{"warmPoolRef", {{"name", pool}}}}}};
  };
  claim_on("a", "pool");
  claim_on("b", "another");
  claim_on("c", "pool");
  host.pod("p1") = json{{"status", {{"phase", "Pending"}}}};
  host.pod("p2") = json{{"status", {{"phase", "Pending"}}}};
  host.pod("p3") = json{{"status", {{"phase", "Running"}}}};
  host.intercept = [this](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.path != k8s::claims_path(task_space) && x.path != k8s::pods_path(task_space))
      return std::nullopt;
    auto items = json::array();
    for (const auto& [at, object] : host.objects)
      if (at.starts_with(x.path + "/"))
        items.push_back(object);
    return found({{"items", items}});
  };
  const auto read = [this] {
    auto got = ask<capacity_view>(node(), atom::capacity_v, std::string{}, caf::timespan{1min});
    settle();
    REQUIRE(got->value);
    return *got->value;
  };
  auto got = read();
  CHECK_EQ(got.ready, 2u);
  CHECK_EQ(got.desired, 3u);
  CHECK_EQ(got.active_claims, 2u);
  CHECK_EQ(got.pending_pods, 2u);
  host.objects[path] = json{{"spec", json::object()}};
  got = read();
  CHECK_EQ(got.ready, 0u);
  CHECK_EQ(got.desired, 0u);
}

// [C 200]
SCENARIO("without a pool there is no capacity to read") {
  makes.how.pool.reset();
  auto got = ask<capacity_view>(node(), atom::capacity_v, std::string{}, caf::timespan{1min});
  settle();
  CHECK_EQ(outcome(got), "IllegalArgument");
  CHECK(host.api.calls.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
