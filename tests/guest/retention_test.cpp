#define CAF_SUITE retention

#include "guest/execution_registry.hpp"
#include "guest/execution_request.hpp"
#include "guest/replies.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <string>

using namespace paddock;
using namespace std::chrono_literals;

namespace {

using registry = guest::execution_registry;
using guest::stream;

std::string id_of(int n) {
  auto text = std::to_string(n);
  return "exec_5e2c7a10-94bd-4c3f-a1d8-" + std::string(12 - text.size(), '0') + text;
}

const auto start = registry::time_point{1000s};

/// A registry whose terminal records without a log live 60 s, those with one 600 s.
struct fixture {
  explicit fixture(std::uint64_t logs = 32, std::uint64_t size = 1024) : all({30'000ms, 60'000ms, size, 600'000ms, 8, logs}) {
  }

  void begin(int n, bool retain = true) {
    REQUIRE(all.reserve(id_of(n), "", now).has_value());
    REQUIRE(all.begin(id_of(n), now, retain).has_value());
    REQUIRE(all.run(id_of(n)));
  }
  void end(int n) {
    auto how = guest::execution_end{};
    how.started = true;
    all.settle(id_of(n), how, now);
  }
  const registry::record& at(int n) {
    const auto* found = all.find(id_of(n), now);
    if (found == nullptr)
      throw std::runtime_error{"no record"};
    return *found;
  }
  bool knows(int n) {
    return all.find(id_of(n), now) != nullptr;
  }

  registry all;
  registry::time_point now = start;
};

} // namespace

SCENARIO("only a retained execution has a log, from its beginning") {
  auto f = fixture{};
  REQUIRE(f.all.reserve(id_of(1), "", f.now).has_value());
  CHECK(f.at(1).log == nullptr);
  REQUIRE(f.all.begin(id_of(1), f.now, true).has_value());
  REQUIRE(f.at(1).log != nullptr);
  f.at(1).log->append(stream::out, "0123456789");
  CHECK_EQ(f.at(1).log->dropped_bytes(), 2u); // its budget is the one of the limits
  f.begin(2, false);
  CHECK(f.at(2).log == nullptr);
}

SCENARIO("a reservation tells where the log of a retained execution ends") {
  auto f = fixture{};
  CHECK(!f.all.reserve(id_of(1), "", f.now)->output_offset);
  f.begin(2);
  CHECK(f.all.reserve(id_of(2), "", f.now)->output_offset == 0u);
  f.at(2).log->append(stream::err, "0123456789");
  CHECK(f.all.reserve(id_of(2), "", f.now)->output_offset == 10u);
  f.end(2);
  CHECK(f.all.reserve(id_of(2), "", f.now)->output_offset == 10u);
}

SCENARIO("a terminal record lives longer with a log, cancelled before its start or not") {
  auto f = fixture{};
  f.begin(1, false);
  f.begin(2);
  REQUIRE(f.all.reserve(id_of(3), "", f.now).has_value());
  REQUIRE(f.all.begin(id_of(3), f.now, true).has_value());
  f.end(1);
  f.end(2);
  REQUIRE(f.all.cancel_unstarted(id_of(3), f.now));
  f.now = start + 59'999ms;
  CHECK(f.knows(1));
  f.now = start + 60s;
  CHECK(!f.knows(1));
  f.now = start + 599'999ms;
  CHECK(f.knows(2));
  CHECK(f.knows(3));
  f.now = start + 600s;
  CHECK(!f.knows(2));
  CHECK(!f.knows(3));
}

SCENARIO("a log that finds no slot is refused, and its reservation stays") {
  auto f = fixture{2};
  f.begin(1);
  f.begin(2);
  REQUIRE(f.all.reserve(id_of(3), "", f.now).has_value());
  auto begun = f.all.begin(id_of(3), f.now, true);
  REQUIRE(!begun);
  CHECK_EQ(begun.error(), "retained_output_capacity: limit 2 (NAMZU_AGENT_MAX_RETAINED_OUTPUT_LOGS)");
  CHECK(f.at(3).state == guest::execution_state::reserved);
  CHECK(f.at(3).expires == start + 30s);
  CHECK(f.all.begin(id_of(3), f.now, false).has_value());
}

SCENARIO("the logs of terminal executions are given up, the soonest to expire first, and their offsets stay") {
  auto f = fixture{3};
  for (auto n : {1, 2, 3}) {
    f.begin(n);
    f.at(n).log->append(stream::out, "0123456789");
  }
  f.now += 1s;
  f.end(2);
  f.now += 1s;
  f.end(1);
  f.begin(4);
  CHECK(f.at(2).discarded);
  CHECK_EQ(f.at(2).log->start_offset(), 10u);
  CHECK_EQ(f.at(2).log->end_offset(), 10u);
  CHECK(!f.at(1).discarded);
  CHECK_EQ(f.at(1).log->start_offset(), 2u);
  f.begin(5);
  CHECK(f.at(1).discarded);
  CHECK_EQ(f.at(3).log->start_offset(), 2u); // it runs
  REQUIRE(f.all.reserve(id_of(6), "", f.now).has_value());
  CHECK(!f.all.begin(id_of(6), f.now, true)); // no terminal one is left that holds bytes
  CHECK(f.all.reserve(id_of(1), "", f.now)->output_offset == 10u);
}

SCENARIO("who still reads a log keeps what was discarded") {
  auto f = fixture{1};
  f.begin(1);
  f.at(1).log->append(stream::out, "abc");
  f.end(1);
  auto reader = f.at(1).log;
  f.begin(2);
  CHECK_EQ(reader->start_offset(), 0u);
  CHECK_EQ(f.at(1).log->start_offset(), 3u);
}

SCENARIO("a full registry gives up a retained record like any other, the soonest to expire first") {
  auto f = fixture{32, 2};
  f.begin(1);
  f.begin(2, false);
  f.end(1);
  f.end(2);
  CHECK(f.all.reserve(id_of(3), "", f.now).has_value());
  CHECK(f.knows(1));
  CHECK(!f.knows(2));
}

SCENARIO("only the literal true retains") {
  auto read = [](nlohmann::json retain) {
    return guest::read_execution_request({{"command", "x"}, {"executionId", id_of(1)}, {"retainOutput", std::move(retain)}}, "/w",
                                         1'800'000)
      ->retain;
  };
  CHECK(read(true));
  CHECK(!read(false));
  CHECK(!read("true"));
  CHECK(!read(1));
  CHECK(!read(nullptr));
}

SCENARIO("what the guest says of retained output") {
  CHECK_EQ(guest::delta_event(stream::out, "caf\xc3\xa9", false, 7), R"({"type":"stdout_delta","data":"café","offset":7,"nextOffset":12})");
  CHECK_EQ(guest::delta_event(stream::err, "ab", true, 0),
           R"({"type":"stderr_delta","data":"YWI=","encoding":"base64","offset":0,"nextOffset":2})");
  CHECK_EQ(guest::delta_event(stream::err, "ab", true), R"({"type":"stderr_delta","data":"YWI=","encoding":"base64"})");
  CHECK_EQ(guest::attached_event("exec_x", guest::execution_state::exited, 5, 2),
           R"({"type":"attached","executionId":"exec_x","state":"exited","fromOffset":5,"droppedBytes":2})");
  auto how = guest::execution_end{};
  how.outcome = guest::execution_outcome::failed;
  how.started = true;
  how.error = "spawn nix ENOENT";
  CHECK_EQ(
    guest::attach_result_event("exec_x", how, 9),
    R"({"type":"attach_result","executionId":"exec_x","outcome":"failed","started":true,"error":"spawn nix ENOENT","nextOffset":9})");
  CHECK_EQ(guest::output_not_retained_event(guest::execution_state::reserved),
           R"({"type":"error","error":"output_not_retained","state":"reserved"})");
}
