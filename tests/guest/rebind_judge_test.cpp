#define CAF_SUITE rebind_judge

#include "guest/rebind_judge.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using guest::rebind_verdict;

namespace {

rebind_verdict judged(guest::failure x, bool name = false, bool withdrawn = false) {
  return guest::judge_rebind(x, {name, withdrawn});
}

guest::failure dial(bool unresolved = false) {
  return guest::dial_failed{"guest", 1024, "x", unresolved};
}

} // namespace

SCENARIO("only a connection that never was and a refused token prove that nothing ran") {
  CHECK(judged(dial()) == rebind_verdict::reread);
  CHECK(judged(guest::unauthorized{}) == rebind_verdict::reread);
  const auto others = std::vector<guest::failure>{guest::retiring{},
                                                  guest::frame_too_large{},
                                                  guest::refused{"unauthorized", "unauthorized"},
                                                  guest::command_failed{"unauthorized"},
                                                  guest::protocol_failure{},
                                                  guest::lost{"could not connect to agent"},
                                                  guest::result_incomplete{"cancelled", false, "unauthorized"},
                                                  guest::cancellation_unknown{"unauthorized", {}, {}},
                                                  guest::withdrawn{},
                                                  guest::guest_mismatch{},
                                                  guest::unsupported{},
                                                  guest::invalid_argument{},
                                                  guest::file_too_large{},
                                                  guest::address_unresolvable{},
                                                  guest::not_attachable{},
                                                  guest::execution_detached{},
                                                  guest::session_refused{},
                                                  guest::session_detached{},
                                                  guest::quiesce_unconfirmed{},
                                                  guest::flush_unconfirmed{}};
  CHECK_EQ(others.size() + 2, std::variant_size_v<guest::failure>);
  for (const auto& x : others) {
    CHECK(judged(x) == rebind_verdict::rethrow);
    CHECK(judged(x, true) == rebind_verdict::rethrow);
  }
}

SCENARIO("a name that does not resolve is not read again, an address is") {
  CHECK(judged(dial(true), true) == rebind_verdict::unresolvable);
  CHECK(judged(dial(true), true, true) == rebind_verdict::unresolvable);
  CHECK(judged(dial(true), false) == rebind_verdict::reread);
  CHECK(judged(dial(false), true) == rebind_verdict::reread);
  CHECK(judged(guest::unauthorized{}, true) == rebind_verdict::reread);
}

SCENARIO("nothing is read again for a caller who has left") {
  CHECK(judged(dial(), false, true) == rebind_verdict::rethrow);
  CHECK(judged(guest::unauthorized{}, false, true) == rebind_verdict::rethrow);
}

SCENARIO("names and addresses are told apart") {
  for (const auto* address : {"127.0.0.1", "::1", "fe80::1%eth0", "10.1.2.3"})
    CHECK(!guest::is_host_name(address));
  for (const auto* name : {"desk", "desk.default.svc", "127.0.0.1.example", "10"})
    CHECK(guest::is_host_name(name));
}
