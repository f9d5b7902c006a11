#define CAF_SUITE call

#include "tests/actors/actor_fixture.hpp"

using namespace paddock;
using namespace paddock::test;

namespace {

struct fixture : actor_fixture {
  fixture() {
    owner = make_workspace();
    sink = keep(sys.spawn(logging_sink, log));
  }
  call_actor start(call_spec what) {
    return keep(sys.spawn<call_impl>(std::ref(world), call_options{guest::endpoint{"127.1.1.1", 1024, secret{"P1"}}, 0, owner, sink,
                                                                   std::move(what), deadline(time, 1min)}));
  }
  /// A sink that answers for the end when it is asked for input.
  sink_actor make_slow_sink() {
    auto taken = std::make_shared<caf::typed_response_promise<void>>();
    return keep(sys.spawn([taken](sink_actor::pointer me) -> sink_actor::behavior_type {
      return {
        [](atom::output, std::uint8_t, const bytes&) {},
        [taken](atom::wanted, std::uint64_t) { taken->deliver(); },
        [](atom::noted, const call_note&) {},
        [taken, me](atom::ended, const call_end&) -> caf::result<void> {
          *taken = me->make_response_promise<void>();
          return *taken;
        },
        [](atom::failed, const problem&) {},
      };
    }));
  }
  workspace_actor owner;
  std::shared_ptr<sink_log> log = std::make_shared<sink_log>();
  sink_actor sink;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(call_tests, fixture)

SCENARIO("a CALL passes output on in order and grants only what its sink granted") {
  run_spec what;
  what.program = "cat";
  what.arguments = {"-n"};
  auto me = start({what, 100});
  REQUIRE_EQ(guests.starts.size(), 1u);
  CHECK_EQ(guests.starts[0].command().program, "cat");
  CHECK_EQ(guests.starts[0].command().arguments, std::vector<std::string>({"-n"}));
  const auto ticket = guests.starts[0].name;
  CHECK_EQ(guests.granted(ticket), 100u);
  guests.starts[0].events.output(guest::stream::out, workspace::to_bytes("a\0b"sv));
  guests.starts[0].events.output(guest::stream::err, workspace::to_bytes("c"));
  sched.run();
  CHECK_EQ(log->output, (std::vector<std::pair<int, std::string>>{{1, "a\0b"s}, {2, "c"s}}));
  CHECK_EQ(guests.granted(ticket), 100u);
  self->send(me, atom::grant_v, std::uint64_t{4});
  sched.run();
  CHECK_EQ(guests.granted(ticket), 104u);
}

SCENARIO("input goes to the guest as it comes, and the guest says how much it takes") {
  run_spec what;
  what.with_input = true;
  auto me = start({what});
  guests.starts.at(0).events.wants_input(10);
  sched.run();
  CHECK_EQ(log->wanted, std::vector<std::uint64_t>({10}));
  self->send(me, atom::input_v, workspace::to_bytes("hello"), false);
  self->send(me, atom::input_v, bytes{}, true);
  sched.run();
  REQUIRE_EQ(guests.inputs.size(), 2u);
  CHECK_EQ(guests.inputs[0].bytes, "hello");
  CHECK(!guests.inputs[0].last);
  CHECK(guests.inputs[1].last);
}

SCENARIO("the end is told once, after the output, and the CALL is over") {
  auto me = start({read_spec{"a.txt", {}, {}}, 5});
  REQUIRE_EQ(guests.starts.size(), 1u);
  CHECK_EQ(std::get<workspace::read_job>(guests.starts[0].what).path, "a.txt");
  self->monitor(me);
  guests.starts[0].events.output(guest::stream::out, workspace::to_bytes("12345"));
  auto whole = ended_well();
  whole.size = 5;
  guests.starts[0].events.end(whole);
  sched.run();
  CHECK_EQ(log->output.size(), 1u);
  REQUIRE_EQ(log->ended.size(), 1u);
  CHECK_EQ(log->ended[0].size, 5u);
  CHECK(!self->mailbox().empty());
}

SCENARIO("a CALL stays until its sink has taken the end") {
  GIVEN("a sink that takes its time") {
    const auto slow = make_slow_sink();
    sink = slow;
    auto me = start({run_spec{}});
    self->monitor(me);
    WHEN("the call has ended") {
      guests.starts.at(0).events.end(ended_well());
      sched.run();
      THEN("the CALL is over only after the sink has it") {
        CHECK(self->mailbox().empty());
        self->send(slow, atom::wanted_v, std::uint64_t{0});
        sched.run();
        CHECK(!self->mailbox().empty());
      }
    }
  }
}

SCENARIO("a CALL that has ended is over when its sink is gone without a word, as one of a process that has ended") {
  const auto slow = make_slow_sink();
  sink = slow;
  auto me = start({run_spec{}});
  self->monitor(me);
  guests.starts.at(0).events.end(ended_well());
  sched.run();
  CHECK(self->mailbox().empty());
  caf::anon_send_exit(slow, caf::exit_reason::kill);
  sched.run();
  CHECK(!self->mailbox().empty());
}

SCENARIO("a sink that goes away withdraws the call") {
  auto me = start({run_spec{}});
  caf::anon_send_exit(sink, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(guests.cancelled, std::vector<workspace::ticket>({guests.starts.at(0).name}));
  // The end still has to come: what became of the command is known only then.
  self->monitor(me);
  CHECK(self->mailbox().empty());
  guests.starts[0].events.end(ended_well());
  sched.run();
  CHECK(!self->mailbox().empty());
}

SCENARIO("a cancel is passed on, and its end is told like any other") {
  auto me = start({run_spec{}});
  self->send(me, atom::cancel_v);
  sched.run();
  CHECK_EQ(guests.cancelled, std::vector<workspace::ticket>({guests.starts.at(0).name}));
  auto end = ended_well();
  end.how.exit_code = -1;
  end.how.signal = "SIGTERM";
  guests.starts[0].events.end(end);
  sched.run();
  REQUIRE_EQ(log->ended.size(), 1u);
  CHECK_EQ(log->ended[0].signal, std::optional<std::string>{"SIGTERM"});
}

SCENARIO("a failure reaches the sink even when the WORKSPACE ends before explaining it") {
  auto me = start({write_spec{"f", {}}});
  guests.starts.at(0).events.end(tl::unexpected{workspace::failure{guest::failure{guest::lost{"closed"}}}});
  caf::anon_send_exit(owner, caf::exit_reason::kill);
  sched.run();
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "RemoteLost");
}

SCENARIO("a CALL whose owner is gone looks for no other place, and says itself what it failed of") {
  auto me = start({run_spec{}});
  caf::anon_send_exit(owner, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(guests.moves.size(), 1u);
  guests.starts.at(0).events.refused(guest::lost{"closed"});
  sched.run();
  CHECK_EQ(guests.moves.size(), 2u);
  guests.starts[0].events.end(tl::unexpected{workspace::failure{guest::failure{guest::lost{"closed"}}}});
  sched.run();
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "RemoteLost");
}

SCENARIO("a CALL that is ended from outside leaves no command running for nobody") {
  auto me = start({run_spec{}});
  caf::anon_send_exit(me, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(guests.cancelled, std::vector<workspace::ticket>({guests.starts.at(0).name}));
}

CAF_TEST_FIXTURE_SCOPE_END()
