#define CAF_SUITE guest_calls

#include "tests/support/fake_ports.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_guest.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "tests/workspace/told.hpp"
#include "workspace/flows/guest_calls.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <limits>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::test;

namespace {

using op = guest_call::op;

/// A guest whose commands take a piece of input whenever the test says so, and end with the input.
class pumping_guest final : public guest::host {
public:
  boost::asio::awaitable<guest::result<guest::execution>> execute(guest::endpoint, guest::command, guest::output_sink& output,
                                                                  guest::input_source* input, deadline) override {
    auto lane = co_await boost::asio::this_coro::executor;
    bell.emplace(lane, boost::asio::steady_timer::time_point::max());
    for (;;) {
      while (steps == 0) {
        [[maybe_unused]] auto [ec] = co_await bell->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        auto state = co_await boost::asio::this_coro::cancellation_state;
        if (state.cancelled() != boost::asio::cancellation_type::none)
          co_return when_cancelled;
      }
      --steps;
      auto piece = std::string{};
      try {
        piece = co_await input->next();
      } catch (const boost::system::system_error&) {
        aborted = true;
      }
      if (aborted)
        co_return when_cancelled;
      if (piece.empty()) {
        saw_end = true;
        co_await output.take(guest::stream::out, "ok");
        co_return guest::execution{};
      }
      taken.push_back(std::move(piece));
    }
  }
  boost::asio::awaitable<guest::result<guest::health>> look(guest::endpoint, deadline) override {
    co_return guest::health{};
  }
  boost::asio::awaitable<guest::result<guest::file_content>> read_file(guest::endpoint, std::string, std::size_t, deadline) override {
    throw std::runtime_error{"not a file in sight"};
    co_return guest::file_content{};
  }
  boost::asio::awaitable<guest::result<guest::file_written>> write_file(guest::endpoint, std::string, std::string, deadline) override {
    throw std::runtime_error{"not a file in sight"};
    co_return guest::file_written{};
  }
  void step(int n = 1) {
    steps += n;
    if (bell)
      bell->cancel();
  }
  std::vector<std::string> taken;
  guest::result<guest::execution> when_cancelled = tl::unexpected{guest::failure{guest::withdrawn{}}};
  bool aborted = false;
  bool saw_end = false;
  int steps = 0;
  std::optional<boost::asio::steady_timer> bell;
};

struct fixture {
  boost::asio::io_context lane;
  test::manual_time time;
  scripted_guest guests;
  pumping_guest pump;
  flow_group flows{lane.get_executor()};
  scripted_hosts hosts{guests};
  scripted_hosts pump_hosts{pump};
  std::unique_ptr<guest_port> port = make_guest_calls(hosts.ways(), time, flows);
  std::unique_ptr<guest_port> pumped = make_guest_calls(pump_hosts.ways(), time, flows);
  guest::endpoint where{"10.0.0.1", 1024, secret{"token"}};
  deadline until{time, std::chrono::seconds{60}};

  void go() {
    test::run_ready(lane);
  }
  static guest::command command(bool with_input = false) {
    auto x = guest::command{};
    x.program = "do";
    x.with_input = with_input;
    return x;
  }
  /// From now on a command writes `text` and then ends with 0, or stays pending.
  void prints(std::string text, bool ends = true) {
    guests.on_execute = [this, text, ends](const guest_call&) {
      auto x = scripted_execution{};
      x.output.emplace_back(guest::stream::out, text);
      if (ends)
        x.answer = guests.ended(0);
      return x;
    };
  }
};

std::vector<std::byte> many(std::size_t n, char x = 'x') {
  return to_bytes(std::string(n, x));
}

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

// -- output and credit ------------------------------------------------------------

SCENARIO("output flows only against credit") {
  GIVEN("a command that writes six bytes and was granted nothing") {
    prints("abcdef");
    auto it = told{};
    port->start(1, where, run_job{command()}, until, it.events());
    CHECK(guests.calls.empty()); // nothing happens inside the call that asked
    go();
    CHECK_EQ(guests.calls.size(), 1u);
    CHECK(it.pieces.empty());
    CHECK(it.ends.empty());
    WHEN("four bytes are granted, then three") {
      port->grant(1, 4);
      CHECK(it.pieces.empty()); // not inside grant
      go();
      CHECK_EQ(it.output, "abcd");
      CHECK(it.ends.empty());
      port->grant(1, 3);
      go();
      THEN("the rest and the end come") {
        CHECK_EQ(it.output, "abcdef");
        CHECK_EQ(it.pieces, (std::vector<std::size_t>{4, 2}));
        REQUIRE(it.well());
        CHECK_EQ(it.ends.front()->boot, guests.boot);
      }
    }
  }
}

SCENARIO("credit may come before the output") {
  guests.on_execute = [](const guest_call&) { return scripted_execution{}; };
  prints("abc", true);
  auto it = told{};
  port->start(1, where, run_job{command()}, until, it.events());
  port->grant(1, 2);
  port->grant(1, 2);
  go();
  CHECK_EQ(it.output, "abc");
  CHECK_EQ(it.pieces.size(), 1u);
  CHECK(it.well());
}

SCENARIO("a piece of output is never larger than 64 KiB, and credit does not overflow") {
  prints(std::string(200'000, 'y'));
  auto it = told{};
  port->start(1, where, run_job{command()}, until, it.events());
  port->grant(1, std::numeric_limits<std::size_t>::max());
  port->grant(1, 1);
  go();
  CHECK_EQ(it.pieces, (std::vector<std::size_t>{65'536, 65'536, 65'536, 3'392}));
  CHECK_EQ(it.output, std::string(200'000, 'y'));
  CHECK(it.well());
}

SCENARIO("two calls at once have a credit each") {
  prints("abc");
  auto one = told{};
  auto two = told{};
  port->start(1, where, run_job{command()}, until, one.events());
  port->start(2, where, run_job{command()}, until, two.events());
  go();
  port->grant(2, 3);
  go();
  CHECK(one.pieces.empty());
  CHECK(one.ends.empty());
  CHECK_EQ(two.output, "abc");
  CHECK(two.well());
  port->grant(2, 3); // the call has ended: no error
  port->grant(1, 3);
  go();
  CHECK_EQ(one.output, "abc");
  CHECK(one.well());
}

SCENARIO("a ticket in use is refused and the call that has it goes on") {
  prints("abc");
  auto one = told{};
  auto two = told{};
  port->start(1, where, run_job{command()}, until, one.events());
  port->start(1, where, run_job{command()}, until, two.events());
  CHECK(two.ends.empty()); // not inside the call that asked
  go();
  CHECK(two.failed<guest::withdrawn>() != nullptr);
  CHECK_EQ(guests.calls.size(), 1u);
  port->grant(1, 3);
  go();
  CHECK(one.well());
}

SCENARIO("a command whose output finds no credit in time is incomplete") {
  prints("abc");
  auto it = told{};
  port->start(1, where, run_job{command()}, until, it.events());
  port->grant(1, 1);
  go();
  time.advance(std::chrono::seconds{61});
  go();
  CHECK_EQ(it.output, "a");
  CHECK(it.failed<guest::result_incomplete>() != nullptr);
}

// -- withdrawing --------------------------------------------------------------------

SCENARIO("a call withdrawn before it began dials nobody") {
  auto ran = told{};
  auto got = told{};
  auto put = told{};
  port->start(1, where, run_job{command(true)}, until, ran.events());
  port->start(2, where, read_job{"f", {}}, until, got.events());
  port->start(3, where, write_job{"f", {}}, until, put.events());
  for (auto name : {1, 2, 3})
    port->cancel(static_cast<ticket>(name));
  CHECK(ran.ends.empty());
  go();
  CHECK(guests.calls.empty());
  CHECK(ran.failed<guest::withdrawn>() != nullptr);
  CHECK(got.failed<guest::withdrawn>() != nullptr);
  CHECK(put.failed<guest::withdrawn>() != nullptr);
}

SCENARIO("a command withdrawn while it runs answers with what the guest says") {
  prints("", false);
  GIVEN("a guest that confirms the end") {
    auto it = told{};
    port->start(1, where, run_job{command()}, until, it.events());
    go();
    CHECK(it.ends.empty());
    port->cancel(1);
    go();
    CHECK(guests.calls.at(0).cancelled);
    REQUIRE(it.well());
    CHECK_EQ(it.ends.front()->how.signal.value_or(""), "SIGTERM");
  }
  GIVEN("a guest that does not") {
    guests.when_cancelled = tl::unexpected{guest::failure{guest::cancellation_unknown{"silence", std::nullopt, std::nullopt}}};
    auto it = told{};
    port->start(2, where, run_job{command()}, until, it.events());
    go();
    port->cancel(2);
    go();
    CHECK(guests.calls.at(1).cancelled);
    CHECK(it.failed<guest::cancellation_unknown>() != nullptr);
  }
}

SCENARIO("a command withdrawn while its output waits for credit is incomplete") {
  prints("abc");
  auto it = told{};
  port->start(1, where, run_job{command()}, until, it.events());
  port->grant(1, 2);
  go();
  CHECK(it.ends.empty());
  port->cancel(1);
  go();
  port->grant(1, 9); // too late: what was left over is dropped
  go();
  CHECK_EQ(it.output, "ab");
  const auto* why = it.failed<guest::result_incomplete>();
  REQUIRE(why != nullptr);
  CHECK(why->started);
}

SCENARIO("a call withdrawn at any moment ends once, and its output is a beginning of all output") {
  auto got_through = false;
  for (auto n = 0; n < 200 && !got_through; ++n) {
    auto world = fixture{};
    world.prints("abcdef");
    auto it = told{};
    world.port->start(1, world.where, run_job{fixture::command(true)}, world.until, it.events());
    world.port->grant(1, 3);
    auto given = false;
    for (auto k = 0; k < n; ++k) {
      if (!given && !it.wants.empty()) {
        given = true;
        world.port->input(1, many(10), true);
        world.port->grant(1, 3);
      }
      world.lane.restart();
      world.lane.poll_one();
    }
    got_through = !it.ends.empty();
    world.port->cancel(1);
    world.go();
    CHECK(it.ended());
    CHECK(std::string{"abcdef"}.starts_with(it.output));
    if (it.well())
      CHECK_EQ(it.output, "abcdef");
    if (!given)
      CHECK(world.guests.calls.empty());
  }
  CHECK(got_through);
}

SCENARIO("a group that closes ends what runs and refuses what comes") {
  prints("abc");
  auto ran = told{};
  auto got = told{};
  auto put = told{};
  guests.on_read = [](const guest_call&) { return std::nullopt; };
  port->start(1, where, run_job{command()}, until, ran.events());
  port->start(2, where, read_job{"f", {}}, until, got.events());
  port->start(3, where, write_job{"f", {}}, until, put.events());
  go();
  auto empty = 0;
  flows.close([&] {
    ++empty;
    CHECK(ran.ended());
    CHECK(got.ended());
    CHECK(put.ended());
  });
  CHECK_EQ(empty, 0);
  go();
  CHECK_EQ(empty, 1);
  CHECK(ran.failed<guest::result_incomplete>() != nullptr);
  CHECK(got.failed<guest::lost>() != nullptr);
  CHECK(put.failed<guest::withdrawn>() != nullptr);
  const auto before = guests.calls.size();
  auto late = told{};
  port->start(4, where, run_job{command()}, until, late.events());
  CHECK(late.ends.empty());
  go();
  CHECK(late.failed<guest::withdrawn>() != nullptr);
  CHECK_EQ(guests.calls.size(), before);
}

// -- input --------------------------------------------------------------------------

SCENARIO("input is wanted 256 KiB ahead of the guest and again as the guest takes it") {
  auto it = told{};
  pumped->start(1, where, run_job{command(true)}, until, it.events());
  CHECK(it.wants.empty());
  go();
  CHECK_EQ(it.wants, std::vector<std::size_t>{262'144});
  pumped->input(1, many(100'000), false);
  pumped->input(1, many(162'144), false);
  go();
  CHECK_EQ(it.wanted(), 262'144u);
  pump.step();
  go();
  CHECK_EQ(it.wants, (std::vector<std::size_t>{262'144, 65'536}));
  pumped->input(1, many(65'535, 'y'), false);
  pumped->input(1, many(1, 'z'), true);
  pump.step(4);
  go();
  CHECK_EQ(it.wanted(), 262'144u + 65'536u); // nothing is wanted after the last piece
  CHECK(!pump.saw_end);
  pump.step();
  go();
  CHECK(pump.saw_end);
  auto all = std::string{};
  for (const auto& x : pump.taken) {
    CHECK(x.size() <= 65'536u);
    all += x;
  }
  CHECK_EQ(all, std::string(262'144, 'x') + std::string(65'535, 'y') + "z");
  pumped->grant(1, 10);
  go();
  CHECK(it.well());
}

SCENARIO("a guest that is ahead waits for input") {
  auto it = told{};
  pumped->start(1, where, run_job{command(true)}, until, it.events());
  pump.step(3);
  go();
  CHECK(pump.taken.empty());
  pumped->input(1, to_bytes("a"), false);
  go();
  CHECK_EQ(pump.taken, std::vector<std::string>{"a"});
  pumped->input(1, {}, false); // is no end
  go();
  CHECK(!pump.saw_end);
  pumped->input(1, {}, true);
  go();
  CHECK(pump.saw_end);
}

SCENARIO("more input than was wanted ends the call") {
  GIVEN("a command that takes no input") {
    prints("", false);
    auto it = told{};
    port->start(1, where, run_job{command(false)}, until, it.events());
    go();
    port->input(1, {}, true); // the end of nothing
    go();
    CHECK(it.ends.empty());
    port->input(1, many(1), false);
    go();
    CHECK(guests.calls.front().cancelled);
    CHECK(it.failed<guest::protocol_failure>() != nullptr);
  }
  GIVEN("a full window") {
    auto it = told{};
    pumped->start(2, where, run_job{command(true)}, until, it.events());
    go();
    pumped->input(2, many(input_window), false);
    pumped->input(2, many(1), false);
    go();
    THEN("the command is cancelled") {
      CHECK(it.failed<guest::protocol_failure>() != nullptr);
      CHECK(!pump.saw_end);
    }
  }
  GIVEN("input after its end, and a guest that does not confirm") {
    pump.when_cancelled = tl::unexpected{guest::failure{guest::cancellation_unknown{"silence", std::nullopt, std::nullopt}}};
    auto it = told{};
    pumped->start(3, where, run_job{command(true)}, until, it.events());
    go();
    pumped->input(3, many(1), true);
    pumped->input(3, many(1), false);
    go();
    THEN("that the command may still be running outweighs it") {
      CHECK(it.failed<guest::cancellation_unknown>() != nullptr);
    }
  }
}

SCENARIO("a command withdrawn while it waits for input does not see an end of input") {
  auto it = told{};
  pumped->start(1, where, run_job{command(true)}, until, it.events());
  pump.step();
  go();
  pumped->cancel(1);
  go();
  CHECK(pump.aborted);
  CHECK(!pump.saw_end);
  CHECK(it.failed<guest::withdrawn>() != nullptr);
}

SCENARIO("input that does not come in time is not the end of input") {
  auto it = told{};
  pumped->start(1, where, run_job{command(true)}, until, it.events());
  pump.step();
  go();
  time.advance(std::chrono::seconds{60});
  go();
  CHECK(pump.aborted);
  CHECK(!pump.saw_end);
  CHECK(it.ended());
}

// -- files --------------------------------------------------------------------------

SCENARIO("a file is read whole and handed on against credit") {
  guests.files["f"] = std::string(70'000, 'f');
  auto it = told{};
  port->start(1, where, read_job{"f", {}}, until, it.events());
  port->grant(1, 10);
  go();
  CHECK_EQ(it.output, std::string(10, 'f'));
  REQUIRE_EQ(guests.calls.size(), 1u);
  CHECK(guests.calls.front().until == until);
  port->grant(1, 100'000);
  go();
  CHECK_EQ(it.pieces, (std::vector<std::size_t>{10, 65'536, 4'454}));
  REQUIRE(it.well());
  CHECK_EQ(it.ends.front()->size, 70'000u);
  CHECK_EQ(it.ends.front()->boot, guests.boot);
}

SCENARIO("an empty file needs no credit") {
  guests.files["f"] = "";
  auto it = told{};
  port->start(1, where, read_job{"f", {}}, until, it.events());
  go();
  REQUIRE(it.well());
  CHECK_EQ(it.ends.front()->size, 0u);
  CHECK(it.pieces.empty());
}

SCENARIO("a read that fails says why") {
  auto it = told{};
  port->start(1, where, read_job{"none", {}}, until, it.events());
  go();
  const auto* why = it.failed<guest::refused>();
  REQUIRE(why != nullptr);
  CHECK_EQ(why->code, "ENOENT");
  auto thrown = told{};
  pumped->start(2, where, read_job{"none", {}}, until, thrown.events());
  go();
  CHECK(thrown.failed<guest::lost>() != nullptr);
}

SCENARIO("a read withdrawn or out of time while it hands on has not read the file") {
  guests.files["f"] = "abc";
  auto one = told{};
  auto two = told{};
  port->start(1, where, read_job{"f", {}}, until, one.events());
  port->start(2, where, read_job{"f", {}}, until, two.events());
  port->grant(2, 1);
  go();
  port->cancel(1);
  go();
  CHECK(one.failed<guest::withdrawn>() != nullptr);
  CHECK(two.ends.empty());
  time.advance(std::chrono::seconds{60});
  go();
  CHECK_EQ(two.output, "a");
  CHECK(two.failed<guest::lost>() != nullptr);
}

SCENARIO("a write collects its input and then writes once") {
  auto it = told{};
  port->start(1, where, write_job{"f", {}}, until, it.events());
  go();
  CHECK_EQ(it.wants, std::vector<std::size_t>{262'144});
  port->input(1, to_bytes("abc"), false);
  go();
  CHECK_EQ(it.wanted(), 262'144u + 3u);
  port->input(1, to_bytes("def"), false);
  go();
  CHECK(guests.calls.empty());
  port->input(1, to_bytes("g"), true);
  go();
  CHECK_EQ(guests.count(op::write), 1u);
  CHECK_EQ(guests.files["f"], "abcdefg");
  CHECK(guests.calls.front().until == until);
  REQUIRE(it.well());
  CHECK_EQ(it.ends.front()->size, 7u);
  CHECK_EQ(it.ends.front()->boot, guests.boot);
}

SCENARIO("an empty file is written") {
  auto it = told{};
  port->start(1, where, write_job{"f", {}}, until, it.events());
  go();
  port->input(1, {}, true);
  go();
  CHECK(it.well());
  CHECK(guests.files.contains("f"));
}

SCENARIO("a write that is withdrawn, out of time or given too much while it collects writes nothing") {
  auto one = told{};
  auto two = told{};
  auto three = told{};
  for (auto* x : {&one, &two, &three})
    port->start(x == &one ? 1 : x == &two ? 2 : 3, where, write_job{"f", {}}, until, x->events());
  go();
  port->input(1, to_bytes("abc"), false);
  port->cancel(1);
  port->input(3, many(input_window + 1), true);
  go();
  CHECK(one.failed<guest::withdrawn>() != nullptr);
  CHECK(three.failed<guest::protocol_failure>() != nullptr);
  CHECK(two.ends.empty());
  time.advance(std::chrono::seconds{60});
  go();
  CHECK(two.failed<guest::lost>() != nullptr);
  CHECK(guests.calls.empty());
}

SCENARIO("a write withdrawn while the guest writes says what the guest's host says") {
  guests.on_write = [](const guest_call&) { return std::nullopt; };
  auto it = told{};
  port->start(1, where, write_job{"f", {}}, until, it.events());
  go();
  port->input(1, {}, true);
  go();
  REQUIRE(guests.pending(0));
  port->cancel(1);
  go();
  CHECK(it.failed<guest::lost>() != nullptr);
}

END_FIXTURE_SCOPE()
