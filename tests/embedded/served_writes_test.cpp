#define CAF_SUITE served_writes

#include "tests/embedded/api_world.hpp"

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto merge = "application/merge-patch+json";
constexpr auto strategic = "application/strategic-merge-patch+json";
using words = std::vector<std::string>;

} // namespace

// -- bodies -------------------------------------------------------------------------------------------------------

SCENARIO("a body may be YAML") {
  api_world w;
  const auto made =
    w.ask({"POST", w.configs, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y1\ndata:\n  a: \"1\"\n  b: |\n    c\n    d\n",
           "application/yaml"});
  REQUIRE_EQ(made.status, 201u);
  CHECK_EQ(made.body["data"].dump(), R"({"a":"1","b":"c\nd\n"})");
  CHECK_EQ(w.ask({"POST", w.configs, "metadata: {name: n}\ndata: {a: 1}\n", "application/yaml"}).status, 400u);
  const auto broken = w.ask({"POST", w.configs, "apiVersion: v1\nkind: ConfigMap\nmetadata: {\n", "application/yaml"});
  CHECK_EQ(broken.status, 400u);
  CHECK(broken.message().starts_with("the object provided is unrecognized (must be of type ConfigMap): yaml: line "));
}

SCENARIO("a body in YAML is bounded more closely than one in JSON") {
  api_world w;
  const auto sized = [](std::size_t n) {
    std::string out = "metadata: {name: small}\n#";
    out.resize(n, 'x');
    return out;
  };
  CHECK_EQ(w.ask({"POST", w.configs, sized(256 * 1024), "application/yaml"}).status, 201u);
  for (const auto* type : {"application/yaml", "Application/YAML; charset=utf-8"}) {
    const auto got = w.ask({"POST", w.configs, sized(256 * 1024 + 1), type});
    CHECK_EQ(got.status, 413u);
    CHECK_EQ(text_at(got.body, {"reason"}), "RequestEntityTooLarge");
    CHECK_EQ(got.message(), "Request entity too large: limit is 262144 for YAML");
    CHECK_EQ(w.ask({"DELETE", std::string{w.configs} + "/small", sized(256 * 1024 + 1), type}).status, 413u);
  }
  const auto large = R"({"metadata":{"name":"j"},"data":{"k":")" + std::string(300 * 1024, 'x') + R"("}})";
  CHECK_EQ(w.ask({"POST", w.configs, large}).status, 201u);
}

SCENARIO("YAML that unfolds without end, or is nested without end, is refused") {
  api_world w;
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'm'; ++c)
    bomb += std::string{c} + ": &" + c + " [*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + ",*"
            + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1)
            + "]\n";
  CHECK_EQ(w.ask({"POST", w.configs, bomb, "application/yaml"}).status, 400u);
  CHECK_EQ(w.ask({"POST", w.configs, std::string(50'000, '['), "application/yaml"}).status, 400u);
  CHECK_EQ(w.ask({"POST", w.configs, std::string(50'000, '{'), "application/yaml"}).status, 400u);
}

// The texts are those of a real kube-apiserver 1.36.
SCENARIO("unknown and doubled fields are ignored, warned of or refused, as the client says") {
  api_world w;
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","name":"d"},"data":{"a":"1","a":"2"},"foo":1})";
  const auto strict = w.ask({"POST", std::string{w.configs} + "?fieldValidation=Strict", body});
  CHECK_EQ(strict.status, 400u);
  CHECK_EQ(strict.message(), R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: )"
                             R"(duplicate field "metadata.name", duplicate field "data.a", unknown field "foo")");
  const auto warned = w.ask({"POST", std::string{w.configs} + "?dryRun=All", body});
  CHECK_EQ(warned.status, 201u);
  CHECK_EQ(warned.warnings, (words{R"(299 - "duplicate field \"metadata.name\"")", R"(299 - "duplicate field \"data.a\"")",
                                   R"(299 - "unknown field \"foo\"")"}));
  CHECK(!warned.body.contains("foo"));
  const auto ignored = w.ask({"POST", std::string{w.configs} + "?fieldValidation=Ignore", body});
  CHECK_EQ(ignored.status, 201u);
  CHECK(ignored.warnings.empty());
  CHECK_EQ(text_at(ignored.body, {"data", "a"}), "2");
}

SCENARIO("a pod's fields are known down to the last one") {
  api_world w;
  const std::string body =
    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b","foo":1,"resources":{"bar":1}}],"zip":1}})";
  CHECK_EQ(w.ask({"POST", std::string{w.pods} + "?fieldValidation=Strict", body}).message(),
           R"(Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containers[0].foo", )"
           R"(unknown field "spec.containers[0].resources.bar", unknown field "spec.zip")");
  const auto made = w.ask({"POST", w.pods, body});
  REQUIRE_EQ(made.status, 201u);
  CHECK(!made.body["spec"].contains("zip"));
  CHECK_EQ(w.ask({"POST", w.pods, R"({"metadata":{"name":"q"},"spec":{"containers":[{"name":"a","image":7}]}})"}).status, 400u);
  CHECK_EQ(w.ask({"PATCH", std::string{w.pods} + "/p?fieldValidation=Strict", R"({"spec":{"zip":1}})", merge}).status, 422u);
}

SCENARIO("a write that is only tried changes nothing") {
  api_world w;
  w.config("a");
  const auto version = w.objects.version();
  const auto one = std::string{w.configs} + "/a";
  const auto made = w.ask({"POST", std::string{w.configs} + "?dryRun=All", R"({"metadata":{"generateName":"x"}})"});
  CHECK_EQ(made.status, 201u);
  CHECK(!made.body["metadata"].contains("resourceVersion"));
  CHECK_EQ(text_at(w.ask({"PATCH", one + "?dryRun=All", R"({"data":{"k":"w"}})", merge}).body, {"data", "k"}), "w");
  CHECK_EQ(w.ask({"PUT", one + "?dryRun=All", R"({"metadata":{"name":"a"},"data":{}})"}).status, 200u);
  CHECK_EQ(w.ask({"DELETE", one + "?dryRun=All"}).status, 200u);
  CHECK_EQ(w.ask({"DELETE", one, R"({"dryRun":["All"]})"}).status, 200u);
  CHECK_EQ(w.ask({"DELETE", std::string{w.configs} + "?dryRun=All"}).status, 200u);
  CHECK_EQ(w.objects.version(), version);
  const auto refused = w.ask({"PATCH", one + "?dryRun=Foo", "{}", merge});
  CHECK_EQ(refused.message(), R"(PatchOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Foo"]: supported values: "All")");
}

SCENARIO("a word about trying that is not exactly the one there is refuses the write") {
  api_world w;
  w.config("a");
  const auto version = w.objects.version();
  const auto all = std::string{w.configs};
  const auto one = all + "/a";
  for (const auto* word : {"dryRun=", "dryRun", "dryRun=all", "dryRun=All&dryRun=", "dryRun=All&dryRun=Foo"}) {
    CAF_MESSAGE(word);
    const auto query = std::string{"?"} + word;
    CHECK_EQ(w.ask({"POST", all + query, R"({"metadata":{"name":"b"}})"}).status, 422u);
    CHECK_EQ(w.ask({"PUT", one + query, R"({"metadata":{"name":"a"},"data":{}})"}).status, 422u);
    CHECK_EQ(w.ask({"PATCH", one + query, R"({"data":{"k":"w"}})", merge}).status, 422u);
    CHECK_EQ(w.ask({"DELETE", one + query}).status, 422u);
    CHECK_EQ(w.ask({"DELETE", one + query, R"({"dryRun":["All"]})"}).status, 422u);
    CHECK_EQ(w.ask({"DELETE", all + query}).status, 422u);
  }
  CHECK_EQ(w.ask({"DELETE", one + "?dryRun="}).message(),
           R"(DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported values: "All")");
  CHECK_EQ(w.ask({"DELETE", one + "?dryRun=All&dryRun=All"}).status, 200u);
  CHECK_EQ(w.objects.version(), version);
}

// -- patches ------------------------------------------------------------------------------------------------------

SCENARIO("a strategic merge patch is for built-in kinds, and apply is for all") {
  api_world w;
  w.pod("p");
  const auto got = w.ask({"PATCH", std::string{w.pods} + "/p", R"({"spec":{"containers":[{"name":"main","image":"new:2"}]}})", strategic});
  REQUIRE_EQ(got.status, 200u);
  CHECK_EQ(text_at(got.body["spec"]["containers"][0], {"image"}), "new:2");
  CHECK_EQ(got.body["spec"]["containers"].size(), 1u);
  CHECK_EQ(w.ask({"PATCH", std::string{w.boxes} + "/s", "{}", strategic}).status, 415u);
  const auto apply = [&](const std::string& target, const std::string& body) {
    return w.ask({"PATCH", target + "?fieldManager=m", body, "application/apply-patch+yaml"}).status;
  };
  CHECK_EQ(apply(std::string{w.pods} + "/p", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {a: b}}\n"), 200u);
  CHECK_EQ(apply(std::string{w.boxes} + "/s", "apiVersion: agents.x-k8s.io/v1beta1\nkind: Sandbox\nmetadata: {name: s}\n"
                                              "spec: {podTemplate: {spec: {containers: [{name: main, image: i}]}}}\n"),
           201u);
}

// -- deletes ------------------------------------------------------------------------------------------------------

SCENARIO("a collection is deleted as far as the selectors choose it, and answers with what it was") {
  api_world w;
  w.config("a", {{"labels", {{"go", "yes"}}}});
  w.config("b");
  w.config("c", {{"labels", {{"go", "yes"}}}, {"finalizers", {"x.y/z"}}});
  const auto gone = w.ask({"DELETE", std::string{w.configs} + "?labelSelector=go%3Dyes"});
  CHECK_EQ(gone.status, 200u);
  CHECK_EQ(text_at(gone.body, {"kind"}), "ConfigMapList");
  CHECK_EQ(names_in(gone.body), (words{"a", "c"}));
  const auto left = w.get(w.configs).body;
  CHECK_EQ(names_in(left), (words{"b", "c"}));
  CHECK(left["items"][1]["metadata"].contains("deletionTimestamp"));
}

SCENARIO("what becomes of the children is written into the finalizers") {
  api_world w;
  const auto finalizers = [&](const std::string& name, const std::string& options) {
    w.config(name);
    return w.ask({"DELETE", std::string{w.configs} + "/" + name, options}).body["metadata"]["finalizers"].dump();
  };
  CHECK_EQ(finalizers("a", R"({"propagationPolicy":"Foreground"})"), R"(["foregroundDeletion"])");
  CHECK_EQ(finalizers("b", R"({"propagationPolicy":"Orphan"})"), R"(["orphan"])");
  CHECK_EQ(finalizers("c", R"({"orphanDependents":true})"), R"(["orphan"])");
  // A later word counts, and no word leaves the first.
  CHECK_EQ(w.ask({"DELETE", std::string{w.configs} + "/a"}).body["metadata"]["finalizers"].dump(), R"(["foregroundDeletion"])");
  CHECK_EQ(w.ask({"DELETE", std::string{w.configs} + "/a", R"({"propagationPolicy":"Background"})"}).status, 200u);
  CHECK_EQ(w.get(std::string{w.configs} + "/a").status, 404u);
  CHECK_EQ(w.ask({"DELETE", std::string{w.configs} + "/b", R"({"propagationPolicy":"Orphan","orphanDependents":true})"}).status, 422u);
}

SCENARIO("a kind that the garbage collector does not look after goes in the background, whatever is asked") {
  api_world w;
  for (const auto* collection : {"/api/v1/namespaces/default/secrets", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                                 "/apis/rbac.authorization.k8s.io/v1/clusterroles"})
    for (const auto* policy : {"Foreground", "Orphan"}) {
      w.make(collection, {{"metadata", {{"name", "x"}}}});
      const auto one = std::string{collection} + "/x";
      CHECK_EQ(w.ask({"DELETE", one, json{{"propagationPolicy", policy}}.dump()}).status, 200u);
      CHECK_EQ(w.get(one).status, 404u);
    }
  const auto ending = w.ask({"DELETE", "/api/v1/namespaces/other", R"({"propagationPolicy":"Foreground"})"}).body;
  CHECK(!ending["metadata"].contains("finalizers"));
}

SCENARIO("the preconditions of a delete may stand in its query") {
  api_world w;
  const auto made = w.config("a");
  const auto one = std::string{w.configs} + "/a";
  CHECK_EQ(w.ask({"DELETE", one + "?uid=another"}).status, 409u);
  CHECK_EQ(w.ask({"DELETE", one + "?resourceVersion=1"}).status, 409u);
  CHECK_EQ(w.get(one).status, 200u);
  CHECK_EQ(w.ask({"DELETE", one + "?uid=" + text_at(made, {"metadata", "uid"})
                              + "&resourceVersion=" + text_at(made, {"metadata", "resourceVersion"})})
             .status,
           200u);
  CHECK_EQ(w.get(one).status, 404u);
}

SCENARIO("a collection is deleted page by page, each as the list that it continues") {
  api_world w{{.events = 4}};
  for (const auto* name : {"a", "b", "c", "d"})
    w.config(name);
  const auto first = w.ask({"DELETE", std::string{w.configs} + "?limit=1"}).body;
  CHECK_EQ(names_in(first), (words{"a"}));
  const auto rest = std::string{w.configs} + "?limit=2&continue=" + text_at(first, {"metadata", "continue"});
  CHECK_EQ(names_in(w.ask({"DELETE", rest}).body), (words{"b", "c"}));
  CHECK_EQ(names_in(w.get(w.configs).body), (words{"d"}));
  // What came after that moment is not of that list.
  w.config("e");
  CHECK_EQ(names_in(w.ask({"DELETE", rest + "&dryRun=All"}).body), (words{"b", "c"}));
  w.config("f");
  CHECK_EQ(w.ask({"DELETE", rest}).status, 410u);
  CHECK_EQ(w.ask({"DELETE", std::string{w.configs} + "?resourceVersion=999"}).status, 504u);
  CHECK_EQ(names_in(w.get(w.configs).body), (words{"d", "e", "f"}));
  CHECK_EQ(names_in(w.ask({"DELETE", std::string{w.configs} + "?resourceVersion=0"}).body), (words{"d", "e", "f"}));
}

SCENARIO("a namespace terminates, takes nothing new, and goes when it is finalized") {
  api_world w;
  const std::string other = "/api/v1/namespaces/other";
  const auto ending = w.ask({"DELETE", other}).body;
  CHECK_EQ(text_at(ending, {"status", "phase"}), "Terminating");
  const auto late = w.ask({"POST", other + "/configmaps", R"({"metadata":{"name":"late"}})"});
  CHECK_EQ(late.status, 403u);
  CHECK_EQ(text_at(late.body["details"]["causes"][0], {"reason"}), "NamespaceTerminating");
  // Only there are its finalizers changed.
  CHECK_EQ(w.ask({"PATCH", other, R"({"spec":{"finalizers":null}})", merge}).body["spec"]["finalizers"].size(), 1u);
  CHECK_EQ(w.ask({"PUT", other + "/finalize", R"({"metadata":{"name":"other"},"spec":{"finalizers":[]}})"}).status, 200u);
  CHECK_EQ(w.get(other).status, 404u);
  CHECK_EQ(w.ask({"DELETE", "/api/v1/namespaces/kube-system"}).status, 403u);
}
