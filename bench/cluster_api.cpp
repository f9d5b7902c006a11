// cluster_api: the embedded API server beside a real kube-apiserver, asked by the same client in one run: create, get, JSON patch
// and list of 1,000, one after another, and 100 watchers of 1,000 events; then durable writes of 64 clients beside the bare
// SQLite. The real one is started by the program that PADDOCK_REALCLUSTER names, or ../shared/realcluster/up beside this clone;
// without it only the durable writes are measured.

#include "bench/cluster_client.hpp"
#include "bench/report.hpp"
#include "embedded/flows/cluster.hpp"
#include "k8s/flows/kubeconfig.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sqlite3.h>

#include <map>

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;
using nlohmann::json;

const std::string maps = "/api/v1/namespaces/default/configmaps";
constexpr auto objects = std::size_t{1000};
constexpr auto watchers = std::size_t{100};
constexpr auto repeats = 200;
constexpr auto event_every = 10ms;

json map_of(const std::string& name) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", {{"a", std::string(500, 'x')}}}};
}

/// Milliseconds of each request, by what was asked.
using figures = std::map<std::string, std::vector<double>>;

// -- one request after another ---------------------------------------------------------

awaitable<void> timed(client& by, std::vector<double>& into, k8s::call what) {
  const auto start = clock_type::now();
  co_await by.ask(std::move(what));
  into.push_back(seconds_since(start) * 1e3);
}

awaitable<void> one_by_one(client& by, figures& into) {
  for (auto i = std::size_t{0}; i < objects; ++i)
    co_await timed(by, into["create"], k8s::post(maps, map_of("m" + std::to_string(i))));
  for (auto i = std::size_t{0}; i < objects; ++i)
    co_await timed(by, into["get"], k8s::get(maps + "/m" + std::to_string(i)));
  for (auto i = std::size_t{0}; i < objects; ++i) {
    auto replace = json::array();
    replace.push_back({{"op", "replace"}, {"path", "/data/a"}, {"value", std::to_string(i)}});
    co_await timed(by, into["patch"], k8s::json_patch(maps + "/m" + std::to_string(i), std::move(replace)));
  }
  for (auto i = 0; i < repeats; ++i) {
    const auto start = clock_type::now();
    auto bytes = std::size_t{0};
    auto count = [&bytes](std::string_view piece) {
      bytes += piece.size();
      return true;
    };
    co_await by.read(maps, std::move(count));
    if (bytes < objects * 100)
      give_up("the list is short");
    into["list"].push_back(seconds_since(start) * 1e3);
  }
}

// -- watchers ----------------------------------------------------------------------------

struct gallery {
  clock_type::time_point begin;
  std::vector<clock_type::time_point> sent; // of each event
  std::vector<double>& took;
};

/// Takes every event of `maps` from `version` on, a line each.
awaitable<void> watcher(client& by, gallery& in, std::string version) {
  auto seen = std::size_t{0};
  auto take = [&](std::string_view piece) {
    for (const auto c : piece)
      if (c == '\n' && seen < objects)
        in.took.push_back(std::chrono::duration<double, std::milli>(clock_type::now() - in.sent.at(seen++)).count());
    return seen < objects;
  };
  co_await by.read(maps + "?watch=1&resourceVersion=" + version, std::move(take));
}

awaitable<void> read_version(client& by, std::string& into) {
  const auto list = co_await by.ask(k8s::get(maps + "?limit=1"));
  into = list["metadata"]["resourceVersion"].get<std::string>();
}

awaitable<void> make_watched(client& by, gallery& in) {
  // At the same pace for every server: one that answers sooner is not asked for more.
  // That is easier for it than to be asked again as soon as it has answered, when its watchers would wait for one another:
  // the figures are of 100 events a second, and say nothing of how many more either server could tell.
  auto turn = boost::asio::steady_timer{co_await boost::asio::this_coro::executor};
  for (auto i = std::size_t{0}; i < objects; ++i) {
    turn.expires_at(in.begin + i * event_every);
    co_await turn.async_wait(boost::asio::use_awaitable);
    in.sent.push_back(clock_type::now());
    co_await by.ask(k8s::post(maps, map_of("w" + std::to_string(i))));
  }
}

void watched(client& by, figures& into) {
  auto version = std::string{};
  by.run(flows_of(read_version(by, version)));
  auto in = gallery{clock_type::now() + 1s, {}, into["event"]};
  in.sent.reserve(objects);
  auto flows = flows_of(make_watched(by, in));
  for (auto i = std::size_t{0}; i < watchers; ++i)
    flows.push_back(watcher(by, in, version));
  by.run(std::move(flows));
}

figures measure(k8s::cluster_access of) {
  auto by = client{std::move(of)};
  auto all = figures{};
  by.run(flows_of(one_by_one(by, all)));
  watched(by, all);
  if (all["event"].size() != objects * watchers)
    give_up("events are missing");
  return all;
}

// -- durable writes ----------------------------------------------------------------------

awaitable<void> writes(client& by, std::size_t who, std::size_t n) {
  for (auto i = std::size_t{0}; i < n; ++i)
    co_await by.ask(k8s::post(maps, map_of("d" + std::to_string(who) + "-" + std::to_string(i))));
}

/// Writes a second.
double durable_writes(k8s::cluster_access to, std::size_t clients, std::size_t each) {
  auto by = client{std::move(to)};
  auto flows = std::vector<awaitable<void>>{};
  for (auto i = std::size_t{0}; i < clients; ++i)
    flows.push_back(writes(by, i, each));
  const auto start = clock_type::now();
  by.run(std::move(flows));
  return static_cast<double>(clients * each) / seconds_since(start);
}

void sql(sqlite3* on, const std::string& text) {
  if (sqlite3_exec(on, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    give_up(sqlite3_errmsg(on));
}

/// Commits a second, each of one row of the size that the server keeps, synchronous as its are.
double bare_commits(const std::filesystem::path& file, std::size_t n) {
  sqlite3* on = nullptr;
  if (sqlite3_open(file.c_str(), &on) != SQLITE_OK)
    give_up("sqlite3_open");
  sql(on, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID");
  const auto value = map_of("d63-100").dump() + std::string(200, 'm'); // and what a server adds
  const auto start = clock_type::now();
  for (auto i = std::size_t{0}; i < n; ++i)
    sql(on, "INSERT INTO t VALUES('" + std::to_string(i) + "', '" + value + "')");
  const auto rate = static_cast<double>(n) / seconds_since(start);
  sqlite3_close(on);
  return rate;
}

// -- the servers ---------------------------------------------------------------------------

std::unique_ptr<embedded::cluster> embedded_cluster(std::optional<std::filesystem::path> data) {
  auto how = embedded::cluster_options{};
  how.data_dir = std::move(data);
  how.guest_program = own_folder() / "paddock-guest";
  how.log = [](const std::string&) {};
  auto started = embedded::start_cluster(std::move(how));
  if (!started)
    give_up(started.error());
  return std::move(*started);
}

k8s::cluster_access access_of(const embedded::cluster& to) {
  return {to.server(), {}, k8s::fixed_token(to.token()), "default"};
}

/// Becomes the real control plane's program, which runs this one again with KUBECONFIG set. Returns where there is none.
void start_real(char** arguments) {
  const auto* named = std::getenv("PADDOCK_REALCLUSTER");
  const auto up = named ? std::filesystem::path{named} : std::filesystem::path{"../shared/realcluster/up"};
  if (!std::filesystem::exists(up))
    return;
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  ::setenv("PADDOCK_BENCH_REAL", "1", 1);
  ::execl(up.c_str(), up.c_str(), "--no-kcm", "--", self.c_str(), arguments[1], nullptr);
  give_up("the real control plane could not be started");
}

} // namespace

int main(int, char** arguments) {
  if (std::getenv("PADDOCK_BENCH_REAL") == nullptr)
    start_real(arguments);
  if (std::getenv("PADDOCK_BENCH_REAL") != nullptr) {
    auto to = k8s::read_kubeconfigs(std::getenv("KUBECONFIG"), "admin-token");
    if (!to)
      give_up(to.error());
    const auto theirs = measure(std::move(*to));
    const auto here = embedded_cluster({});
    const auto ours = measure(access_of(*here));
    for (const auto& [what, took] : ours)
      for (const auto& [name, share] : {std::pair{"p50", 0.5}, std::pair{"p99", 0.99}}) {
        const auto mine = quantile(took, share);
        const auto real = quantile(theirs.at(what), share);
        std::cerr << what << ' ' << name << ": " << mine << " ms, a real one " << real << " ms\n";
        report("cluster_api_" + what + '_' + name, mine / real, "ratio", 0.5);
      }
  } else {
    std::cerr << "no real control plane: nothing to compare with\n";
  }
  const auto folder = temporary_folder{};
  const auto bare = bare_commits(folder.path() / "bare.db", 5000);
  const auto kept = embedded_cluster(folder.path() / "data");
  const auto rate = durable_writes(access_of(*kept), 64, 200);
  std::cerr << "durable writes: " << rate << " a second, bare SQLite " << bare << '\n';
  report("cluster_api_durable", std::min(5000.0, bare / 2) / rate, "wanted/reached", 1);
}
