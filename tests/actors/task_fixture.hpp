#pragma once

#include "egress/flows/ports.hpp"
#include "egress/translate.hpp"
#include "guest/flows/hosts.hpp"
#include "k8s/paths.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/actors/settle.hpp"
#include "tests/egress/grants.hpp"
#include "tests/support/scripted_guest.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/guest_jobs.hpp"
#include "workspace/flows/task_ports.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

using nlohmann::json;

inline const std::string task_space = "namzu-sandboxes";
inline const std::string core_policies = k8s::network_policies_path(task_space);

/// A cluster with a template, and with a pool whose controller gives each claim a Ready Sandbox and a pod at once.
class task_cluster : public egress::test::grant_cluster {
public:
  task_cluster() {
    objects[k8s::template_path(task_space, "namzu-task")] = json::parse(R"({"metadata":{"name":"namzu-task"},"spec":{
      "podTemplate":{"metadata":{"labels":{"app":"x"},"annotations":{"a":"b"}},"spec":{"containers":[{"name":"agent","image":"i"}]}}}})");
    api.hold();
    api.handle_some([this](const k8s::call& x) -> std::optional<reply> {
      if (hold && hold(x))
        return std::nullopt;
      if (intercept)
        if (auto got = intercept(x))
          return got;
      return act(x);
    });
  }

  /// What the controllers of a claim and of a Sandbox make of it.
  std::function<void(json& claim)> bind_claim = [this](json& claim) { bind(claim); };
  std::function<void(json& sandbox)> start_sandbox = [this](json& sandbox) { start(sandbox); };
  std::function<bool(const k8s::call&)> hold; // leaves a request without an answer
  bool reports_uids = true;
  bool labels_pods = true; // the labels that a claim asks for reach its pod

  void bind(json& claim) {
    const auto name = "pool-x-" + std::to_string(++made);
    auto labels = json{{"sandbox.namzu.ai/template", "namzu-task"}};
    if (labels_pods && claim["spec"].contains("additionalPodMetadata"))
      labels.update(claim["spec"]["additionalPodMetadata"]["labels"]);
    pod(name) = pod_of(name, labels);
    objects[k8s::sandboxes_path(task_space, name)] = json{{"metadata", {{"name", name}}}, {"status", {{"selector", "hash=1"}}}};
    claim["status"] = {{"conditions", {{{"type", "Ready"}, {"status", "True"}, {"reason", "DependenciesReady"}}}},
                       {"sandbox", {{"name", name}, {"podIPs", {"10.0.0.9"}}, {"serviceFQDN", name + ".svc"}}}};
  }
  void start(json& sandbox) {
    ++made;
    const auto name = sandbox["metadata"]["name"].get<std::string>();
    pod(name) = pod_of(name, sandbox["spec"]["podTemplate"]["metadata"]["labels"]);
    sandbox["status"] = {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
                         {"selector", "hash=x"},
                         {"podIPs", {"10.0.0.9"}},
                         {"serviceFQDN", name + ".svc"}};
  }
  [[nodiscard]] json pod_of(const std::string& name, const json& labels) const {
    return {{"metadata", {{"name", name}, {"uid", "pod-" + std::to_string(made)}, {"labels", labels}}},
            {"status", {{"phase", "Running"}, {"podIP", "10.1.0." + std::to_string(made)}}}};
  }
  json& pod(const std::string& name) {
    return objects[k8s::pods_path(task_space, name)];
  }
  static json ready(const std::string& status, const std::string& reason, const std::string& message = {}) {
    return {{"conditions", {{{"type", "Ready"}, {"status", status}, {"reason", reason}, {"message", message}}}}};
  }

  reply act(const k8s::call& x) {
    auto got = answer(x);
    const auto is_claim = x.path == k8s::claims_path(task_space);
    if (x.method != "POST" || !got || !(is_claim || x.path == k8s::sandboxes_path(task_space)))
      return got;
    auto& object = objects[x.path + "/" + x.body["metadata"]["name"].get<std::string>()];
    const auto uid = "owner-" + std::to_string(made + 1);
    object["metadata"].erase("uid");
    if (reports_uids)
      object["metadata"]["uid"] = uid;
    const auto answered = object; // before any controller has looked at it
    is_claim ? bind_claim(object) : start_sandbox(object);
    return found(answered);
  }
  int made = 0;
};

/// The flows of a node that runs tasks, over a cluster and a guest, in a base of their own so that they outlive the actors.
struct task_flows {
  /// `wire`: guests are spoken to over TCP, and `guest` is nobody.
  explicit task_flows(bool wire = false) :
    acts_on{host.api, wire ? *real.commands : static_cast<guest::host&>(guest), host.time, {}},
    calls(workspace::make_guest_calls(wire ? workspace::guest_hosts{*real.commands, *real.files, *real.streams, *real.work} : hosts.ways(),
                                      host.time, group)) {
  }
  task_cluster host;
  scripted_guest guest;
  guest::hosts real = guest::make_hosts(host.time);
  workspace::world acts_on;
  workspace::task_world makes{acts_on, {}};
  flow_group group{host.context.get_executor()};
  std::unique_ptr<workspace::task_port> tasks = workspace::make_tasks(makes, group);
  scripted_hosts hosts{guest};
  std::unique_ptr<workspace::guest_port> calls;
  std::optional<egress::backend> of;
  egress::ingress_backend of_ingress{task_space};
  std::unique_ptr<egress::fence_port> fences;
  std::unique_ptr<egress::gate_port> gates;
  std::unique_ptr<egress::policy_port> policies;
  fakes beside;
  actor_world on{beside.transitions, beside.inventory, *calls, host.time, "namzu-task", [](const std::string&) {}};
  bool closed = false;
};

/// A node that runs tasks out of the pool `pool`; nothing is verified unless a test configures it.
struct task_fixture : task_flows, actor_fixture {
  explicit task_fixture(bool wire = false) : task_flows(wire) {
    auto& how = acts_on.how;
    how.name_space = task_space;
    how.template_name = "namzu-task";
    how.fenced = false;
    how.ingress.verify = false;
    makes.how.pool = "pool";
    on.tasks = tasks.get();
  }
  ~task_fixture() {
    group.close([this] { closed = true; });
    settle();
  }
  /// Core policies, and `deny-all` unless `change` says otherwise. The object that it means stands.
  void configure_egress(const std::function<void(egress::egress_config&)>& change = {}) {
    auto how = egress::egress_config{};
    how.policy = egress::deny_all{};
    if (change)
      change(how);
    acts_on.how.egress = how;
    of.emplace(egress::backend{how, egress::translate(how, {task_space, "namzu-task"}).value(), acts_on.how.ingress});
    host.objects[of->baseline.path()] = of->baseline.manifest;
  }
  static void per_sandbox(egress::egress_config& x) {
    x.per_sandbox = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
  }
  /// The node, with what was configured by then.
  node_actor& node() {
    if (node_)
      return node_;
    of_ingress.ingress = acts_on.how.ingress;
    if (of) {
      of->ingress = acts_on.how.ingress;
      gates = egress::make_gate_port(host.on, *of, group);
      on.egress = &*of;
      if (of->how.per_sandbox) {
        fences = egress::make_fence_port(host.on, *of, group);
        policies = egress::make_policy_port(host.on, *of, group);
      }
    } else if (acts_on.how.ingress.verify) {
      gates = egress::make_gate_port(host.on, of_ingress, group);
    }
    on.gates = gates.get();
    on.fences = fences.get();
    on.policies = policies.get();
    node_info about;
    about.shards = 2;
    about.name_space = task_space;
    node_ = keep(sys.spawn<node_impl>(std::ref(on), about));
    return node_;
  }
  task_holder_actor make_holder() {
    return keep(sys.spawn(
      [log = told]() -> task_holder_actor::behavior_type { return {[log](atom::noted, const task_event& x) { log->push_back(x); }}; }));
  }

  // -- asking -----------------------------------------------------------------------

  using acquired = std::shared_ptr<answer_of<task_actor>>;
  /// Asks; `settle` or `turn` lets it happen.
  acquired begin(task_spec what = {}, caf::timespan budget = 10min) {
    holder = make_holder();
    return ask<task_actor>(node(), atom::acquire_v, std::move(what), holder, budget);
  }
  acquired acquire(task_spec what = {}) {
    auto got = begin(std::move(what));
    settle();
    return got;
  }
  /// One that goes well.
  task_actor held(task_spec what = {}) {
    auto got = acquire(std::move(what));
    REQUIRE_EQ(outcome(got), "done");
    return *got->value;
  }
  static task_spec direct() {
    return {{}, "namzu-task"};
  }
  answer destroy(const task_actor& which) {
    auto got = ask<caf::unit_t>(which, atom::remove_v, caf::timespan{1min});
    settle();
    return got;
  }
  answer grant(const task_actor& which, std::vector<std::string> to) {
    auto got = ask<caf::unit_t>(which, atom::allow_v, policy_spec{std::move(to)}, caf::timespan{1min});
    settle();
    return got;
  }
  task_view view_of(const task_actor& which) {
    auto got = ask<task_view>(which, atom::view_v);
    settle();
    REQUIRE(got->value);
    return *got->value;
  }
  /// What a command in it came to.
  std::shared_ptr<sink_log> run(const task_actor& which, std::optional<problem>* refused = nullptr) {
    auto log = std::make_shared<sink_log>();
    run_spec what;
    what.program = "true";
    auto got = ask<call_actor>(which, atom::call_v, call_spec{what, 1024}, keep(sys.spawn(logging_sink, log)), caf::timespan{1min});
    settle();
    if (refused != nullptr)
      *refused = got->why;
    return log;
  }
  template <class T>
  static std::string outcome(const std::shared_ptr<answer_of<T>>& x) {
    return x->value ? "done" : x->why ? x->why->reason : "waits";
  }
  /// The details of an acquire that failed.
  static json details(const acquired& x) {
    REQUIRE(x->why);
    return json::parse(x->why->details);
  }

  // -- letting it happen ------------------------------------------------------------------

  /// Lets actors and flows run, and time move on while a flow sleeps, until nothing is left to do.
  void settle() {
    test::settle(sched, host.context, host.time);
  }
  /// As `settle`, while time stands still.
  void turn() {
    test::settle(sched, host.context);
  }
  /// Lets time pass for actors and flows.
  void pass(caf::timespan by) {
    host.time.advance(by);
    sched.advance_time(by);
    turn();
  }
  /// An API server that does not answer: the request runs out of its time.
  std::optional<task_cluster::reply> no_answer(const k8s::call& x) {
    host.time.advance_to(std::min(host.api.deadlines.back().at(), host.time.now() + std::chrono::seconds{30}));
    return timed_out(x);
  }

  // -- what was asked ------------------------------------------------------------------------

  /// METHOD and the last part of the path, one a request; a task's own name is TASK.
  [[nodiscard]] std::vector<std::string> sent() const {
    auto got = std::vector<std::string>{};
    for (const auto& x : host.api.calls) {
      auto what = x.path.substr(x.path.rfind('/') + 1);
      const auto own = std::string_view{"namzu-task-"};
      const auto name = own.size() + 36; // with a UUID
      if (const auto at = what.find(own); at != std::string::npos && what.size() >= at + name)
        what.replace(at, name, "TASK");
      got.push_back(x.method + " " + what);
    }
    return got;
  }
  [[nodiscard]] std::size_t count(const std::string& method, const std::string& part) const {
    return static_cast<std::size_t>(
      std::ranges::count_if(host.api.calls, [&](const auto& x) { return x.method == method && x.path.find(part) != std::string::npos; }));
  }
  [[nodiscard]] std::size_t lists() const {
    return count("GET", "networkpolicies?");
  }
  [[nodiscard]] json posted(std::size_t nth = 0) const {
    return host.api.sent("POST").at(nth).body;
  }
  [[nodiscard]] std::size_t probes() const {
    return static_cast<std::size_t>(std::ranges::count_if(guest.calls, scripted_guest::is_privilege_probe));
  }

  task_holder_actor holder; // of the latest acquire
  std::shared_ptr<std::vector<task_event>> told = std::make_shared<std::vector<task_event>>();

private:
  node_actor node_;
};

} // namespace paddock::test
