// open_workspaces: memory of a node for a workspace. 1,000 that are open, each with a real guest that has run a command, in the programs
// paddockd and paddock-cluster: of the node alone. And 100,000 that a NODE knows and nobody uses: it has had a session of each and has let
// go of it, and its watch has them all; the cluster behind the ports is left out.

#include "actors/node.hpp"
#include "bench/instant_ports.hpp"
#include "bench/remote_node.hpp"
#include "bench/report.hpp"
#include "bench/sandboxes.hpp"

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;

constexpr auto open = std::size_t{1'000}; // the cluster's one machine has room for 1,024 pods
constexpr auto first = std::size_t{20};   // so that what is made once is there before
constexpr auto idle = std::size_t{100'000};

std::vector<std::string> names(const std::string& begin, std::size_t many) {
  auto got = std::vector<std::string>{};
  for (auto i = std::size_t{0}; i < many; ++i)
    got.push_back(begin + std::to_string(i));
  return got;
}

void measure_open() {
  auto on = remote_node{};
  auto failures = live_all(on, names("a", first), 4, {});
  const auto before = on.node_program().resident_kib();
  const auto start = clock_type::now();
  failures += live_all(on, names("w", open), 16, {});
  std::cerr << "open_workspaces: " << open << " open after " << seconds_since(start) << " s\n";
  if (failures > 0)
    give_up("not all of them were opened");
  report("open_workspaces_session", (on.node_program().resident_kib() - before) / static_cast<double>(open), "KiB", 32);
}

/// A cluster in which so many Sandboxes stand and nothing ever changes.
class still_watch final : public k8s::watch_port {
public:
  void start(workspace::ticket, k8s::watched, std::function<void(k8s::watch_news)> tell) override {
    const auto keeps = k8s::sandbox_projection();
    auto all = std::vector<k8s::kept>{};
    for (auto i = std::size_t{0}; i < idle; ++i) {
      const auto name = "namzu-ws-w" + std::to_string(i);
      auto object = box(name);
      object.update(status_of(name));
      object["metadata"].update(
        {{"uid", "5e2c7a10-94bd-4c3f-a1d8-" + name}, {"resourceVersion", std::to_string(i + 1)}, {"generation", 1}});
      all.push_back(std::make_shared<const k8s::kept_object>(keeps.of(object), k8s::kept_object::form::packed));
    }
    tell(k8s::watch_listed{std::move(all), "1"});
  }
  void stop(workspace::ticket) override {
  }
};

void measure_idle() {
  auto transitions = instant_transitions{};
  auto inventory = no_inventory{};
  auto guests = no_guests{};
  auto watches = still_watch{};
  const auto time = real_time{};
  auto world = actor_world{transitions, inventory, guests, time, "default", [](const std::string&) {}};
  world.idle_after = 1s;
  world.watches = &watches;
  const auto config = std::make_unique<actor_config>(remoting_tls{}, 2);
  auto system = caf::actor_system{*config};
  auto about = node_info{};
  about.name_space = "default";
  about.shards = 64;
  const auto before = resident_bytes();
  auto node = system.spawn<node_impl>(std::ref(world), about);
  auto self = caf::scoped_actor{system};
  const auto failed = [](const caf::error& why) { give_up(to_problem(why).message); };
  for (auto i = std::size_t{0}; i < idle; ++i)
    self->request(node, caf::infinite, atom::open_v, "w" + std::to_string(i), open_spec{}, caf::timespan{60s})
      .receive([](const opened_view&) {}, failed);
  for (auto alive = std::uint64_t{1}; alive > 0; ::usleep(100'000))
    self->request(node, caf::infinite, atom::info_v).receive([&alive](const node_info& x) { alive = x.workspaces; }, failed);
  report("open_workspaces_idle", static_cast<double>(resident_bytes() - before) / static_cast<double>(idle), "bytes", 4096);
  std::_Exit(0);
}

} // namespace

int main() {
  measure_open();
  measure_idle();
}
