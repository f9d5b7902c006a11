#define CAF_SUITE table

#include "embedded/human_age.hpp"
#include "embedded/store_watch.hpp"
#include "embedded/table.hpp"
#include "tests/embedded/api_world.hpp"

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto as_table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

std::vector<std::string> columns(const json& table) {
  std::vector<std::string> out;
  for (const auto& x : table.at("columnDefinitions"))
    out.push_back(text_at(x, {"name"}));
  return out;
}

using words = std::vector<std::string>;

} // namespace

// Held against what a real kube-apiserver 1.36 answered.
SCENARIO("a list as a table has the columns of its kind and a row for each object") {
  api_world w;
  w.pod("a");
  w.now += 3s;
  const auto got = w.get(w.pods, as_table);
  REQUIRE_EQ(got.status, 200u);
  CHECK_EQ(text_at(got.body, {"kind"}), "Table");
  CHECK_EQ(text_at(got.body, {"apiVersion"}), "meta.k8s.io/v1");
  CHECK_EQ(columns(got.body), (words{"Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"}));
  REQUIRE_EQ(got.body["rows"].size(), 1u);
  const auto& row = got.body["rows"][0];
  CHECK_EQ(row["cells"].dump(), R"(["a","0/1","Pending","0","3s","<none>","<none>","<none>","<none>"])");
  CHECK_EQ(text_at(row, {"object", "kind"}), "PartialObjectMetadata");
  CHECK(!row["object"].contains("spec"));
}

SCENARIO("a client says what stands beside the cells") {
  api_world w;
  w.config("a");
  CHECK(w.get(std::string{w.configs} + "?includeObject=None", as_table).body["rows"][0]["object"].is_null());
  CHECK(w.get(std::string{w.configs} + "?includeObject=Object", as_table).body["rows"][0]["object"].contains("data"));
  CHECK_EQ(w.get(std::string{w.configs} + "/a", as_table).body["rows"][0]["cells"].dump(), R"(["a",1,"0s"])");
}

SCENARIO("a custom kind's table has the columns of its definition") {
  api_world w;
  w.make(std::string{w.extensions} + "/sandboxwarmpools", {{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
                                                           {"kind", "SandboxWarmPool"},
                                                           {"metadata", {{"name", "p"}}},
                                                           {"spec", {{"replicas", 2}, {"sandboxTemplateRef", {{"name", "t"}}}}}});
  const auto pool = w.get(std::string{w.extensions} + "/sandboxwarmpools", as_table).body;
  CHECK_EQ(columns(pool), (words{"Name", "Ready", "Desired", "Age"}));
  CHECK_EQ(pool["rows"][0]["cells"].dump(), R"(["p",null,2,"0s"])");
  w.make(w.boxes, {{"apiVersion", "agents.x-k8s.io/v1beta1"},
                   {"kind", "Sandbox"},
                   {"metadata", {{"name", "s"}}},
                   {"spec", {{"podTemplate", {{"spec", {{"containers", {{{"name", "main"}}}}}}}}}}});
  const json status{{"status",
                     {{"conditions",
                       {{{"type", "Ready"},
                         {"status", "True"},
                         {"reason", "DependenciesReady"},
                         {"message", ""},
                         {"lastTransitionTime", "2026-11-29T17:11:33Z"}}}}}}};
  REQUIRE_EQ(w.ask({"PATCH", std::string{w.boxes} + "/s/status", status.dump(), "application/merge-patch+json"}).status, 200u);
  CHECK_EQ(w.get(w.boxes, as_table).body["rows"][0]["cells"].dump(), R"(["s","True","DependenciesReady","0s"])");
}

SCENARIO("of a watch's tables only the first has columns") {
  api_world w;
  w.config("a");
  w.config("b");
  auto got = w.serve_one({.method = "GET", .target = std::string{w.configs} + "?watch=true", .accept = as_table});
  auto* start = std::get_if<watch_start>(&got);
  REQUIRE(start != nullptr);
  store_watch watch{w.objects, start->request};
  const auto text = watch.next(1 << 20, w.now + 5s);
  const auto first = json::parse(text.substr(0, text.find('\n')));
  const auto second = json::parse(text.substr(text.find('\n') + 1));
  CHECK_EQ(first["object"]["columnDefinitions"].size(), 3u);
  CHECK_EQ(first["object"]["rows"][0]["cells"].dump(), R"(["a",1,"5s"])");
  CHECK(second["object"]["columnDefinitions"].is_null());
}

SCENARIO("every kind that is kept has columns, and rows of as many cells") {
  const json bare{{"metadata", {{"name", "x"}}}};
  for (const auto& kind : served_kinds()) {
    if (kind.asks)
      continue;
    const auto row = table_row(kind, bare, bare, {}, {});
    CHECK_EQ(row["cells"].size(), columns_of(kind).size());
  }
}

SCENARIO("a pod's row tells why it does not run") {
  const auto status = [](const json& pod) {
    return table_row(*find_kind("", "v1", "pods"), pod, pod, {}, {})["cells"][2].get<std::string>();
  };
  const auto with = [](const json& state) {
    return json{{"spec", {{"containers", {{{"name", "c"}}}}}},
                {"status", {{"phase", "Running"}, {"containerStatuses", {{{"name", "c"}, {"state", state}, {"restartCount", 2}}}}}}};
  };
  CHECK_EQ(status(with({{"waiting", {{"reason", "CrashLoopBackOff"}}}})), "CrashLoopBackOff");
  CHECK_EQ(status(with({{"terminated", {{"exitCode", 3}}}})), "ExitCode:3");
  CHECK_EQ(status(with({{"terminated", {{"signal", 9}, {"exitCode", 137}}}})), "Signal:9");
  auto ending = with({{"running", json::object()}});
  CHECK_EQ(status(ending), "Running");
  ending["metadata"]["deletionTimestamp"] = "2026-11-29T17:11:33Z";
  CHECK_EQ(status(ending), "Terminating");
}

SCENARIO("ages are told in the two largest units that matter") {
  const auto now = store::instant{std::chrono::seconds{1'795'972'289}};
  const auto after = [&](std::chrono::seconds x) { return human_age(rfc3339_seconds(now - x), now); };
  CHECK_EQ(after(0s), "0s");
  CHECK_EQ(after(119s), "119s");
  CHECK_EQ(after(200s), "3m20s");
  CHECK_EQ(after(10min), "10m");
  CHECK_EQ(after(4h + 30min), "4h30m");
  CHECK_EQ(after(30h), "30h");
  CHECK_EQ(after(24h * 333), "333d");
  CHECK_EQ(human_age("", now), "<unknown>");
}

SCENARIO("objects are told as JSON, YAML or by their metadata alone, and in no other form") {
  api_world w;
  w.config("a");
  const auto one = std::string{w.configs} + "/a";
  CHECK_EQ(w.get(one, "application/yaml").type, "application/yaml");
  CHECK(w.get(one, "application/yaml").text.starts_with("apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\n"));
  const auto partial = w.get(w.configs, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io").body;
  CHECK_EQ(text_at(partial, {"kind"}), "PartialObjectMetadataList");
  CHECK(!partial["items"][0].contains("data"));
  CHECK_EQ(w.get(one, "application/vnd.kubernetes.protobuf").status, 406u);
  CHECK_EQ(w.get(one, "application/vnd.kubernetes.protobuf, application/json;q=0.5").status, 200u);
  CHECK_EQ(w.get(one, "application/json;as=Table;v=v9;g=meta.k8s.io").status, 406u);
}
