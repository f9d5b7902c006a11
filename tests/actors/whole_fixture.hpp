#pragma once

#include "tests/actors/actor_fixture.hpp"
#include "tests/actors/settle.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "tests/workspace/desk.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/ports.hpp"

#include <memory>

namespace paddock::test {

/// The real ports and flows over a scripted API server and guest, in a base of their own so that they outlive the actors.
struct whole_flows {
  explicit whole_flows(workspace::test::desk::host how = workspace::test::desk::host::unfenced,
                       workspace::test::desk::api_server says = workspace::test::desk::api_server::without_uids) :
    host{how, says} {
  }
  workspace::test::desk host;
  flow_group group{host.context.get_executor()};
  std::unique_ptr<workspace::transitions_port> transitions = workspace::make_transitions(host.on, group);
  std::unique_ptr<workspace::inventory_port> inventory = workspace::make_inventory(host.on, group);
  scripted_hosts hosts{host.on.guests};
  workspace::open_terminals terminals{host.context.get_executor()};
  std::unique_ptr<workspace::guest_port> guests = workspace::make_guest_calls(hosts.ways(), host.on.time, group, &terminals);
  std::vector<std::string> warned;
  actor_world on{*transitions, *inventory, *guests, host.time, "tpl", [this](const std::string& x) { warned.push_back(x); }};
};

/// Actors over the flows.
struct whole_fixture : whole_flows, actor_fixture {
  using whole_flows::whole_flows;
  ~whole_fixture() {
    group.close([] {});
    settle();
  }
  /// Lets actors and flows run, and time move on while a flow sleeps, until nothing is left to do.
  void settle() {
    test::settle(sched, host.context, host.time);
  }
  /// As `settle`, while time stands still.
  void turn() {
    test::settle(sched, host.context);
  }
};

} // namespace paddock::test
