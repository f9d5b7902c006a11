// exec_round_trip: p50 of `true` run through a node by a client that addresses it as a remote actor, divided by p50 of the
// same request sent straight to the same guest. Both are measured in turns in one run: embedded cluster, node and client
// over loopback TCP, a real guest process.

#include "apps/paddockd/host.hpp"
#include "base/flows/io_lane.hpp"
#include "base/flows/sleep.hpp"
#include "bench/report.hpp"
#include "client/node.hpp"
#include "client/stream.hpp"
#include "embedded/flows/cluster.hpp"
#include "guest/flows/transport.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/paths.hpp"
#include "messages/error.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <filesystem>

namespace {

using namespace paddock;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr auto rounds = 300;
constexpr auto warm_up = 30;

class no_output final : public guest::output_sink {
public:
  boost::asio::awaitable<void> take(guest::stream, std::string) override {
    co_return;
  }
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "exec_round_trip: " << why << '\n';
  std::exit(1);
}

boost::asio::awaitable<k8s::result<k8s::answer>> read_pod(k8s::api& api, std::string path, deadline until) {
  co_return co_await api.send(k8s::get(std::move(path)), until);
}

boost::asio::awaitable<bool> run_straight(guest::host& guests, guest::endpoint where, deadline until) {
  no_output output;
  guest::command what;
  what.program = "true";
  auto got = co_await guests.execute(std::move(where), std::move(what), output, nullptr, until);
  co_return got && got->end.exit_code == 0;
}

bool run_through(const client::remote_node& by) {
  run_spec what;
  what.program = "true";
  const auto got = client::run_stream(by.workspace("bench"), what, {-1, 1, 2});
  const auto* end = std::get_if<call_end>(&got.how);
  return end && end->exit_code == 0;
}

} // namespace

int main() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  register_messages();

  embedded::cluster_options wanted;
  wanted.guest_program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "paddock-guest";
  wanted.log = [](const std::string&) {};
  auto cluster = embedded::start_cluster(wanted);
  if (!cluster)
    give_up(cluster.error());
  host_options how;
  how.access = {(*cluster)->server(), {}, k8s::fixed_token((*cluster)->token()), "default"};
  how.how.name_space = "default";
  how.how.template_name = "default";
  how.how.agent_address = workspace::settings::address::pod_ip;
  how.how.ingress.verify = false; // the embedded cluster enforces no policy
  how.port = 0;
  how.warn = [](const std::string& text) { std::cerr << text << '\n'; };
  auto node = start_host(how);
  if (!node)
    give_up(node.error());
  client::options place;
  place.port = (*node)->port();
  auto by = client::remote_node::connect(place);
  if (!by)
    give_up(by.error().message);
  auto opened = by->workspace("bench").within(60s).open();
  if (!opened)
    give_up(opened.error().message);

  // The guest's own address, from the pod itself.
  real_flow_time time;
  io_lane lane;
  auto exchange = make_http_exchange(time);
  auto api = k8s::make_api_client(*exchange, time, {how.access.server, {}, how.access.credentials, 30'000, {}}).value();
  auto pod =
    boost::asio::co_spawn(lane.context(), read_pod(*api, k8s::pods_path("default", opened->view.sandbox_name), deadline(time, 10s)),
                          boost::asio::use_future)
      .get();
  if (!pod || !*pod)
    give_up("no pod");
  const guest::endpoint where{(**pod)["status"]["podIP"].get<std::string>(), 1024, secret{opened->view.pod_uid}};
  auto guests = guest::make_host(time);

  std::vector<double> through;
  std::vector<double> straight;
  for (auto i = 0; i < warm_up + rounds; ++i) {
    auto begun = clock_type::now();
    if (!run_through(*by))
      give_up("an exec through the node failed");
    const auto one = std::chrono::duration<double, std::micro>(clock_type::now() - begun).count();
    begun = clock_type::now();
    if (!boost::asio::co_spawn(lane.context(), run_straight(*guests, where, deadline(time, 10s)), boost::asio::use_future).get())
      give_up("an exec straight to the guest failed");
    const auto other = std::chrono::duration<double, std::micro>(clock_type::now() - begun).count();
    if (i < warm_up)
      continue;
    through.push_back(one);
    straight.push_back(other);
  }
  std::cerr << "exec_round_trip: p50 through the node " << median(through) << " us, straight " << median(straight) << " us\n";
  bench::report("exec_round_trip", median(through) / median(straight), "ratio", 1.5);
  (*node)->stop(2s);
  std::promise<void> ended;
  (*cluster)->stop([&ended] { ended.set_value(); });
  ended.get_future().wait_for(5s);
  std::_Exit(0);
}
