#define CAF_SUITE watch

#include "k8s/flows/api_client.hpp"
#include "k8s/flows/kubeconfig.hpp"
#include "k8s/flows/watches.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/watch_log.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cstdlib>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

// Run by `realcluster/up --agent-sandbox -- realcluster_tests`: KUBECONFIG leads to a real kube-apiserver that nobody else uses.

namespace {

constexpr auto name_space = "default";

json sandbox(const std::string& name) {
  return json::parse(R"({"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","spec":{"podTemplate":{"spec":{"containers":[
    {"name":"agent","image":"i"}]}}}})")
    .patch(json::parse(R"([{"op":"add","path":"/metadata","value":{"name":")" + name + R"("}}])"));
}

struct world {
  explicit world(const std::string& context = "admin") {
    const auto* file = std::getenv("KUBECONFIG");
    if (file == nullptr)
      CAF_FAIL("KUBECONFIG is not set");
    auto access = k8s::read_kubeconfig(file, context);
    if (!access)
      CAF_FAIL(access.error());
    auto made = k8s::make_api_client(*exchange, time, {access->server, access->base_path, access->credentials, 30'000, {}});
    if (!made)
      CAF_FAIL(made.error());
    api = std::move(*made);
  }
  ~world() {
    auto closed = false;
    flows->close([&] { closed = true; });
    run_until(on, [&] { return closed; });
  }
  json must(k8s::call what) {
    auto got = run_flow(on, api->send(std::move(what), deadline{time, 10s}));
    if (!got)
      CAF_FAIL(k8s::to_string(got.error()));
    return got->value_or(json{});
  }
  void follow(watch_log& log, std::size_t page) {
    auto how = k8s::list_watch_options{};
    how.page = page;
    port = k8s::make_watches(
      *api, time, *flows, [] { return 0.0; }, how);
    port->start(1, k8s::sandboxes_of(name_space), log.teller());
  }
  /// What one watch says until it ends or has said `enough`.
  struct heard {
    std::vector<k8s::watch_event> events;
    std::optional<k8s::watch_fault> fault;
  };
  heard watch(k8s::call what, std::size_t enough) {
    auto got = std::make_shared<heard>();
    auto decoder = std::make_shared<k8s::watch_decoder>();
    auto take = [got, decoder, enough](std::string_view bytes) {
      decoder->take(bytes);
      while (auto next = decoder->next()) {
        if (!*next) {
          got->fault = next->error();
          return false;
        }
        got->events.push_back(std::move(**next));
      }
      return got->events.size() < enough;
    };
    auto end = run_flow(on, api->stream(std::move(what), take, 15s, deadline{time, 20s}));
    if (!end)
      CAF_FAIL(k8s::to_string(end.error()));
    return *got;
  }

  boost::asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  std::unique_ptr<k8s::streaming_api> api;
  std::unique_ptr<flow_group> flows = std::make_unique<flow_group>(on.get_executor());
  std::unique_ptr<k8s::watch_port> port;
};

const auto sandboxes = k8s::sandboxes_path(name_space);

} // namespace

SCENARIO("a real collection is listed in pages, followed through its changes, and trimmed") {
  auto x = world{};
  for (const auto* name : {"p1", "p2", "p3", "p4", "p5"})
    x.must(k8s::post(sandboxes, sandbox(name)));
  auto log = watch_log{};
  x.follow(log, 2);
  run_until(x.on, [&] { return log.lists == 1; });
  for (const auto* name : {"p1", "p2", "p3", "p4", "p5"})
    CHECK_EQ(log.history(name), "+");
  x.must(k8s::merge_patch(sandboxes + "/p1", {{"spec", {{"operatingMode", "Suspended"}}}}));
  x.must(k8s::merge_patch(
    sandboxes + "/p1/status",
    {{"status",
      {{"conditions",
        {{{"type", "Ready"}, {"status", "True"}, {"reason", "r"}, {"message", ""}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}}}}));
  x.must(k8s::remove(sandboxes + "/p2"));
  x.must(k8s::post(sandboxes, sandbox("p2")));
  run_until(x.on, [&] { return log.history("p2") == "+-+" && log.history("p1") == "+~~"; });
  CHECK_EQ(log.lists, 1u);
  CHECK(log.lost.empty());
  const auto kept = log.cache.find({name_space, "p1"});
  REQUIRE(kept);
  const auto read = k8s::read_sandbox(*kept->open());
  const auto truth = k8s::read_sandbox(x.must(k8s::get(sandboxes + "/p1")));
  CHECK(read.mode == k8s::operating_mode::suspended);
  CHECK(read.ready);
  CHECK(read.uid == truth.uid);
  CHECK(read.generation == truth.generation);
  CHECK(read.resource_version == truth.resource_version);
  CHECK(!kept->open()->contains("/metadata/managedFields"_json_pointer));
}

SCENARIO("a real server forgets an old version inside the stream") {
  auto x = world{};
  const auto got = x.watch(k8s::to_call(k8s::watch_request{{sandboxes}, "1", true, 10s}), 1);
  REQUIRE(got.fault);
  CHECK(std::holds_alternative<k8s::watch_expired>(*got.fault));
  CHECK(got.events.empty());
}

SCENARIO("a real bookmark is read") {
  auto x = world{};
  auto what = k8s::to_call(k8s::watch_request{{sandboxes}, {}, true, 10s});
  what.path += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  const auto got = x.watch(what, 100);
  CHECK(!got.fault);
  REQUIRE(!got.events.empty());
  CHECK(got.events.back().what == k8s::watch_event::kind::bookmark);
}

SCENARIO("a version that the real server has not reached is refused, and the present state is listed instead") {
  auto x = world{};
  const auto all = k8s::selection{sandboxes};
  auto refused =
    run_flow(x.on, x.api->send(k8s::to_call(k8s::list_request{all, 2, {}, "99999999", k8s::list_request::match::not_older_than}),
                               deadline{x.time, 20s}));
  REQUIRE(!refused);
  const auto* why = std::get_if<k8s::api_failure>(&refused.error());
  REQUIRE(why != nullptr);
  CHECK(why->status == 504u);
  auto plan = k8s::list_watch{{all}, [] { return 0.0; }};
  static_cast<void>(plan.next());
  plan.page_came("99999999", "");
  plan.watch_failed(k8s::watch_fault{k8s::watch_unreadable{}});
  static_cast<void>(plan.next());
  static_cast<void>(plan.next());
  plan.page_failed({504, std::nullopt, ""});
  auto list = std::get<k8s::list_step>(plan.next()).what;
  CHECK(k8s::read_page(x.must(k8s::to_call(list))));
}

SCENARIO("who may not watch on a real server is told so") {
  auto x = world{"nobody"};
  auto log = watch_log{};
  x.follow(log, 2);
  run_until(x.on, [&] { return !log.lost.empty(); });
  CHECK_EQ(log.lost[0].status, 403u);
  CHECK_EQ(log.lists, 0u);
}
