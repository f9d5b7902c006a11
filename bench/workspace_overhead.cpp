// workspace_overhead: what a node adds to the requests of a verb, p99 of pairs: the verb through the node, and then the same requests sent
// back to back by the same client on the same connections. An open of a workspace that runs and of which the node holds no session; and a
// resume, which both wait out until the cluster has a pod. With an embedded cluster and real guests in this process.

#include "bench/host_world.hpp"
#include "bench/report.hpp"
#include "guest/privilege_probe.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto warm_up = 10;
constexpr auto opens = 300;
constexpr auto resumes = 100;
constexpr auto epoch_path = "/metadata/annotations/sandbox.namzu.ai~1holder-epoch";

class no_output final : public guest::output_sink {
public:
  awaitable<void> take(guest::stream, std::string) override {
    co_return;
  }
};

awaitable<json> request(host_world& here, k8s::call what) {
  auto got = co_await here.api().send(std::move(what), deadline{here.time(), 60s});
  // A create of what stands is refused, as it was in the verb.
  co_return got ? got->value_or(json{}) : json{};
}

awaitable<bool> probe(host_world& here, json pod) {
  auto output = no_output{};
  auto what = guest::command{};
  what.program = guest::probe_program;
  what.arguments = {std::string{guest::probe_argument}};
  auto where = guest::endpoint{pod["status"]["podIP"].get<std::string>(), 1024, secret{pod["metadata"]["uid"].get<std::string>()}};
  const auto got = co_await here.guests().execute(std::move(where), std::move(what), output, nullptr, deadline{here.time(), 60s});
  co_return got && got->end.exit_code == 0;
}

/// A patch that is sent once more: the epoch that it wrote stands now, and is what it tests.
k8s::call again(k8s::call what) {
  if (what.type != k8s::call::content::json_patch)
    return what;
  auto written = json{};
  for (const auto& x : what.body)
    if (x["op"] == "add" && x["path"] == epoch_path)
      written = x["value"];
  for (auto& x : what.body)
    if (x["op"] == "test" && x["path"] == epoch_path)
      x["value"] = written;
  return what;
}

/// The requests of an open, and the probe where the verb had it: once it had read the pod for the last time.
awaitable<bool> open_bare(host_world& here, std::vector<k8s::call> trace) {
  auto last_pod = trace.size();
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (trace[i].path.find("/pods/") != std::string::npos)
      last_pod = i;
  auto fine = false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    auto got = co_await request(here, again(std::move(trace[i])));
    if (i == last_pod)
      fine = co_await probe(here, std::move(got));
  }
  co_return fine;
}

bool is_ready(const json& sandbox) {
  const auto status = sandbox.value("status", json::object());
  for (const auto& x : status.value("conditions", json::array()))
    if (x.value("type", "") == "Ready")
      return x.value("status", "") == "True";
  return false;
}

/// Trace of a resume: the Sandbox, the wake-up, the Sandbox until it is ready, the pod until it is there, the probe.
awaitable<bool> resume_bare(host_world& here, std::string sandbox) {
  const auto path = k8s::sandboxes_path("default", sandbox);
  const auto seen = co_await request(here, k8s::get(path));
  auto patch = json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", seen["metadata"]["uid"]}},
                            {{"op", "test"}, {"path", "/spec/operatingMode"}, {"value", "Suspended"}},
                            {{"op", "add"}, {"path", "/spec/operatingMode"}, {"value", "Running"}}});
  co_await request(here, k8s::json_patch(path, std::move(patch)));
  for (auto ready = false; !ready;) {
    co_await here.time().sleep_until(here.time().now() + 1ms); // the cluster has work to do meanwhile
    const auto now = co_await request(here, k8s::get(path));
    ready = is_ready(now);
  }
  auto pod = json{};
  while (!pod.is_object() || pod.value("status", json::object()).value("podIP", "").empty())
    pod = co_await request(here, k8s::get(k8s::pods_path("default", sandbox)));
  co_return co_await probe(here, std::move(pod));
}

template <class What>
double milliseconds_of(What what) {
  const auto start = clock_type::now();
  what();
  return seconds_since(start) * 1e3;
}

struct pairs {
  void add(double through, double bare) {
    added.push_back(through - bare);
    node.push_back(through);
    straight.push_back(bare);
  }
  void say(const std::string& name) const {
    std::cerr << name << ": through the node p50 " << quantile(node, 0.5) << " p99 " << quantile(node, 0.99) << " ms, bare p50 "
              << quantile(straight, 0.5) << " p99 " << quantile(straight, 0.99) << " ms, added p50 " << quantile(added, 0.5) << " ms\n";
    report(name, quantile(added, 0.99), "ms", 20);
  }
  std::vector<double> added;
  std::vector<double> node;
  std::vector<double> straight;
};

void measure_opens(host_world& here) {
  auto got = pairs{};
  here.open("desk");
  for (auto i = 0; i < warm_up + opens; ++i) {
    here.wait_until_idle();
    static_cast<void>(here.requests().take());
    const auto through = milliseconds_of([&] { here.open("desk"); });
    auto trace = here.requests().take();
    const auto bare = milliseconds_of([&] {
      if (!here.run(open_bare(here, std::move(trace))))
        give_up("the guest of a bare open does not answer");
    });
    if (i >= warm_up)
      got.add(through, bare);
  }
  got.say("workspace_overhead_open");
}

void measure_resumes(host_world& here) {
  auto got = pairs{};
  const auto sandbox = here.open("lamp").view.sandbox_name;
  for (auto i = 0; i < warm_up + resumes; ++i) {
    here.suspend("lamp");
    const auto through = milliseconds_of([&] { here.resume("lamp"); });
    here.suspend("lamp");
    const auto bare = milliseconds_of([&] {
      if (!here.run(resume_bare(here, sandbox)))
        give_up("the guest of a bare resume does not answer");
    });
    if (i >= warm_up)
      got.add(through, bare);
  }
  got.say("workspace_overhead_resume");
}

} // namespace

int main() {
  auto here = host_world{20ms};
  measure_opens(here);
  measure_resumes(here);
  std::_Exit(0);
}
