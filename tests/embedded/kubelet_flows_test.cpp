#define CAF_SUITE kubelet_flows

#include "embedded/flows/address_book.hpp"
#include "embedded/flows/cgroup.hpp"
#include "embedded/flows/container_log.hpp"
#include "embedded/flows/data_folder.hpp"
#include "embedded/flows/disk_store.hpp"
#include "embedded/flows/kubelet.hpp"
#include "embedded/flows/node_agent.hpp"
#include "embedded/flows/prober.hpp"
#include "embedded/pod_facts.hpp"
#include "guest/flows/transport.hpp"
#include "tests/embedded/served_world.hpp"
#include "tests/support/scripted_server.hpp"
#include "tests/support/temp_folder.hpp"

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using fate = served_world::fate;

namespace {

constexpr auto claims = "/api/v1/namespaces/default/persistentvolumeclaims";
constexpr auto pods = "/api/v1/namespaces/default/pods";

json claim(const std::string& name) {
  auto result = json{{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}, {"metadata", {{"name", name}}}};
  result["spec"] = json{{"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  result["spec"]["accessModes"] = json::array({"ReadWriteOnce"});
  return result;
}

json pod(const std::string& name, const std::string& line) {
  auto box = json{{"name", "c"}, {"image", "none"}, {"command", json::array({"sh", "-c", line})}};
  auto result = json{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}}}};
  result["spec"] = json{{"nodeName", embedded_node}, {"restartPolicy", "Never"}, {"terminationGracePeriodSeconds", 2}};
  result["spec"]["containers"] = json::array({box});
  return result;
}

/// A kubelet on a folder.
struct kubelet_world : served_agent {
  ~kubelet_world() {
    if (it) {
      auto over = false;
      it->stop([&over] { over = true; });
      run_until(on, [&over] { return over; });
    }
    close();
  }
  void start(bool sweep = true) {
    auto how = kubelet_options{};
    how.folder = folder->path();
    how.guest_program = PADDOCK_GUEST_PROGRAM;
    how.family = "kubeletflows";
    how.sweep = sweep;
    how.log = say;
    it = std::make_unique<kubelet>(client, watched.of(collections::pods), watched.of(collections::claims), server, *guests,
                                   on.get_executor(), how);
    flow.emplace(start_flow(on, until_cancelled(it->run())));
    watched.start();
  }
  fs::path disk(const std::string& uid) const {
    return folder->path() / "disks" / uid;
  }
  void put(const std::string& uid) {
    fs::create_directory(disk(uid));
    std::ofstream{disk(uid) / "file"} << "kept";
  }
  /// Tells the kubelet of a pod that the server would not have taken.
  void tell(const json& x) {
    watched.of(collections::pods).took(x);
  }
  std::string waiting(const std::string& name) {
    return text_in(server.get(std::string{pods} + "/" + name), "/status/containerStatuses/0/state/waiting/message");
  }

  temp_folder place;
  std::unique_ptr<data_folder> folder = std::move(*data_folder::open(place.path() / "data"));
  std::unique_ptr<guest::host> guests = guest::make_host(time);
  std::unique_ptr<kubelet> it;
  std::optional<started<void>> flow;
};

std::string text_of(const fs::path& file) {
  auto in = std::ifstream{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

SCENARIO("a list of claims that goes astray costs no disk") {
  kubelet_world w;
  w.server.world.make(claims, claim("there"));
  auto uid = uid_of(w.server.get(std::string{claims} + "/there"));
  w.put(uid);
  w.put("left-over");
  // A proxy that knows no path answers like a server that does not know the kind.
  auto astray = 4;
  w.server.in_place = [&](const http_request& x) -> std::optional<http_response> {
    if (!x.target.starts_with("/api/v1/persistentvolumeclaims") || astray <= 0)
      return std::nullopt;
    --astray;
    return http_response{404, {}, R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})"};
  };
  w.start();
  run_until(w.on, [&] { return !fs::exists(w.disk("left-over")); });
  CHECK_EQ(text_of(w.disk(uid) / "file"), "kept");
}

SCENARIO("a disk goes once the server has said that its claim is gone, and not because a watch lost it") {
  kubelet_world w;
  w.server.world.make(claims, claim("c"));
  auto kept = w.server.get(std::string{claims} + "/c");
  w.put(uid_of(kept));
  w.start(false);
  auto& known = w.watched.of(collections::claims);
  run_until(w.on, [&] { return known.listed(); });
  // What a watch tells of a removal, and then of another claim of the name.
  auto other = kept;
  other["metadata"]["uid"] = "u-other";
  other["metadata"]["resourceVersion"] = "1000000";
  known.took(other);
  run_until(w.on, [&] { return w.server.count("GET", std::string{claims} + "?fieldSelector") >= 2; });
  CHECK(fs::exists(w.disk(uid_of(kept))));
  w.server.world.ask(w.server.world.root, "DELETE", std::string{claims} + "/c");
  run_until(w.on, [&] { return !fs::exists(w.disk(uid_of(kept))); });
}

SCENARIO("a list that goes astray does not empty what is known") {
  served_agent w;
  w.server.world.make(claims, claim("c"));
  w.server.expired = 1;
  auto lists = 0;
  w.server.in_place = [&](const http_request& x) -> std::optional<http_response> {
    if (!x.target.starts_with("/api/v1/persistentvolumeclaims") || lists++ == 0)
      return std::nullopt;
    return http_response{404, {}, R"({"kind":"Status","message":"no such path","code":404})"};
  };
  auto& known = w.watched.of(collections::claims);
  w.watched.start();
  run_until(w.on, [&] { return lists >= 2 && w.logged("no such path"); });
  CHECK(known.objects().find("default", "c"));
  w.close();
}

SCENARIO("the API server refuses a container's name that is no label") {
  served_world server;
  auto x = pod("p", "exit 0");
  x["spec"]["containers"][0]["name"] = "../..";
  auto got = server.world.ask(server.world.root, "POST", pods, x);
  CHECK_EQ(got.status, 422u);
  CHECK(got.message().find("spec.containers[0].name: Invalid value: \"../..\": a lowercase RFC 1123 label") != std::string::npos);
}

SCENARIO("a pod whose container has a path for a name touches nothing, and says so") {
  kubelet_world w;
  auto bystander = w.place.path() / "bystander";
  fs::create_directory(bystander);
  for (auto i = 0; i < 9; ++i)
    std::ofstream{bystander / std::to_string(i)} << "x";
  w.start(false);
  run_until(w.on, [&] { return w.watched.of(collections::pods).listed(); });
  w.server.world.make(pods, pod("odd", "exit 0"));
  auto odd = w.server.get(std::string{pods} + "/odd");
  odd["spec"]["containers"][0]["name"] = "../../../bystander";
  w.tell(odd);
  auto said = [&] { return w.waiting("odd").find("is not a DNS label") != std::string::npos; };
  run_until(w.on, [&] { return said(); });
  CHECK_EQ(std::distance(fs::directory_iterator{bystander}, {}), 9);
  CHECK(fs::is_empty(w.folder->path() / "logs"));
}

SCENARIO("a Secret that cannot be read is waited for, and one that is not there is done without where it may be") {
  kubelet_world w;
  auto file = w.place.path() / "said";
  auto x = pod("p", "printf \"<$S><$O>\" > " + file.string());
  x["spec"]["containers"][0]["env"] = json::parse(R"([
    {"name": "S", "valueFrom": {"secretKeyRef": {"name": "there", "key": "k", "optional": true}}},
    {"name": "O", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "k", "optional": true}}}])");
  w.server.world.make("/api/v1/namespaces/default/pods", x);
  auto refused = true;
  w.server.in_place = [&](const http_request& y) -> std::optional<http_response> {
    if (!y.target.ends_with("/secrets/there"))
      return std::nullopt;
    return refused ? http_response{500, {}, R"({"kind":"Status","message":"etcd is away","code":500})"}
                   : http_response{200, {}, R"({"kind":"Secret","metadata":{"name":"there"},"data":{"k":"aGlkZGVu"}})"};
  };
  w.start(false);
  run_until(w.on, [&] { return w.waiting("p") == "Secret there cannot be read: etcd is away"; });
  CHECK(!fs::exists(file));
  refused = false;
  run_until(w.on, [&] { return text_of(file) == "<hidden><>"; });
}

SCENARIO("a folder belongs to the cluster that used it first, as long as there are disks") {
  temp_folder place;
  {
    auto folder = data_folder::open(place.path() / "data");
    REQUIRE(folder);
    CHECK((*folder)->keep_for("one") == true);
    CHECK((*folder)->keep_for("one") == true);
    // Nothing of the other is there.
    CHECK((*folder)->keep_for("two") == true);
    fs::create_directory((*folder)->path() / "disks" / "u-1");
  }
  auto folder = data_folder::open(place.path() / "data");
  REQUIRE(folder);
  CHECK((*folder)->keep_for("two") == true);
  auto other = (*folder)->keep_for("one");
  REQUIRE(!other);
  CHECK(other.error().find("another cluster") != std::string::npos);
  CHECK((*folder)->keep_for("two") == true);
  // Disks of nobody knows whom: taken on, but none is left over.
  fs::remove((*folder)->path() / "cluster");
  CHECK((*folder)->keep_for("one") == false);
  CHECK((*folder)->keep_for("one") == true);
}

SCENARIO("a uid that is a path is no disk") {
  temp_folder place;
  for (const auto* name : {"disks", "trash", "logs"})
    fs::create_directory(place.path() / name);
  disk_store disks{place.path()};
  // An absolute path in the test's own folder: what a broken rule would remove is nobody else's.
  const auto absolute = (place.path() / "logs").string();
  for (const auto& uid : {std::string{"../logs"}, std::string{".."}, std::string{"."}, std::string{}, absolute, std::string{"a/b"}}) {
    disks.doom(uid);
    auto error = std::error_code{};
    disks.take(uid, error);
    CHECK(error);
    disks.release(uid);
  }
  CHECK(fs::exists(place.path() / "logs"));
  CHECK(fs::exists(place.path() / "disks"));
  auto error = std::error_code{};
  auto good = disks.take("u-1", error);
  CHECK(!error);
  disks.doom("u-1");
  CHECK(fs::exists(good));
  disks.release("u-1");
  CHECK(!fs::exists(good));
}

SCENARIO("what is discarded is out of the way at once") {
  temp_folder place;
  for (const auto* name : {"disks", "trash", "large"})
    fs::create_directory(place.path() / name);
  place.write("large/file", "x");
  {
    disk_store disks{place.path()};
    disks.discard(place.path() / "large");
    CHECK(!fs::exists(place.path() / "large"));
  }
  CHECK(fs::is_empty(place.path() / "trash"));
}

SCENARIO("what is not below the folder of the disks is never discarded") {
  temp_folder place;
  fs::create_directories(place.path() / "data" / "trash");
  place.write("bystander", "x");
  {
    disk_store disks{place.path() / "data"};
    disks.discard(place.path() / "bystander");
    disks.discard(place.path() / "data" / ".." / "bystander");
    disks.discard(place.path() / "data");
  }
  CHECK(fs::exists(place.path() / "bystander"));
  CHECK(fs::exists(place.path() / "data" / "trash"));
}

SCENARIO("the logs of a pod that runs are none of the old ones") {
  temp_folder place;
  auto when = fs::file_time_type::clock::now();
  for (auto i = 0; i < 203; ++i) {
    fs::create_directory(place.path() / std::to_string(i));
    fs::last_write_time(place.path() / std::to_string(i), when - std::chrono::hours{300 - i});
  }
  CHECK_EQ(old_logs(place.path(), {}), (std::vector<fs::path>{place.path() / "0", place.path() / "1", place.path() / "2"}));
  CHECK_EQ(old_logs(place.path(), {place.path() / "1"}), (std::vector<fs::path>{place.path() / "0", place.path() / "2"}));
}

SCENARIO("an address that no kubelet gave is not a pod's") {
  address_book book;
  for (const auto* wish : {"0.0.0.0", "127.0.0.1", "::"})
    CHECK(is_pod_address(book.take(wish, 20000)));
  CHECK_EQ(book.take("127.99.98.97", 20000), "127.99.98.97");
  CHECK_NE(book.take("127.99.98.97", 20000), "127.99.98.97");
}

SCENARIO("a limit that no machine reaches is none") {
  temp_folder place;
  place.write("cgroup.controllers", "cpu memory\n");
  auto tree = cgroup_tree::below(place.path(), "f");
  REQUIRE_EQ(tree.fault(), "");
  CHECK(!tree.make("a", 1e300, 1e300));
  auto made = tree.make("b", 1e5, 1024);
  REQUIRE(made);
  CHECK_EQ(text_of(*made / "cpu.max"), "10000000000 100000");
}

SCENARIO("a probe reads no more of a long body than it needs, and takes it for good") {
  auto body = std::string(probe_body_limit + 1, 'x');
  scripted_server server{
    {{script::read_request(), script::send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + body), script::stall()},
     {script::read_request(), script::send(script::answer(302, "elsewhere", "text/plain", "Location: /x\r\n"))},
     {script::read_request(), script::send(script::answer(500, body))}}};
  boost::asio::io_context on;
  real_flow_time time;
  auto exchange = make_http_exchange(time);
  auto ask = [&] {
    return run_flow(on, ask_http(*exchange, http_probe{false, {}, server.port(), "/", {}}, "127.0.0.1", deadline{time, 10s}));
  };
  CHECK(ask());
  CHECK(server.wait_for_closed(1));
  CHECK(ask());
  CHECK(!ask());
}

SCENARIO("a heartbeat that fails is said once") {
  served_agent w;
  auto facts = node_facts{};
  facts.name = "node-1";
  auto failing = true;
  w.server.in_place = [&](const http_request& x) -> std::optional<http_response> {
    if (x.target.find("/leases") == std::string::npos)
      return http_response{200, {}, R"({"kind":"Node","metadata":{"name":"node-1","uid":"u-n"}})"};
    return failing ? http_response{403, {}, R"({"kind":"Status","message":"no leases for you","code":403})"} : http_response{200, {}, "{}"};
  };
  node_agent it{w.client, facts, w.say};
  auto flow = start_flow(w.on, until_cancelled(it.run()));
  run_until(w.on, [&] { return !w.log.empty(); });
  CHECK(w.logged("node node-1: the Lease cannot be renewed: no leases for you"));
  flow.cancel();
  run_until(w.on, [&] { return flow.done(); });
}
