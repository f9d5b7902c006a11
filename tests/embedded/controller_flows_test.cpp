#define CAF_SUITE controller_flows

#include "embedded/agent_keys.hpp"
#include "embedded/flows/claim_controller.hpp"
#include "embedded/flows/namespace_controller.hpp"
#include "embedded/pod_facts.hpp"
#include "tests/embedded/served_world.hpp"

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using fate = served_world::fate;

namespace {

constexpr auto sandboxes = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes";
constexpr auto extensions = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/";

const auto pod_template = json::parse(R"({"spec": {"containers": [{"name": "box", "image": "i:1", "ports": [{"containerPort": 1024}]}]}})");

json made(const std::string& kind, const std::string& name, const json& spec) {
  return {{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", spec}};
}

constexpr auto kinds = "/apis/extensions.agents.x-k8s.io/v1beta1/";

/// A claim, and a pool with two members that it may take. The embedded server does not serve these two kinds; here it does.
struct claim_world : served_agent {
  claim_world() {
    auto& world = server.world;
    server.in_place = [this](const http_request& x) { return answer(x); };
    world.make(std::string{extensions} + "sandboxtemplates", made("SandboxTemplate", "t", {{"podTemplate", pod_template}}));
    keep("sandboxwarmpools/p", made("SandboxWarmPool", "p", {{"replicas", 2}, {"sandboxTemplateRef", {{"name", "t"}}}}));
    auto pool = kept["sandboxwarmpools/p"];
    for (const auto* name : {"p-a", "p-b"}) {
      auto member = json{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"spec", {{"podTemplate", pod_template}}}};
      member["metadata"] = json{{"name", name}, {"labels", {{agent_keys::pool_hash, "x"}, {agent_keys::template_hash, "x"}}}};
      member["metadata"]["ownerReferences"] = json::array({json{{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
                                                                {"kind", "SandboxWarmPool"},
                                                                {"name", "p"},
                                                                {"uid", uid_of(pool)},
                                                                {"controller", true}}});
      world.make(sandboxes, member);
      server.patch(sandboxes + ("/" + std::string{name}) + "/status", json{{"status", {{"podIPs", json::array({"127.64.1.1"})}}}});
    }
    keep("sandboxclaims/c", made("SandboxClaim", "c", {{"warmPoolRef", {{"name", "p"}}}}));
  }
  void keep(const std::string& where, json object) {
    object["metadata"]["namespace"] = "default";
    object["metadata"]["uid"] = "u-" + where.substr(where.find('/') + 1);
    object["metadata"]["resourceVersion"] = std::to_string(++version);
    kept[where] = std::move(object);
  }
  std::optional<http_response> answer(const http_request& what) {
    auto path = what.target.substr(0, what.target.find('?'));
    for (const auto* kind : {"sandboxclaims", "sandboxwarmpools"})
      if (path == std::string{kinds} + kind) {
        auto list = json{{"kind", "List"}, {"metadata", {{"resourceVersion", std::to_string(version)}}}, {"items", json::array()}};
        for (const auto& [where, object] : kept)
          if (where.starts_with(kind))
            list["items"].push_back(object);
        return http_response{200, {}, list.dump()};
      }
    if (what.method != "PATCH" || !path.starts_with(std::string{extensions} + "sandboxclaims/c"))
      return std::nullopt;
    auto& object = kept["sandboxclaims/c"];
    auto patch = json::parse(what.body);
    auto read = text_in(patch, "/metadata/resourceVersion");
    if (!read.empty() && read != text_in(object, "/metadata/resourceVersion"))
      return http_response{409, {}, "{}"};
    object.merge_patch(patch);
    object["metadata"]["resourceVersion"] = std::to_string(++version);
    return http_response{200, {}, object.dump()};
  }
  const json& claim() {
    return kept["sandboxclaims/c"];
  }
  /// The Sandboxes that the claim controls.
  std::vector<std::string> held() {
    auto uid = uid_of(claim());
    std::vector<std::string> result;
    auto all = server.get(sandboxes);
    for (const auto& x : all["items"])
      if (text_in(controller_of(x), "/uid") == uid)
        result.push_back(name_of(x));
    return result;
  }
  /// Runs the controller until the claim says which Sandbox it has.
  void run() {
    controller = std::make_unique<claim_controller>(client, watched, "home", on.get_executor(), say);
    flows.start([this] { return until_cancelled(controller->run()); });
    watched.start();
    run_until(on, [this] { return !text_in(claim(), "/status/sandbox/name").empty(); });
    auto over = false;
    flows.close([&over] { over = true; });
    run_until(on, [&over] { return over; });
    close();
  }
  std::map<std::string, json> kept;
  int version = 1000;
  std::unique_ptr<claim_controller> controller;
  flow_group flows{on.get_executor()};
};

bool takes(const http_request& what) {
  return what.method == "PATCH" && what.target.find("/sandboxes/p-") != std::string::npos;
}

/// A namespace that ends, with so many ConfigMaps, the first of which may be held by somebody.
struct ending_world : served_agent {
  explicit ending_world(int count, bool held = false) {
    auto& world = server.world;
    for (int i = 0; i < count; ++i) {
      auto metadata = json{{"name", "m" + std::to_string(10'000 + i)}};
      if (held && i == 0)
        metadata["finalizers"] = json::array({"x.y/z"});
      world.make("/api/v1/namespaces/other/configmaps", {{"metadata", std::move(metadata)}});
    }
    world.ask(world.root, "DELETE", "/api/v1/namespaces/other");
    flows.start([this] { return until_cancelled(controller.run()); });
    watched.start();
  }
  [[nodiscard]] std::size_t passes() const {
    return static_cast<std::size_t>(
      std::count_if(server.asked.begin(), server.asked.end(), [](const auto& x) { return x.method == "GET" && x.target == "/apis"; }));
  }
  void end() {
    auto over = false;
    flows.close([&over] { over = true; });
    run_until(on, [&over] { return over; });
    close();
  }
  namespace_controller controller{client, watched, on.get_executor(), say};
  flow_group flows{on.get_executor()};
};

/// A controller whose passes throw as often as it is told.
class throwing final : public reconciler {
public:
  throwing(boost::asio::any_io_executor lane, std::function<void(std::string)> log) : reconciler(std::move(lane), {}, std::move(log)) {
    look_at("n/odd");
  }
  int left = 2;
  int passes = 0;

private:
  boost::asio::awaitable<outcome> pass(std::string) override {
    ++passes;
    if (left-- > 0)
      throw std::runtime_error{"of another shape"};
    co_return outcome{};
  }
};

} // namespace

SCENARIO("a claim takes one member, when the answer to the write that took it is lost") {
  claim_world w;
  auto lost = 1;
  w.server.judge = [&](const http_request& x) { return takes(x) && lost-- > 0 ? fate::lost : fate::answered; };
  w.run();
  REQUIRE_EQ(w.held().size(), 1u);
  CHECK_EQ(text_in(w.claim(), "/status/sandbox/name"), w.held().front());
}

SCENARIO("a claim takes one member, when it cannot be read either whether the write landed") {
  claim_world w;
  auto lost = 1;
  auto refused = 3;
  w.server.judge = [&](const http_request& x) {
    if (takes(x) && lost-- > 0)
      return fate::lost;
    if (lost <= 0 && x.method == "GET" && x.target.find("/sandboxes/p-") != std::string::npos && refused-- > 0)
      return fate::refused;
    return fate::answered;
  };
  w.run();
  REQUIRE_EQ(w.held().size(), 1u);
  CHECK_EQ(text_in(w.claim(), "/status/sandbox/name"), w.held().front());
}

SCENARIO("a claim makes one Sandbox, when the answer to the write that made it is lost and the pool has members again") {
  claim_world w;
  for (const auto* name : {"p-a", "p-b"})
    w.server.patch(sandboxes + ("/" + std::string{name}), json{{"metadata", {{"labels", {{agent_keys::pool_hash, nullptr}}}}}});
  auto refused = 0;
  w.server.judge = [&](const http_request& x) {
    if (x.method == "POST" && x.target == sandboxes) {
      refused = 1;
      return fate::lost;
    }
    // The read that would tell fails; meanwhile the members are back.
    if (x.method == "GET" && x.target == sandboxes + std::string{"/c"} && refused-- > 0) {
      for (const auto* name : {"p-a", "p-b"}) {
        w.server.patch(sandboxes + ("/" + std::string{name}), json{{"metadata", {{"labels", {{agent_keys::pool_hash, "x"}}}}}});
        w.watched.of(collections::sandboxes).took(w.server.get(sandboxes + ("/" + std::string{name})));
      }
      return fate::refused;
    }
    return fate::answered;
  };
  w.run();
  CHECK_EQ(w.held(), std::vector<std::string>{"c"});
}

SCENARIO("a member that changed since it was read is read again and taken") {
  claim_world w;
  auto once = 1;
  w.server.judge = [&](const http_request& x) {
    if (takes(x) && once-- > 0)
      w.server.patch(x.target, json{{"metadata", {{"annotations", {{"a", "b"}}}}}});
    return fate::answered;
  };
  w.run();
  CHECK_EQ(w.held(), std::vector<std::string>{"p-a"});
}

SCENARIO("a pass that throws is logged by its key and made again") {
  served_agent w;
  throwing it{w.on.get_executor(), w.say};
  auto flow = start_flow(w.on, until_cancelled(it.run()));
  run_until(w.on, [&] { return it.passes == 3; });
  run_ready(w.on);
  CHECK_EQ(w.log, std::vector<std::string>{"n/odd: of another shape"});
  CHECK(!flow.done());
  flow.cancel();
  run_until(w.on, [&] { return flow.done(); });
}

SCENARIO("a namespace of many pages is emptied in one pass, and goes in the next") {
  ending_world w{1100};
  run_until(w.on, [&] { return w.server.get("/api/v1/namespaces/other").is_null(); });
  CHECK_EQ(w.passes(), 2u);
  CHECK_EQ(w.server.count("GET", "/api/v1/namespaces/other/configmaps"), 4u);
  w.end();
}

SCENARIO("a list that its own deletions made too old is begun anew, with what others hold") {
  ending_world w{1100, true};
  auto once = 1;
  w.server.in_place = [&](const http_request& x) {
    const bool later = x.target.find("/configmaps?") != std::string::npos && x.target.find("&continue=") != std::string::npos;
    return later && once-- > 0 ? std::optional{http_response{410, {}, "{}"}} : std::nullopt;
  };
  run_until(w.on, [&] { return w.passes() > 3; });
  CHECK_EQ(w.server.get("/api/v1/namespaces/other/configmaps")["items"].size(), 1u);
  CHECK_EQ(w.server.count("DELETE", "/api/v1/namespaces/other/configmaps"), 1100u);
  w.end();
}
