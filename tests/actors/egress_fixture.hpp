#pragma once

#include "egress/flows/ports.hpp"
#include "egress/translate.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/actors/settle.hpp"
#include "tests/egress/grants.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace paddock::test {

using egress::test::grant_cluster;

inline const std::string core_policies = "/apis/networking.k8s.io/v1/namespaces/namzu-sandboxes/networkpolicies";

inline egress::egress_config deny_all() {
  auto out = egress::egress_config{};
  out.policy = egress::deny_all{};
  out.per_sandbox = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
  return out;
}

inline egress::backend backend_of(const egress::egress_config& how) {
  return {how, egress::translate(how, {"namzu-sandboxes", "namzu-task"}).value()};
}

/// The flows of egress over a cluster, in a base of their own so that they outlive the actors.
struct egress_flows {
  grant_cluster host;
  egress::backend of = backend_of(deny_all());
  flow_group group{host.context.get_executor()};
  std::unique_ptr<egress::fence_port> fences = egress::make_fence_port(host.on, of, group);
  std::unique_ptr<egress::gate_port> gates = egress::make_gate_port(host.on, of, group);
  std::unique_ptr<egress::policy_port> policies = egress::make_policy_port(host.on, of, group);
  fakes beside;
  actor_world on{
    beside.transitions, beside.inventory, beside.guests, host.time, "tpl", [this](const std::string& x) { beside.warnings.push_back(x); }};
};

/// Actors over these flows. The object that the configuration means stands.
struct egress_fixture : egress_flows, actor_fixture {
  egress_fixture() {
    on.fences = fences.get();
    on.gates = gates.get();
    on.policies = policies.get();
    host.objects[core_policies + "/namzu-task-egress"] = of.baseline.manifest;
  }
  ~egress_fixture() {
    group.close([] {});
    settle();
  }
  /// Lets actors and flows run until nothing is left to do.
  void settle() {
    test::settle(sched, host.context);
  }
  void pass(caf::timespan by) {
    host.time.advance(by);
    sched.advance_time(by);
    settle();
  }
  template <class T>
  static std::string outcome(const std::shared_ptr<answer_of<T>>& x) {
    return x->value ? "done" : x->why ? x->why->reason : "waits";
  }
  /// How many requests of this method go to a path that begins so.
  std::size_t sent(const std::string& method, const std::string& path) {
    return static_cast<std::size_t>(
      std::ranges::count_if(host.api.calls, [&](const auto& x) { return x.method == method && x.path.starts_with(path); }));
  }
};

} // namespace paddock::test
