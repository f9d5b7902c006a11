// cluster_scale: 100,000 Sandboxes, each with the status of one that runs, in the program paddock-cluster with a folder, and in the
// watch cache of a node beside it: memory of each, time of the node's list in pages, processor time of a write until the node
// has it with 1,000 and with 100,000, start from the folder. And paddockd --embedded when it is idle.

#include "base/flows/flow_group.hpp"
#include "bench/cluster_client.hpp"
#include "bench/report.hpp"
#include "bench/sandboxes.hpp"
#include "k8s/flows/watches.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <ctime>
#include <malloc.h>

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;
using nlohmann::json;

const std::string boxes = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes";
constexpr auto few = std::size_t{1'000};
constexpr auto many = std::size_t{100'000};
constexpr auto at_once = std::size_t{32};
constexpr auto writes = std::size_t{4'000};

std::string name_of(std::size_t i) {
  return "w" + std::to_string(i);
}

awaitable<void> fill(client& by, std::size_t& next, std::size_t end) {
  while (next < end) {
    const auto i = next++;
    co_await by.ask(k8s::post(boxes, box(name_of(i))));
    co_await by.ask(k8s::merge_patch(boxes + "/" + name_of(i) + "/status", status_of(name_of(i))));
  }
}

/// Sandboxes up to `end`; before it there are `next`.
void fill_up(client& by, std::size_t next, std::size_t end) {
  auto flows = std::vector<awaitable<void>>{};
  for (auto i = std::size_t{0}; i < at_once; ++i)
    flows.push_back(fill(by, next, end));
  by.run(std::move(flows));
}

/// What a node keeps of the Sandboxes, on the thread of its client.
class node {
public:
  explicit node(client& by) : by_(by), flows_(by.lane()), watches_(k8s::make_watches(by.api(), by.time(), flows_, k8s::real_chance)) {
    watches_->start(1, k8s::sandboxes_of("default"), [this](k8s::watch_news news) { take(std::move(news)); });
  }
  ~node() {
    auto over = false;
    flows_.close([&over] { over = true; });
    by_.run(flows_of(until(over)));
  }
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// Waits for the list.
  void listed() {
    by_.run(flows_of(until(listed_)));
  }
  [[nodiscard]] std::size_t size() const {
    return cache_.size();
  }
  /// Writes of Sandboxes far apart until the node has all of them.
  void hear_writes(std::size_t among) {
    heard_ = 0;
    by_.run(flows_of(write(among)));
  }

private:
  void take(k8s::watch_news news) {
    if (auto* all = std::get_if<k8s::watch_listed>(&news)) {
      cache_.replace(std::move(all->all), all->version, all->anew);
      listed_ = true;
    } else if (auto* one = std::get_if<k8s::watch_told>(&news)) {
      cache_.apply(one->what, std::move(one->object));
      ++heard_;
    } else if (std::get_if<k8s::watch_lost>(&news)) {
      give_up("the watch is lost");
    }
  }
  awaitable<void> write(std::size_t among) {
    for (auto i = std::size_t{0}; i < writes; ++i) {
      // One that changes nothing would not be told.
      auto change = json{{"metadata", {{"annotations", {{"bench", std::to_string(++written_)}}}}}};
      co_await by_.ask(k8s::merge_patch(boxes + "/" + name_of(i * 7919 % among), std::move(change)));
    }
    auto pause = boost::asio::steady_timer{co_await boost::asio::this_coro::executor};
    while (heard_ < writes) {
      pause.expires_after(1ms);
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
  }
  static awaitable<void> until(const bool& done) {
    auto pause = boost::asio::steady_timer{co_await boost::asio::this_coro::executor};
    while (!done) {
      pause.expires_after(1ms);
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
  }

  client& by_;
  flow_group flows_;
  std::unique_ptr<k8s::watch_port> watches_;
  k8s::object_cache cache_;
  bool listed_ = false;
  std::size_t heard_ = 0;
  std::size_t written_ = 0;
};

double own_resident_kib() {
  ::malloc_trim(0);
  return static_cast<double>(status_kib(::getpid(), "VmRSS"));
}

double own_busy() {
  auto now = timespec{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Microseconds of processor time, of the server and the node, from a write until the node has it.
double cost_of_event(const served_program& server, node& here, std::size_t among) {
  const auto before = server.busy() + own_busy();
  here.hear_writes(among);
  return (server.busy() + own_busy() - before) * 1e6 / static_cast<double>(writes);
}

void measure_idle() {
  const auto folder = temporary_folder{};
  const auto node = served_program{{"paddockd", "--embedded", "--listen", "127.0.0.1:0"}};
  report("cluster_scale_ready", node.ready_after(), "seconds", 1);
  ::sleep(2);
  report("cluster_scale_idle", node.resident_kib() / 1024, "MiB", 40);
}

} // namespace

int main() {
  measure_idle();
  const auto folder = temporary_folder{};
  const auto file = (folder.path() / "kubeconfig").string();
  const auto words =
    std::vector<std::string>{"paddock-cluster", "--server-only", "--quiet", "--data-dir", folder.path() / "data", "--kubeconfig-out", file};
  {
    const auto server = served_program{words};
    auto to = k8s::read_kubeconfig(file);
    if (!to)
      give_up(to.error());
    auto by = client{std::move(*to)};
    fill_up(by, 0, few);
    auto cost = 0.0;
    {
      auto here = node{by};
      here.listed();
      here.hear_writes(few); // so that what is done once is done
      cost = cost_of_event(server, here, few);
    }
    const auto before = server.resident_kib();
    const auto start = clock_type::now();
    fill_up(by, few, many);
    std::cerr << "filled in " << seconds_since(start) << " s\n";
    report("cluster_scale_server", (server.resident_kib() - before) / static_cast<double>(many - few), "KiB", 6);
    const auto without = own_resident_kib();
    const auto asked = clock_type::now();
    auto here = node{by};
    here.listed();
    report("cluster_scale_list", seconds_since(asked), "seconds", 5);
    if (here.size() != many)
      give_up("the list is short");
    report("cluster_scale_node", (own_resident_kib() - without) / static_cast<double>(many), "KiB", 4);
    here.hear_writes(many);
    const auto later = cost_of_event(server, here, many);
    std::cerr << "an event costs " << cost << " us among " << few << ", " << later << " us among " << many << '\n';
    report("cluster_scale_event", later / cost, "ratio", 1.3);
  }
  report("cluster_scale_start", served_program{words}.ready_after(), "seconds", 5);
}
