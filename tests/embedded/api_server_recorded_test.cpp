#define CAF_SUITE api_server_recorded

#include "embedded/patch.hpp"
#include "embedded/resource_service.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <deque>
#include <fstream>
#include <regex>

// What a real kube-apiserver answered to one request each, against the same requests here. A refusal is compared byte by
// byte, an object without what differs from run to run.

using namespace paddock;
using namespace paddock::embedded;

namespace {

constexpr auto now = store::instant{std::chrono::seconds{1'795'972'289}};

/// The uids of the recorded objects.
const std::map<std::string, std::string> recorded_uids{{"a", "528fbefa-3f4a-4a0f-b836-a0103f062cc0"},
                                                       {"d", "c4cab1c0-6efe-44aa-859c-2b06a806c884"},
                                                       {"fin", "5af8243f-d823-4526-a202-de701e33e0f2"},
                                                       {"no-body", "55e6daf5-5f47-4564-88f8-2a86c9e2a138"},
                                                       {"vct", "dc5362df-cd19-4334-8ea7-c2b3c4086127"}};

/// The objects that stood on the recorded server, as far as the requests meet them.
struct world {
  std::string next_uid;
  store objects{nullptr, {}, {[this] { return next_uid; }, [](std::size_t n) { return std::string(n, 'x'); }}};
  request_gate gate{objects, {}, secret{std::string(32, 'k')}};
  bool gated = false;

  api_answer ask(const api_call& call) {
    return std::get<api_answer>(serve(objects, call, gated ? &gate : nullptr, now));
  }

  void make(const std::string& name, json extra = json::object()) {
    json object{{"apiVersion", "agents.x-k8s.io/v1beta1"},
                {"kind", "Sandbox"},
                {"metadata", {{"name", name}}},
                {"spec", {{"podTemplate", {{"spec", {{"containers", {{{"name", "main"}, {"image", "registry.example/app:1"}}}}}}}}}}};
    object.merge_patch(extra);
    next_uid = recorded_uids.contains(name) ? recorded_uids.at(name) : "00000000-0000-4000-8000-0000000000ff";
    auto made = ask({"POST", "/apis/agents.x-k8s.io/v1beta1/namespaces/rec/sandboxes", "application/json", "", object.dump(), "admin"});
    if (made.status != 201)
      CAF_FAIL("cannot set up " << name << ": " << made.body);
  }
};

bool starts_with(const std::string& text, std::string_view what) {
  return text.starts_with(what);
}

/// What differs from run to run, taken out.
json comparable(const std::string& text, bool with_uid) {
  auto value = json::parse(text, nullptr, false);
  const auto strip = [&](json& object) {
    if (!object.is_object() || !object.contains("metadata"))
      return;
    auto& metadata = object["metadata"];
    // Managers are held against other recordings (tests/conformance).
    for (const auto* field : {"creationTimestamp", "deletionTimestamp", "managedFields", "resourceVersion"})
      metadata.erase(field);
    if (!with_uid)
      metadata.erase("uid");
  };
  strip(value);
  if (value.contains("details") && !with_uid)
    value["details"].erase("uid");
  return value;
}

json recordings() {
  std::ifstream in{PADDOCK_TEST_RECORDINGS "/api_server.json"};
  return json::parse(in);
}

} // namespace

SCENARIO("each recorded request is answered as the real server answered it") {
  const auto all = recordings();
  REQUIRE(all.size() > 60u);
  for (const auto& one : all) {
    const auto name = one["case"].get<std::string>();
    world w;
    REQUIRE(w.objects.bootstrap({"default", "rec"}, now).has_value());
    // The scene.
    const bool fresh = name == "create-201" || name == "delete-missing-with-uid-404" || starts_with(name, "create-with-vct");
    if (!fresh) {
      w.make("a", {{"metadata", {{"labels", {{"k", "v"}}}}}});
      w.make("d");
      w.make("no-body");
      w.make("fin", {{"metadata", {{"finalizers", {"example.com/hold"}}}}});
      w.make("vct",
             {{"spec", {{"volumeClaimTemplates", {{{"metadata", {{"name", "data"}}}, {"spec", {{"accessModes", {"ReadWriteOnce"}}}}}}}}}});
      if (name.find("terminating") != std::string::npos)
        CHECK_EQ(w.ask({"DELETE", "/apis/agents.x-k8s.io/v1beta1/namespaces/rec/sandboxes/fin", "", "", "", "admin"}).status, 200u);
    }
    if (starts_with(name, "auth-rbac"))
      w.gated = true;
    // The request, with the version that the object has here.
    api_call call{one["method"],      one["target"], one.value("contentType", ""),
                  "application/json", one["body"],   starts_with(name, "auth-rbac") ? "nobody" : "admin"};
    if (name == "create-too-large-413")
      call.body = std::string(max_object_bytes + 1, ' ');
    if (call.method != "POST" && name.find("stale") == std::string::npos) {
      const auto target = parse_target(call.target);
      if (auto where = parse_resource_path(target->segments); where && !where->name.empty())
        if (auto found = w.objects.get(*where->kind, where->name_space, where->name))
          call.body = std::regex_replace(call.body, std::regex{R"("resourceVersion":"\d+")"},
                                         "\"resourceVersion\":\"" + std::to_string((*found)->version) + "\"");
    }
    w.next_uid = "11111111-1111-4111-8111-111111111111";
    const auto got = w.ask(call);
    // The answer.
    CAF_MESSAGE(name);
    CHECK_EQ(got.status, one["status"].get<unsigned>());
    const auto wanted = one["answer"].get<std::string>();
    if (got.status >= 400)
      CHECK_EQ(got.body, wanted);
    else {
      const bool with_uid = call.method == "DELETE" && name != "delete-dryrun-200";
      CHECK_EQ(comparable(got.body, with_uid).dump(), comparable(wanted, with_uid).dump());
    }
  }
}
