#define CAF_SUITE api_server

#include "embedded/flows/api_server.hpp"
#include "embedded/flows/durable_store.hpp"
#include "tests/support/manual_time.hpp"
#include "tests/support/run_flow.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cstdlib>
#include <set>
#include <sstream>

using namespace paddock;
using namespace paddock::embedded;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace asio = boost::asio;

namespace {

const std::string boxes = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes";
const std::string pods = "/api/v1/namespaces/default/pods";
constexpr auto merge = "application/merge-patch+json";
constexpr auto operations = "application/json-patch+json";

struct reply {
  unsigned status = 0;
  http_headers headers;
  std::string text;
  json body;
};

/// A server on a free port, and a client of it.
struct cluster {
  asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  std::unique_ptr<api_server> server;
  http_server_address where;
  std::string token = "s3cret";

  explicit cluster(api_server_options options = {}, flow_time* of_server = nullptr) {
    options.tokens.push_back({secret{"s3cret"}, {"admin", {"system:masters"}}});
    options.tokens.push_back({secret{"other"}, "nobody"});
    options.log_entries = 100;
    auto made = make_api_server(on.get_executor(), of_server ? *of_server : time, std::move(options));
    if (!made)
      CAF_FAIL(made.error());
    server = std::move(*made);
    where.host = "127.0.0.1";
    where.port = server->port();
  }
  ~cluster() {
    auto closed = false;
    server->close([&] { closed = true; });
    run_until(on, [&] { return closed; });
  }

  [[nodiscard]] http_request request(std::string method, std::string target, std::string body = {}, std::string type = {}) const {
    http_request out{std::move(method), std::move(target), {}, std::move(body)};
    if (!token.empty())
      out.headers.emplace_back("Authorization", "Bearer " + token);
    if (!type.empty())
      out.headers.emplace_back("Content-Type", std::move(type));
    return out;
  }
  io_result<http_response> exchange_one(http_request what, std::chrono::milliseconds bound = 10s) {
    return run_flow(on, exchange->send(where, std::move(what), {}, deadline{time, bound}));
  }
  reply ask(std::string method, std::string target, std::string body = {}, std::string type = {}) {
    auto got = exchange_one(request(std::move(method), std::move(target), std::move(body), std::move(type)));
    if (!got)
      CAF_FAIL(to_string(got.error()));
    return {got->status, got->headers, got->body, json::parse(got->body, nullptr, false)};
  }
  reply make(const std::string& name, json extra = json::object()) {
    json object{{"apiVersion", "agents.x-k8s.io/v1beta1"},
                {"kind", "Sandbox"},
                {"metadata", {{"name", name}}},
                {"spec", {{"podTemplate", {{"spec", {{"containers", {{{"name", "main"}}}}}}}}}}};
    object.merge_patch(extra);
    return ask("POST", boxes, object.dump(), "application/json");
  }
  std::string uid(const std::string& name) {
    return text_at(ask("GET", boxes + "/" + name).body, {"metadata", "uid"});
  }
  std::string version(const std::string& name) {
    return text_at(ask("GET", boxes + "/" + name).body, {"metadata", "resourceVersion"});
  }
};

/// A watch that was started: what it has told, and how it ended.
struct watching {
  std::shared_ptr<std::string> text = std::make_shared<std::string>();
  started<io_result<http_response>> flow;

  watching(cluster& c, const std::string& target) : flow(start_flow(c.on, begin(c, target, text))) {
  }
  static asio::awaitable<io_result<http_response>> begin(cluster& c, const std::string& target, std::shared_ptr<std::string> text) {
    auto what = c.request("GET", target);
    return c.exchange->stream(
      c.where, std::move(what), {},
      [text](std::string_view piece) {
        text->append(piece);
        return true;
      },
      20s, deadline{c.time, 20s});
  }
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> out;
    std::istringstream in{*text};
    for (std::string line; std::getline(in, line);)
      if (auto x = json::parse(line, nullptr, false); x.is_object())
        out.push_back(text_at(x, {"type"}) + " " + text_at(x, {"object", "metadata", "name"}));
    return out;
  }
};

using lines = std::vector<std::string>;

json disk(const char* name) {
  return {{"metadata", {{"name", name}}},
          {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}};
}

} // namespace

// [C 204]
SCENARIO("the disks of a Sandbox can be neither changed, removed nor added") {
  cluster c;
  REQUIRE_EQ(c.make("with", {{"spec", {{"volumeClaimTemplates", {disk("data")}}}}}).status, 201u);
  REQUIRE_EQ(c.make("without").status, 201u);
  auto bigger = disk("data");
  bigger["spec"]["resources"]["requests"]["storage"] = "2Gi";
  const std::vector<std::tuple<std::string, std::string, const char*>> writes{
    {"with", json{{"spec", {{"volumeClaimTemplates", {bigger}}}}}.dump(), merge},
    {"with", json{{"spec", {{"volumeClaimTemplates", {disk("data"), disk("more")}}}}}.dump(), merge},
    {"with", json{{"spec", {{"volumeClaimTemplates", nullptr}}}}.dump(), merge},
    {"with", R"([{"op":"remove","path":"/spec/volumeClaimTemplates"}])", operations},
    {"without", json{{"spec", {{"volumeClaimTemplates", {disk("data")}}}}}.dump(), merge},
    {"without", json{{"spec", {{"volumeClaimTemplates", json::array()}}}}.dump(), merge},
  };
  for (const auto& [name, body, type] : writes) {
    const auto before = c.ask("GET", boxes + "/" + name).body;
    const auto got = c.ask("PATCH", boxes + "/" + name, body, type);
    CHECK_EQ(got.status, 422u);
    CHECK_EQ(text_at(got.body, {"reason"}), "Invalid");
    const auto* causes = find(got.body, {"details", "causes"});
    REQUIRE(causes != nullptr);
    CHECK_EQ(text_at(causes->at(0), {"field"}), "spec");
    CHECK(c.ask("GET", boxes + "/" + name).body == before);
  }
}

// [C 206]
SCENARIO("a status write moves the version and not the generation, and a patch of nothing moves neither") {
  cluster c;
  c.make("a");
  const auto before = c.ask("GET", boxes + "/a").body;
  const auto status = c.ask("PATCH", boxes + "/a/status", R"({"status":{"service":"a"}})", merge);
  REQUIRE_EQ(status.status, 200u);
  CHECK(status.body["metadata"]["generation"] == before["metadata"]["generation"]);
  CHECK(status.body["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]);
  for (const auto& [body, type] : std::vector<std::pair<std::string, const char*>>{
         {"{}", merge},
         {R"({"spec":{"operatingMode":"Running"}})", merge},
         {R"([{"op":"test","path":"/spec/operatingMode","value":"Running"}])", operations}}) {
    const auto nothing = c.ask("PATCH", boxes + "/a", body, type);
    REQUIRE_EQ(nothing.status, 200u);
    CHECK(nothing.body == status.body);
  }
  CHECK(c.ask("GET", boxes + "/a").body == status.body);
}

// [C 207]
SCENARIO("a failed test refuses the whole patch and says nothing of why") {
  cluster c;
  c.make("a");
  const auto before = c.ask("GET", boxes + "/a").body;
  for (const auto* test : {R"({"op":"test","path":"/spec/operatingMode","value":"Suspended"})",
                           R"({"op":"test","path":"/metadata/uid","value":"00000000-0000-4000-8000-000000000000"})"}) {
    const auto got =
      c.ask("PATCH", boxes + "/a", std::string{R"([{"op":"add","path":"/metadata/labels","value":{"k":"v"}},)"} + test + "]", operations);
    CHECK_EQ(got.status, 422u);
    CHECK_EQ(text_at(got.body, {"reason"}), "Invalid");
    CHECK(got.body["details"] == json::object());
    CHECK(c.ask("GET", boxes + "/a").body == before);
  }
}

// [C 208]
SCENARIO("a merge patch with a version that is no longer the object's is a conflict") {
  cluster c;
  const auto stale = text_at(c.make("a").body, {"metadata", "resourceVersion"});
  REQUIRE_EQ(c.ask("PATCH", boxes + "/a", R"({"metadata":{"labels":{"k":"1"}}})", merge).status, 200u);
  const auto before = c.ask("GET", boxes + "/a").body;
  const auto with = [](const std::string& version) {
    return R"({"metadata":{"resourceVersion":")" + version + R"(","labels":{"k":"2"}}})";
  };
  const auto got = c.ask("PATCH", boxes + "/a", with(stale), merge);
  CHECK_EQ(got.status, 409u);
  CHECK_EQ(text_at(got.body, {"reason"}), "Conflict");
  CHECK(c.ask("GET", boxes + "/a").body == before);
  CHECK_EQ(c.ask("PATCH", boxes + "/a", with(c.version("a")), merge).status, 200u);
}

// [C 209]
SCENARIO("a DELETE with a wrong precondition leaves the object, one with the right ones removes it") {
  cluster c;
  c.make("a");
  const auto options = [](const std::string& uid, const std::string& version) {
    return json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid}, {"resourceVersion", version}}}}.dump();
  };
  const auto uid = c.uid("a");
  const auto version = c.version("a");
  const auto refuse = [&](const std::string& body, const std::string& named) {
    const auto got = c.ask("DELETE", boxes + "/a", body, "application/json");
    CHECK_EQ(got.status, 409u);
    CHECK_EQ(text_at(got.body, {"reason"}), "Conflict");
    CHECK_NE(text_at(got.body, {"message"}).find(named), std::string::npos);
    CHECK_EQ(c.uid("a"), uid);
  };
  refuse(options("00000000-0000-4000-8000-000000000000", version), "UID in the precondition (00000000-0000-4000-8000-000000000000)");
  refuse(options(uid, "1"), "ResourceVersion in the precondition (1)");
  refuse(options("00000000-0000-4000-8000-000000000000", "1"), "UID in the precondition");
  refuse(R"({"preconditions":{"uid":"x"}})", "UID in the precondition (x)");
  refuse(R"({"preconditions":{"resourceVersion":"1"}})", "ResourceVersion in the precondition (1)");
  const auto got = c.ask("DELETE", boxes + "/a", options(uid, version), "application/json");
  CHECK_EQ(got.status, 200u);
  CHECK_EQ(text_at(got.body, {"details", "uid"}), uid);
  CHECK_EQ(c.ask("GET", boxes + "/a").status, 404u);
  CHECK_EQ(c.ask("DELETE", boxes + "/a", options(uid, version), "application/json").status, 404u);
}

// [C 217]
SCENARIO("the collection of a kind that is not installed is not found, whatever the verb") {
  cluster c;
  const std::string path = "/apis/cilium.io/v2/namespaces/default/ciliumnetworkpolicies";
  const auto body = json{{"apiVersion", "cilium.io/v2"}, {"kind", "CiliumNetworkPolicy"}, {"metadata", {{"name", "p"}}}}.dump();
  CHECK_EQ(c.ask("GET", path).status, 404u);
  CHECK_EQ(c.ask("GET", path + "?watch=true").status, 404u);
  CHECK_EQ(c.ask("POST", path, body, "application/json").status, 404u);
  CHECK_EQ(c.ask("DELETE", path).status, 404u);
  CHECK_EQ(c.ask("GET", path + "/p").status, 404u);
  CHECK_EQ(c.ask("PUT", path + "/p", body, "application/json").status, 404u);
  CHECK_EQ(c.ask("PATCH", path + "/p", "{}", merge).status, 404u);
  CHECK_EQ(c.ask("DELETE", path + "/p").status, 404u);
}

SCENARIO("a user without the right is refused by name, before anything else is looked at") {
  cluster c;
  c.make("a");
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  const auto role = R"({"metadata":{"name":"r"},"rules":[{"apiGroups":["agents.x-k8s.io"],"resources":["sandboxes"],"verbs":["get"]}]})";
  const auto binding = R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"nobody"}]})";
  REQUIRE_EQ(c.ask("POST", rbac + "/roles", role, "application/json").status, 201u);
  REQUIRE_EQ(c.ask("POST", rbac + "/rolebindings", binding, "application/json").status, 201u);
  c.token = "other";
  CHECK_EQ(c.ask("GET", boxes + "/a").status, 200u);
  const auto list = c.ask("GET", boxes);
  CHECK_EQ(list.status, 403u);
  CHECK_EQ(
    text_at(list.body, {"message"}),
    R"(sandboxes.agents.x-k8s.io is forbidden: User "nobody" cannot list resource "sandboxes" in API group "agents.x-k8s.io" in the namespace "default")");
  // Neither the missing namespace nor the body is told of.
  const auto elsewhere = c.ask("POST", "/apis/agents.x-k8s.io/v1beta1/namespaces/nowhere/sandboxes", "{", "application/json");
  CHECK_EQ(elsewhere.status, 403u);
  CHECK_NE(text_at(elsewhere.body, {"message"}).find(R"(in the namespace "nowhere")"), std::string::npos);
}

SCENARIO("who has no good token hears nothing but that the server lives") {
  cluster c;
  c.token = "";
  CHECK_EQ(c.ask("GET", boxes).status, 403u);
  CHECK_EQ(c.ask("GET", "/healthz").text, "ok");
  CHECK_EQ(c.ask("GET", "/readyz").text, "ok");
  CHECK_EQ(c.ask("GET", "/livez").text, "ok");
  CHECK(c.ask("GET", "/version").body.contains("gitVersion"));
  for (const auto* token : {"wrong", "s3cre", "s3cret2"}) {
    c.token = token;
    for (const auto& path : {boxes, std::string{"/apis"}, std::string{"/nowhere"}, std::string{"/healthz"}}) {
      const auto got = c.ask("GET", path);
      CHECK_EQ(got.status, 401u);
      CHECK_EQ(text_at(got.body, {"reason"}), "Unauthorized");
    }
  }
}

SCENARIO("what is not served is refused as the API refuses it") {
  cluster c;
  c.make("a");
  CHECK_EQ(c.ask("PUT", boxes, "{}", "application/json").status, 405u);
  CHECK_EQ(c.ask("PATCH", boxes, "{}", merge).status, 405u);
  CHECK_EQ(c.ask("DELETE", boxes + "/a/status").status, 405u);
  CHECK_EQ(c.ask("POST", "/api/v1/pods", "{}", "application/json").status, 405u);
  CHECK_EQ(c.ask("DELETE", "/api/v1/namespaces").status, 405u);
  CHECK_EQ(c.ask("DELETE", "/api/v1/pods").status, 405u);
  CHECK_EQ(c.ask("DELETE", "/api/v1/namespaces/default").status, 403u);
  CHECK_EQ(c.ask("GET", boxes + "/a/scale").status, 404u);
  CHECK_EQ(c.ask("GET", pods + "/a/log").status, 404u);
  CHECK_EQ(c.ask("PATCH", boxes + "/a", "{}", "application/apply-patch+cbor").status, 415u);
  CHECK_EQ(c.ask("DELETE", boxes + "/a", R"({"propagationPolicy":"Sideways"})", "application/json").status, 422u);
  CHECK_EQ(c.ask("POST", pods + "/a/eviction", "{}", "application/json").status, 404u);
  CHECK_EQ(c.ask("POST", pods + "/a/exec?command=ls").status, 404u);
  CHECK_EQ(c.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "{}", "application/json").status, 405u);
  CHECK_EQ(c.ask("DELETE", boxes + "/a", R"({"preconditions":{"uid":7}})", "application/json").status, 400u);
  CHECK_EQ(c.ask("POST", boxes, std::string(3 * 1024 * 1024 + 1, ' '), "application/json").status, 413u);
  CHECK_EQ(c.ask("GET", boxes + "?labelSelector=a%20b").status, 400u);
  CHECK_EQ(c.ask("GET", boxes + "?resourceVersion=999999").status, 504u);
  CHECK_EQ(c.ask("POST", boxes, std::string(100'000, '['), "application/json").status, 400u);
  CHECK_EQ(c.ask("GET", boxes + "/a").status, 200u);
}

SCENARIO("a client finds out what is served") {
  cluster c;
  CHECK(c.ask("GET", "/api").body["versions"] == json::array({"v1"}));
  CHECK_EQ(c.ask("GET", "/apis").body["groups"].size(), 10u);
  CHECK(c.ask("GET", "/apis/agents.x-k8s.io").body["preferredVersion"]["version"] == "v1beta1");
  const auto kinds = c.ask("GET", "/apis/agents.x-k8s.io/v1beta1").body;
  CHECK(kinds["kind"] == "APIResourceList");
  CHECK(kinds["resources"][0]["name"] == "sandboxes");
  CHECK(kinds["resources"][1]["name"] == "sandboxes/status");
  CHECK_EQ(c.ask("POST", "/apis", "{}", "application/json").status, 405u);
  CHECK_EQ(c.ask("GET", "/apis/cilium.io/v2").status, 404u);
  const auto index = c.ask("GET", "/openapi/v3").body["paths"];
  REQUIRE(index.contains("apis/agents.x-k8s.io/v1beta1"));
  const auto document = c.ask("GET", text_at(index["apis/agents.x-k8s.io/v1beta1"], {"serverRelativeURL"})).body;
  const auto& patch = document["paths"]["/apis/agents.x-k8s.io/v1beta1/namespaces/{namespace}/sandboxes/{name}"]["patch"];
  CHECK(patch["parameters"][2]["name"] == "fieldValidation");
  const auto& schemas = document["components"]["schemas"];
  CHECK(schemas["agents.x-k8s.io.v1beta1.Sandbox"]["properties"]["spec"]["properties"]["operatingMode"]["type"] == "string");
  CHECK(schemas["ObjectMeta"]["properties"]["ownerReferences"]["items"]["allOf"][0]["$ref"] == "#/components/schemas/OwnerReference");
  CHECK(schemas.contains("OwnerReference"));
  CHECK(!schemas.contains("PodSpec"));
  CHECK_EQ(c.ask("GET", "/openapi/v3/apis/none/v1").status, 404u);
}

SCENARIO("lists are of one namespace or of all, and chosen by labels") {
  cluster c;
  REQUIRE_EQ(c.ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"second"}})", "application/json").status, 201u);
  c.make("a", {{"metadata", {{"labels", {{"k", "v"}}}}}});
  c.make("b");
  const auto all = c.ask("GET", "/apis/agents.x-k8s.io/v1beta1/sandboxes");
  CHECK_EQ(all.body["items"].size(), 2u);
  CHECK(all.body["kind"] == "SandboxList");
  CHECK_EQ(text_at(all.body, {"metadata", "resourceVersion"}), c.version("b"));
  CHECK_EQ(c.ask("GET", "/apis/agents.x-k8s.io/v1beta1/namespaces/second/sandboxes").body["items"].size(), 0u);
  const auto some = c.ask("GET", boxes + "?labelSelector=k%3Dv").body["items"];
  REQUIRE_EQ(some.size(), 1u);
  CHECK_EQ(text_at(some[0], {"metadata", "name"}), "a");
  CHECK_EQ(c.ask("GET", boxes + "?limit=1").body["items"].size(), 1u);
}

SCENARIO("a pod is bound, deleted with grace and then removed") {
  cluster c;
  const auto made = c.ask(
    "POST", pods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i:1"}],"terminationGracePeriodSeconds":5}})",
    "application/json");
  REQUIRE_EQ(made.status, 201u);
  CHECK_EQ(c.ask("POST", pods + "/p/binding",
                 R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})", "application/json")
             .status,
           201u);
  CHECK_EQ(c.ask("PATCH", pods + "/p/status", R"({"status":{"phase":"Running"}})", merge).status, 200u);
  const auto first = c.ask("DELETE", pods + "/p");
  CHECK_EQ(first.status, 200u);
  CHECK(first.body["metadata"]["deletionGracePeriodSeconds"] == 5);
  CHECK_EQ(
    c.ask("POST", pods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i:1"}]}})", "application/json").status,
    409u);
  CHECK_EQ(c.ask("DELETE", pods + "/p", R"({"gracePeriodSeconds":0,"preconditions":{"uid":"other"}})", "application/json").status, 409u);
  CHECK_EQ(c.ask("DELETE", pods + "/p", R"({"gracePeriodSeconds":0})", "application/json").status, 200u);
  CHECK_EQ(c.ask("GET", pods + "/p").status, 404u);
}

// -- watches ------------------------------------------------------------------------------------------------------

SCENARIO("a watch hears of writes as they are made") {
  cluster c;
  c.make("before");
  watching w{c, boxes + "?watch=true&resourceVersion=" + c.version("before")};
  c.make("a");
  run_until(c.on, [&] { return w.told().size() == 1; });
  c.ask("PATCH", boxes + "/a", R"({"spec":{"operatingMode":"Suspended"}})", merge);
  run_until(c.on, [&] { return w.told().size() == 2; });
  c.ask("DELETE", boxes + "/a");
  run_until(c.on, [&] { return w.told().size() == 3; });
  CHECK_EQ(w.told(), (lines{"ADDED a", "MODIFIED a", "DELETED a"}));
  CHECK(!w.flow.done());
}

SCENARIO("a watch ends when its time is over, and one from too old a version says so and ends") {
  api_server_options options;
  options.bounds.events = 2;
  cluster c{std::move(options)};
  for (const auto* name : {"a", "b", "c", "d"})
    c.make(name);
  watching brief{c, boxes + "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Db"};
  run_until(c.on, [&] { return brief.flow.done(); });
  REQUIRE(brief.flow.get());
  CHECK_EQ(brief.told(), (lines{"ADDED b"}));
  watching old{c, boxes + "?watch=1&resourceVersion=1"};
  run_until(c.on, [&] { return old.flow.done(); });
  REQUIRE(old.flow.get());
  CHECK_EQ(old.told(), (lines{"ERROR "}));
  CHECK_NE(old.text->find(R"("code":410)"), std::string::npos);
}

SCENARIO("a watch without writes marks how far it has come and ends in time, and one whose client has gone ends") {
  manual_time clock;
  api_server_options options;
  options.watches = 2;
  cluster c{std::move(options), &clock};
  watching w{c, boxes + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=120&resourceVersion=" + c.version("")};
  auto lost = std::make_unique<watching>(c, boxes + "?watch=1");
  run_until(c.on, [&] { return clock.sleeping() == 2; });
  CHECK_EQ(c.ask("GET", boxes + "?watch=1").status, 429u);
  clock.advance(60s);
  run_until(c.on, [&] { return !w.told().empty(); });
  CHECK_EQ(w.told(), lines{"BOOKMARK "});
  CHECK_EQ(text_at(json::parse(*w.text), {"object", "metadata", "resourceVersion"}), c.version(""));
  lost->flow.cancel();
  run_until(c.on, [&] { return lost->flow.done(); });
  run_until(c.on, [&] {
    clock.advance(5s);
    return clock.sleeping() < 2;
  });
  CHECK(!w.flow.done());
  clock.advance(60s);
  run_until(c.on, [&] { return w.flow.done(); });
  CHECK(w.flow.get());
}

SCENARIO("a watch too many is refused, and closing ends those that run") {
  api_server_options options;
  options.watches = 1;
  auto c = std::make_unique<cluster>(std::move(options));
  c->make("a");
  watching first{*c, boxes + "?watch=1"};
  run_until(c->on, [&] { return first.told().size() == 1; });
  CHECK_EQ(c->ask("GET", boxes + "?watch=1").status, 429u);
  auto closed = false;
  c->server->close([&] { closed = true; });
  run_until(c->on, [&] { return closed && first.flow.done(); });
  CHECK(closed);
}

// -- what tests do to it --------------------------------------------------------------------------------------------

SCENARIO("requests are logged in order, with method, path, type, body and user, and without the token") {
  cluster c;
  c.ask("GET", boxes + "?limit=5");
  c.ask("PATCH", boxes + "/a", "{}", merge);
  c.token = "wrong";
  c.ask("GET", boxes);
  const auto log = c.server->requests();
  REQUIRE_EQ(log.size(), 3u);
  CHECK_EQ(log[0].method + " " + log[0].target, "GET " + boxes + "?limit=5");
  CHECK_EQ(log[0].user, "admin");
  CHECK_EQ(log[1].method + " " + log[1].target, "PATCH " + boxes + "/a");
  CHECK_EQ(log[1].content_type, merge);
  CHECK_EQ(log[1].body, "{}");
  CHECK_EQ(log[2].user, "");
  CHECK_LT(log[0].number, log[1].number);
  c.token = "s3cret";
  c.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"other"}})", "application/json");
  CHECK_EQ(c.server->requests().back().body, "[secret]");
  c.ask("POST", "/apis/authentication.k8s.io/v1/token%72eviews", R"({"spec":{"token":"other"}})", "application/json");
  CHECK_EQ(c.server->requests().back().body, "[secret]");
}

SCENARIO("a request can be made to fail before or after it is carried out") {
  fault_plan plan;
  api_server_options options;
  options.faults = [&](const logged_request& x) { return plan.next(x.method, x.target); };
  cluster c{std::move(options)};
  const auto body = [](const std::string& name) {
    return json{{"apiVersion", "agents.x-k8s.io/v1beta1"},
                {"kind", "Sandbox"},
                {"metadata", {{"name", name}}},
                {"spec", {{"podTemplate", {{"spec", {{"containers", {{{"name", "main"}}}}}}}}}}}
      .dump();
  };
  plan.add({"POST", boxes, 1, {.commit = false, .end = fault::ending::close}});
  plan.add({"POST", boxes, 2, {.commit = true, .end = fault::ending::close}});
  plan.add(
    {"POST", boxes, 3, {.commit = false, .end = fault::ending::replace, .status = 429, .headers = {{"Retry-After", "7"}}, .body = "busy"}});
  plan.add({"POST", boxes, 4, {.end = fault::ending::silence}});
  auto lost = c.exchange_one(c.request("POST", boxes, body("a"), "application/json"));
  REQUIRE(!lost);
  CHECK(lost.error().sent);
  CHECK_EQ(c.ask("GET", boxes + "/a").status, 404u);
  CHECK(!c.exchange_one(c.request("POST", boxes, body("b"), "application/json")));
  CHECK_EQ(c.ask("GET", boxes + "/b").status, 200u);
  const auto busy = c.ask("POST", boxes, body("c"), "application/json");
  CHECK_EQ(busy.status, 429u);
  CHECK_EQ(header(busy.headers, "retry-after").value_or(""), "7");
  CHECK_EQ(c.ask("GET", boxes + "/c").status, 404u);
  auto silent = c.exchange_one(c.request("POST", boxes, body("d"), "application/json"), 200ms);
  REQUIRE(!silent);
  CHECK_EQ(silent.error().at, io_failure::stage::timeout);
  CHECK_EQ(c.ask("POST", boxes, body("e"), "application/json").status, 201u);
}

// -- on disk --------------------------------------------------------------------------------------------------------

namespace {

/// Counts the groups, and does not keep the first that has more than one write.
struct grouping_journal final : journal_port {
  tl::expected<void, std::string> commit(std::uint64_t, const std::string& key, const std::optional<std::string>&) override {
    group.push_back(key);
    return {};
  }
  void begin_group() override {
    group.clear();
  }
  tl::expected<void, std::string> end_group() override {
    ++groups;
    if (refuses && group.size() > 1) {
      refuses = false;
      return tl::unexpected{std::string{"disk full"}};
    }
    kept.insert(kept.end(), group.begin(), group.end());
    return {};
  }
  bool refuses = false;
  std::size_t groups = 0;
  std::vector<std::string> group;
  std::vector<std::string> kept;
};

} // namespace

SCENARIO("writes that come together are kept together, and each is answered and watched as if it were alone") {
  for (const auto refuses : {false, true}) {
    grouping_journal journal;
    journal.refuses = refuses;
    api_server_options options;
    options.journal = &journal;
    options.faults = [](const logged_request& x) { return x.method == "POST" ? std::optional{fault{.delay = 1s}} : std::nullopt; };
    manual_time clock;
    cluster c{std::move(options), &clock};
    watching w{c, pods + "?watch=1"};
    run_until(c.on, [&] { return clock.sleeping() == 1; });
    journal.groups = 0;
    constexpr auto many = std::size_t{64};
    std::vector<started<io_result<http_response>>> all;
    for (auto i = std::size_t{0}; i < many; ++i) {
      json pod{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p" + std::to_string(i)}}}};
      pod["spec"]["containers"] = json::array({{{"name", "main"}, {"image", "i:1"}}});
      auto what = c.request("POST", pods, pod.dump(), "application/json");
      all.push_back(start_flow(c.on, c.exchange->send(c.where, std::move(what), {}, deadline{c.time, 10s})));
    }
    // All of them wait, and then come at once.
    run_until(c.on, [&] { return clock.sleeping() == many + 1; });
    clock.advance(1s);
    std::set<std::string> versions;
    for (auto& x : all) {
      run_until(c.on, [&] { return x.done(); });
      REQUIRE(x.get());
      CHECK_EQ(x.get()->status, 201u);
      versions.insert(text_at(json::parse(x.get()->body), {"metadata", "resourceVersion"}));
    }
    CHECK_EQ(versions.size(), many);
    CHECK_LT(journal.groups, many / 4);
    CHECK_EQ(journal.kept.size() == many, !refuses);
    CHECK(!journal.refuses);
    run_until(c.on, [&] { return w.told().size() == many; });
    auto told = w.told();
    CHECK_EQ(std::set<std::string>(told.begin(), told.end()).size(), many);
  }
}

SCENARIO("objects outlive the server when it has a journal, and a full disk is an error and not a loss") {
  auto name = (std::filesystem::temp_directory_path() / "paddock-server-XXXXXX").string();
  REQUIRE_NE(::mkdtemp(name.data()), nullptr);
  const auto file = std::filesystem::path{name} / "objects.sqlite";
  std::string uid;
  std::string version;
  {
    auto journal = durable_store::open({file, 128 * 1024});
    REQUIRE(journal);
    api_server_options options;
    options.journal = journal->get();
    cluster c{std::move(options)};
    c.make("a");
    c.make("b");
    c.ask("DELETE", boxes + "/b");
    const auto full = c.make("big", {{"metadata", {{"annotations", {{"x", std::string(200'000, 'x')}}}}}});
    CHECK_EQ(full.status, 500u);
    CHECK_EQ(text_at(full.body, {"reason"}), "InternalError");
    CHECK_EQ(c.ask("GET", boxes + "/big").status, 404u);
    CHECK_EQ(c.make("small").status, 201u);
    uid = c.uid("a");
    version = c.version("small");
  }
  {
    auto journal = durable_store::open({file, 128 * 1024});
    REQUIRE(journal);
    auto image = (*journal)->load();
    REQUIRE(image);
    api_server_options options;
    options.journal = journal->get();
    options.stored = std::move(*image);
    cluster c{std::move(options)};
    CHECK_EQ(c.uid("a"), uid);
    CHECK_EQ(c.ask("GET", boxes + "/b").status, 404u);
    CHECK_EQ(c.version("small"), version);
    CHECK_EQ(text_at(c.make("c").body, {"metadata", "resourceVersion"}), std::to_string(std::stoull(version) + 1));
    // A client that watched the earlier server goes on where it was.
    watching w{c, boxes + "?watch=1&resourceVersion=" + version};
    run_until(c.on, [&] { return w.told().size() == 1; });
    CHECK_EQ(w.told(), (lines{"ADDED c"}));
  }
  std::error_code ignored;
  std::filesystem::remove_all(name, ignored);
}
