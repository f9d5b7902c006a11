#define CAF_SUITE target

#include "tests/client/scripted_call.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sys/resource.h>

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

SCENARIO("what only reads may be lost, and what changes leaves open what it did") {
  CHECK(effect_of(read_spec{}) == effect::reads);
  CHECK(effect_of(walk_spec{}) == effect::reads);
  CHECK(effect_of(attach_spec{}) == effect::reads);
  CHECK(effect_of(run_spec{}) == effect::changes);
  CHECK(effect_of(shell_spec{}) == effect::changes);
  CHECK(effect_of(write_spec{}) == effect::changes);
  CHECK(effect_of(forward_spec{}) == effect::changes);
}

SCENARIO("a call that nobody could be woken for is not started") {
  auto before = rlimit{};
  REQUIRE_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto none = rlimit{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  auto at = scripted_target{};
  const auto got = at.start(run_spec{});
  ::setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE(!got);
  CHECK_EQ(got.error().how, verdict::failed);
  CHECK(at.started.empty());
}

SCENARIO("an answer to another question is none") {
  auto at = scripted_target{};
  at.answer.what = flush_answer{7, "/workspace"};
  CHECK_EQ(at.flush().value().duration_ms, 7u);
  CHECK_EQ(at.quiesce().error().reason, "RemoteProtocol");
  CHECK_EQ(at.cancel_execution("exec_1").error().reason, "RemoteProtocol");
  at.answer.what = sessions_answer{{session_view{}}};
  CHECK_EQ(at.sessions().value().size(), 1u);
}
