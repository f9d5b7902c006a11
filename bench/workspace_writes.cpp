// workspace_writes: how many requests that change the cluster a node sends for one create, one suspend and one resume, the most of 20
// workspaces; from the log of its requests, with an embedded cluster and real guests.

#include "bench/host_world.hpp"
#include "bench/report.hpp"

namespace {

using namespace paddock;
using namespace paddock::bench;

std::size_t writes_in(const std::vector<k8s::call>& all) {
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const k8s::call& x) { return x.method != "GET"; }));
}

} // namespace

int main() {
  auto here = host_world{};
  auto create = std::size_t{0};
  auto suspend = std::size_t{0};
  auto resume = std::size_t{0};
  for (auto i = 0; i < 20; ++i) {
    const auto which = "w" + std::to_string(i);
    static_cast<void>(here.requests().take());
    here.open(which);
    create = std::max(create, writes_in(here.requests().take()));
    here.suspend(which);
    suspend = std::max(suspend, writes_in(here.requests().take()));
    here.resume(which);
    resume = std::max(resume, writes_in(here.requests().take()));
  }
  report("workspace_writes_create", static_cast<double>(create), "requests", 1);
  report("workspace_writes_suspend", static_cast<double>(suspend), "requests", 1);
  report("workspace_writes_resume", static_cast<double>(resume), "requests", 1);
  std::_Exit(0);
}
