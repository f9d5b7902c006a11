#pragma once

#include "guest/flows/host.hpp"
#include "k8s/flows/api.hpp"
#include "tests/sim/verb.hpp"

#include <functional>
#include <span>
#include <string_view>

namespace paddock::sim {

/// One bug that a run can be made to have, at a seam between the code under test and its world. Empty members change nothing.
struct planted_bug {
  std::string_view name;
  std::string_view breaks; // the rule, or what is done wrong
  std::string_view shows;  // the invariant, one of judge.hpp, by which it is found
  // What a flow asks the API server and what it hears; whether it asks once more after a failure.
  std::function<void(const verb&, k8s::call&)> sends = {};
  std::function<void(const verb&, const k8s::call&, k8s::result<k8s::answer>&)> hears = {};
  std::function<bool(k8s::call&, const k8s::failure&)> sends_again = {};
  // The session that a verb is given, and the one that it gives back.
  std::function<void(const verb&, workspace::session&)> begins = {};
  std::function<void(const verb&, workspace::session&, bool answered_well)> ends = {};
  // Whether a verb answers well without asking anybody, never answers, or suspends before it does; how long it may take.
  std::function<bool(const verb&)> answers_from_memory = {};
  std::function<bool(const verb&)> forgets = {};
  std::function<bool(const verb&, bool answered_well)> suspends_after = {};
  std::function<void(deadline&)> allows = {};
  // What goes to a guest, and what is heard of it.
  std::function<void(guest::endpoint&)> dials = {};
  std::function<void(const guest::endpoint&, guest::result<guest::execution>&)> reports = {};
  bool runs_again = false;   // a command of which no answer came is sent once more
  bool knows_nobody = false; // the guest takes every token
};

[[nodiscard]] std::span<const planted_bug> planted_bugs();
/// Null: there is none of this name.
[[nodiscard]] const planted_bug* find_bug(std::string_view name);

} // namespace paddock::sim
