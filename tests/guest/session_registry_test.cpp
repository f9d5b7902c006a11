#define CAF_SUITE session_registry

#include "guest/session_registry.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace std::chrono_literals;
using guest::session_registry;

namespace {

const auto start = time_source::clock::time_point{} + 1h;

std::string joined(const std::vector<std::string>& x) {
  auto result = std::string{};
  for (const auto& each : x)
    result += each + " ";
  return result;
}

void run(session_registry& into, const std::string& id) {
  into.create(id);
  into.run(id);
}

} // namespace

SCENARIO("an id is taken from the moment its session is being started") {
  auto registry = session_registry{{2, 10min}};
  registry.create("a");
  CHECK(registry.taken("a"));
  CHECK_EQ(joined(registry.ids()), ""); // not yet for those who ask about it
  CHECK_EQ(registry.live(), 1U);
  registry.run("a");
  CHECK_EQ(joined(registry.ids()), "a ");
}

SCENARIO("a session whose program could not be started leaves nothing") {
  auto registry = session_registry{{1, 10min}};
  registry.create("a");
  CHECK(!registry.has_room());
  registry.withdraw("a");
  CHECK(!registry.taken("a"));
  CHECK(registry.has_room());
  run(registry, "a");
  registry.withdraw("a"); // it runs: there is nothing to withdraw
  CHECK(registry.taken("a"));
}

SCENARIO("exited sessions make room, the soonest to expire first, and running ones never do") {
  auto registry = session_registry{{3, 10min}};
  for (const auto* id : {"a", "b", "c"})
    run(registry, id);
  CHECK(!registry.has_room());
  registry.leave("c", start);
  registry.leave("b", start + 1s);
  CHECK(registry.has_room());
  CHECK_EQ(joined(registry.create("d")), "c ");
  registry.run("d");
  CHECK_EQ(joined(registry.create("e")), "b ");
  registry.run("e");
  CHECK(!registry.has_room());
  CHECK_EQ(joined(registry.ids()), "a d e ");
}

SCENARIO("an exited session expires, a running one does not") {
  auto registry = session_registry{{3, 10min}};
  run(registry, "a");
  run(registry, "b");
  registry.leave("a", start);
  registry.leave("a", start + 1min); // it has left already
  CHECK_EQ(joined(registry.prune(start + 10min - 1ms)), "");
  CHECK_EQ(joined(registry.prune(start + 10min)), "a ");
  CHECK(!registry.taken("a"));
  CHECK_EQ(joined(registry.prune(start + 1000h)), "");
  CHECK(registry.taken("b"));
}
