// idle_workspaces: bytes of resident memory per known idle workspace, for 10,000 that a NODE holds with a live session each.
// The cluster behind the ports is left out: it answers every open at once with a session as large as a real one.

#include "actors/node.hpp"
#include "bench/instant_ports.hpp"
#include "bench/report.hpp"
#include "messages/error.hpp"
#include "remoting/actor_config.hpp"

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;

constexpr auto count = 10'000;

} // namespace

int main() {
  register_messages();
  instant_transitions transitions;
  no_inventory inventory;
  no_guests guests;
  const real_time time;
  actor_world world{transitions, inventory, guests, time, "default", [](const std::string&) {}};
  actor_config config{{}, 2};
  caf::actor_system system{config};
  node_info about;
  about.shards = 64;
  auto node = system.spawn<node_impl>(std::ref(world), about);
  caf::scoped_actor self{system};
  auto open = [&](int i) {
    self->request(node, caf::infinite, atom::open_v, "w" + std::to_string(i), open_spec{}, caf::timespan{60s})
      .receive([](const opened_view&) {},
               [](const caf::error& why) {
                 std::cerr << "idle_workspaces: " << to_string(why) << '\n';
                 std::exit(1);
               });
  };
  for (auto i = 0; i < 100; ++i) // so that what is allocated once is there before
    open(count + i);
  const auto before = resident_bytes();
  for (auto i = 0; i < count; ++i)
    open(i);
  const auto after = resident_bytes();
  report("idle_workspaces", static_cast<double>(after - before) / count, "bytes", 4096);
  std::_Exit(0);
}
