#define CAF_SUITE call

#include "client/call_actors.hpp"
#include "messages/error.hpp"
#include "tests/client/client_fixture.hpp"
#include "tests/client/scripted_call.hpp"

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

/// What a CALL is told.
inline call_actor::behavior_type logging_call(std::shared_ptr<call_log> log) {
  return {
    [log](atom::grant, std::uint64_t n) { log->granted.push_back(n); },
    [log](atom::input, const bytes& x, bool last) {
      log->inputs.emplace_back(std::string{reinterpret_cast<const char*>(x.data()), x.size()}, last);
    },
    [log](atom::cancel) { log->said.emplace_back("cancel"); },
    [log](atom::leave) { log->said.emplace_back("leave"); },
    [log](atom::resize, std::int32_t columns, std::int32_t rows) {
      log->said.push_back(std::to_string(columns) + "x" + std::to_string(rows));
    },
    [log](atom::signal, const std::string& name) { log->said.push_back(name); },
    [](atom::output, std::uint8_t, const bytes&) {},
    [](atom::wanted, std::uint64_t) {},
    [](atom::noted, const call_note&) {},
    [](atom::landed, const landed&) {},
    [](atom::failed, const problem&) {},
    [](atom::refused) {},
    [](atom::moved, const landed&) {},
  };
}

struct fixture : client_fixture {
  fixture() {
    other = sys.spawn(logging_call, log);
    sink = spawn_sink(sys, in);
    sched.run();
  }
  ~fixture() {
    caf::anon_send_exit(other, caf::exit_reason::kill);
    sched.run();
  }
  call started(effect what = effect::changes) {
    auto out = call{watched_call(sys, other, sink, in, {}), in, what};
    sched.run();
    return out;
  }
  void end_other() {
    caf::anon_send_exit(other, caf::exit_reason::kill);
    sched.run();
  }
  static std::optional<call_event> now(call& of) {
    return of.next(0ms);
  }

  std::shared_ptr<call_log> log = std::make_shared<call_log>();
  std::shared_ptr<inbox> in = std::make_shared<inbox>();
  call_actor other;
  sink_actor sink;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(call_tests, fixture)

SCENARIO("output is handed out in order, and granted anew once the next is asked for") {
  auto me = started();
  self->send(sink, atom::output_v, std::uint8_t{1}, bytes_of("ab"));
  self->send(sink, atom::output_v, std::uint8_t{2}, bytes_of("c"));
  sched.run();
  auto first = now(me);
  REQUIRE(first);
  CHECK(std::get<output_piece>(*first).content == bytes_of("ab"));
  sched.run();
  CHECK(log->granted.empty());
  auto second = now(me);
  REQUIRE(second);
  CHECK_EQ(std::get<output_piece>(*second).which, 2);
  CHECK(!now(me));
  sched.run();
  CHECK_EQ(log->granted, (std::vector<std::uint64_t>{2, 1}));
}

SCENARIO("the end comes last, and nothing after it") {
  auto me = started();
  auto end = call_end{};
  end.exit_code = 3;
  self->send(sink, atom::noted_v, call_note{});
  self->send(sink, atom::ended_v, end);
  sched.run();
  CHECK(std::holds_alternative<call_note>(now(me).value()));
  CHECK(!me.ended());
  CHECK_EQ(std::get<call_end>(now(me).value()).exit_code, 3);
  CHECK(me.ended());
  end_other();
  CHECK(!me.next());
}

SCENARIO("a CALL that is gone has said all that its sink has still to take") {
  auto me = started();
  end_other(); // and only then does its end arrive
  self->send(sink, atom::ended_v, call_end{});
  CHECK(!now(me));
  sched.run();
  CHECK(std::holds_alternative<call_end>(now(me).value()));
}

SCENARIO("a CALL that is gone without an end leaves open what a change has done") {
  auto me = started();
  end_other();
  CHECK(!now(me));
  sched.run();
  CHECK_EQ(std::get<problem>(now(me).value()).how, verdict::unknown);
  CHECK(me.ended());
}

SCENARIO("a CALL that is gone without an end was unreachable for what reads") {
  auto me = started(effect::reads);
  end_other();
  CHECK(!now(me));
  sched.run();
  CHECK_EQ(std::get<problem>(now(me).value()).how, verdict::unreachable);
}

SCENARIO("what is said to a call reaches the CALL") {
  auto me = started();
  self->send(sink, atom::wanted_v, std::uint64_t{10});
  sched.run();
  CHECK_EQ(std::get<input_wanted>(now(me).value()).bytes, 10u);
  me.input(bytes_of("hello"));
  me.input({}, true);
  me.resize(100, 40);
  me.signal("SIGTERM");
  me.leave();
  me.cancel();
  sched.run();
  CHECK_EQ(log->inputs, (std::vector<std::pair<std::string, bool>>{{"hello", false}, {"", true}}));
  CHECK_EQ(log->said, (std::vector<std::string>{"100x40", "SIGTERM", "leave", "cancel"}));
}

SCENARIO("a call that is destroyed ends its sink, so that the CALL withdraws") {
  auto ended = false;
  const auto kept = sys.spawn([&](caf::event_based_actor* watcher) {
    watcher->monitor(sink);
    watcher->set_down_handler([&, watcher](const caf::down_msg&) {
      ended = true;
      watcher->quit();
    });
    return caf::behavior{[](caf::unit_t) {}};
  });
  sched.run();
  { auto me = started(); }
  sched.run();
  CHECK(ended);
}

CAF_TEST_FIXTURE_SCOPE_END()
