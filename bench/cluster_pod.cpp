// cluster_pod: the program paddock-cluster with its kubelet. Pods one after another, from the POST until one is Ready and its guest has
// run a command; then 1,000 at once, each of which must come to that without a restart.

#include "bench/cluster_client.hpp"
#include "bench/report.hpp"
#include "embedded/bootstrap.hpp"
#include "guest/flows/hosts.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;
using nlohmann::json;

const std::string pods = "/api/v1/namespaces/default/pods";
constexpr auto one_by_one = std::size_t{50};
constexpr auto together = std::size_t{1000};
constexpr auto at_once = std::size_t{16};
constexpr auto patience = 120s;

/// The pod of the default template, without a disk.
json pod_of(const std::string& name) {
  static const auto from = embedded::make_default_template("default").body["spec"]["podTemplate"]["spec"];
  auto spec = from;
  spec["containers"][0].erase("volumeDevices");
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

bool is_ready(const json& pod) {
  const auto status = pod.value("status", json::object());
  for (const auto& x : status.value("conditions", json::array()))
    if (x.value("type", "") == "Ready")
      return x.value("status", "") == "True";
  return false;
}

class no_output final : public guest::output_sink {
public:
  awaitable<void> take(guest::stream, std::string) override {
    co_return;
  }
};

awaitable<void> sleep_for(clock_type::duration length) {
  auto pause = boost::asio::steady_timer{co_await boost::asio::this_coro::executor, length};
  co_await pause.async_wait(boost::asio::use_awaitable);
}

/// Reads it until it is ready, every `every`.
awaitable<json> ready_pod(client& by, std::string name, clock_type::duration every) {
  const auto end = clock_type::now() + patience;
  for (;;) {
    auto pod = co_await by.ask(k8s::get(pods + "/" + name));
    if (is_ready(pod))
      co_return pod;
    if (clock_type::now() > end)
      give_up(name + " does not become ready: " + pod["status"].dump());
    co_await sleep_for(every);
  }
}

/// Whether its guest runs a command and was never started again.
awaitable<bool> answers(guest::host& guests, const time_source& time, json pod) {
  auto output = no_output{};
  auto what = guest::command{};
  what.program = "true";
  auto where = guest::endpoint{pod["status"]["podIP"].get<std::string>(), 1024, secret{pod["metadata"]["uid"].get<std::string>()}};
  const auto got = co_await guests.execute(std::move(where), std::move(what), output, nullptr, deadline{time, 30s});
  co_return got && got->end.exit_code == 0 && pod["status"]["containerStatuses"][0]["restartCount"] == 0;
}

awaitable<void> measure_each(client& by, guest::host& guests, std::vector<double>& into) {
  for (auto i = std::size_t{0}; i < one_by_one; ++i) {
    const auto name = "p" + std::to_string(i);
    const auto start = clock_type::now();
    co_await by.ask(k8s::post(pods, pod_of(name)));
    auto pod = co_await ready_pod(by, name, 1ms);
    auto fine = co_await answers(guests, by.time(), std::move(pod));
    if (!fine)
      give_up("the guest of " + name + " does not answer");
    into.push_back(seconds_since(start) * 1e3);
  }
}

awaitable<void> make_some(client& by, std::size_t& next) {
  while (next < together)
    co_await by.ask(k8s::post(pods, pod_of("m" + std::to_string(next++))));
}

awaitable<void> check_some(client& by, guest::host& guests, std::size_t& next, std::size_t& failed) {
  while (next < together) {
    const auto name = "m" + std::to_string(next++);
    auto pod = co_await ready_pod(by, name, 100ms);
    auto fine = co_await answers(guests, by.time(), std::move(pod));
    failed += fine ? 0 : 1;
  }
}

} // namespace

int main() {
  const auto folder = temporary_folder{};
  const auto file = (folder.path() / "kubeconfig").string();
  const auto cluster = served_program{{"paddock-cluster", "--quiet", "--kubeconfig-out", file}};
  auto to = k8s::read_kubeconfig(file);
  if (!to)
    give_up(to.error());
  auto by = client{std::move(*to)};
  const auto guests = guest::make_hosts(by.time());
  auto took = std::vector<double>{};
  by.run(flows_of(measure_each(by, *guests.commands, took)));
  std::cerr << "a pod: p99 " << quantile(took, 0.99) << " ms\n";
  report("cluster_pod_p50", quantile(took, 0.5), "ms", 100);
  const auto start = clock_type::now();
  auto made = std::size_t{0};
  auto makers = std::vector<awaitable<void>>{};
  for (auto i = std::size_t{0}; i < at_once; ++i)
    makers.push_back(make_some(by, made));
  by.run(std::move(makers));
  auto seen = std::size_t{0};
  auto failed = std::size_t{0};
  auto checkers = std::vector<awaitable<void>>{};
  for (auto i = std::size_t{0}; i < at_once; ++i)
    checkers.push_back(check_some(by, *guests.commands, seen, failed));
  by.run(std::move(checkers));
  std::cerr << together << " pods after " << seconds_since(start) << " s\n";
  report("cluster_pod_failures", static_cast<double>(failed), "pods", 0);
}
