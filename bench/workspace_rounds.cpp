// workspace_rounds: 200 workspaces at once, each opened, used, suspended, resumed and removed with its disk, 20 rounds, in the programs
// paddockd and paddock-cluster with real guests. No step may fail, and what the programs hold may not grow from round to round:
// descriptors, processes, threads, memory. The first rounds are not compared: a program keeps what it has once needed.

#include "bench/remote_node.hpp"
#include "bench/report.hpp"

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto rounds = 20;
constexpr auto settled_after = 8; // rounds
constexpr auto together = std::size_t{200};

std::size_t entries_of(pid_t pid, const char* what) {
  auto got = std::size_t{0};
  for ([[maybe_unused]] const auto& x : fs::directory_iterator{"/proc/" + std::to_string(pid) + "/" + what})
    ++got;
  return got;
}

std::size_t children_of(pid_t pid) {
  auto got = std::size_t{0};
  for (const auto& task : fs::directory_iterator{"/proc/" + std::to_string(pid) + "/task"}) {
    auto in = std::ifstream{task.path() / "children"};
    for (auto child = 0; in >> child;)
      ++got;
  }
  return got;
}

struct holdings {
  std::size_t descriptors = 0;
  std::size_t processes = 0;
  std::size_t threads = 0;
  double node_mib = 0;
  double cluster_mib = 0;
};

holdings of(const remote_node& on) {
  auto got = holdings{};
  for (const auto* x : {&on.node_program(), &on.cluster_program()}) {
    got.descriptors += entries_of(x->pid(), "fd");
    got.processes += children_of(x->pid());
    got.threads += entries_of(x->pid(), "task");
  }
  got.node_mib = on.node_program().resident_kib() / 1024;
  got.cluster_mib = on.cluster_program().resident_kib() / 1024;
  return got;
}

/// What is held once connections that were kept have grown old and pods that ended are forgotten.
holdings settled(const remote_node& on) {
  auto got = of(on);
  for (auto waited = 0; waited < 100 && got.processes > 0; ++waited) {
    ::usleep(100'000);
    got = of(on);
  }
  return got;
}

} // namespace

int main() {
  auto on = remote_node{};
  auto names = std::vector<std::string>{};
  for (auto i = std::size_t{0}; i < together; ++i)
    names.push_back("w" + std::to_string(i));
  auto failures = std::size_t{0};
  auto before = holdings{};
  auto now = holdings{};
  for (auto round = 1; round <= rounds; ++round) {
    const auto start = clock_type::now();
    failures += live_all(on, names, together, {true, true});
    now = settled(on);
    std::cerr << "round " << round << ": " << seconds_since(start) << " s, " << now.descriptors << " descriptors, " << now.processes
              << " processes, " << now.threads << " threads, node " << now.node_mib << " MiB, cluster " << now.cluster_mib << " MiB\n";
    if (round == settled_after)
      before = now;
  }
  const auto grown = [](std::size_t from, std::size_t to) { return static_cast<double>(to) - static_cast<double>(from); };
  report("workspace_rounds_failures", static_cast<double>(failures), "workspaces", 0);
  report("workspace_rounds_processes", static_cast<double>(now.processes), "processes", 0);
  report("workspace_rounds_threads", grown(before.threads, now.threads), "threads", 0);
  report("workspace_rounds_descriptors", grown(before.descriptors, now.descriptors), "descriptors", 0);
  report("workspace_rounds_node", now.node_mib - before.node_mib, "MiB", 4);
  report("workspace_rounds_cluster", now.cluster_mib - before.cluster_mib, "MiB", 4);
}
