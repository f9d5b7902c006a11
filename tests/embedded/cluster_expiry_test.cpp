#define CAF_SUITE cluster_expiry

#include "tests/embedded/cluster_world.hpp"

using namespace paddock;
using namespace paddock::embedded;

namespace {

json expiry(const std::string& policy) {
  return json{{"spec", {{"shutdownTime", "2026-01-01T00:00:00Z"}, {"shutdownPolicy", policy}}}};
}

bool expired(const json& x) {
  return text_in(condition_of(x, "Ready"), "/reason") == "SandboxExpired";
}

} // namespace

// [C 210] an expired Sandbox under both policies
SCENARIO("an expired Sandbox says so, and goes with its children or stays with its conditions") {
  GIVEN("two ready Sandboxes") {
    world w{options_for(std::nullopt)};
    for (const auto* name : {"a", "b"})
      w.must(k8s::post(sandboxes, sandbox(name)));
    w.ready("a");
    w.ready("b");
    WHEN("the one that is to be deleted expires") {
      // Held, so that what it says last can be read.
      w.must(k8s::merge_patch(sandbox_path("a"), finalizers({"paddock.test/hold"})));
      w.must(k8s::merge_patch(sandbox_path("a"), expiry("Delete")));
      THEN("it says so before it is deleted, and takes pod, Service and disk along") {
        auto last = w.until(sandbox_path("a"), [](const json& x) { return terminating(x); });
        CHECK(expired(last));
        CHECK_EQ(text_in(condition_of(last, "Ready"), "/status"), "False");
        w.must(k8s::merge_patch(sandbox_path("a"), finalizers(nullptr)));
        w.gone(sandbox_path("a"));
        for (const auto* child : {"pods/a", "services/a", "persistentvolumeclaims/workspace-a"})
          w.gone(core + std::string{child});
      }
    }
    WHEN("the one that is to stay expires") {
      w.must(k8s::merge_patch(sandbox_path("b"), expiry("Retain")));
      THEN("its pod and Service go, and its conditions are what is left") {
        w.gone(core + std::string{"pods/b"});
        w.gone(core + std::string{"services/b"});
        auto left = w.until(sandbox_path("b"), [](const json& x) { return value_in(x, "/status").size() == 1; });
        CHECK(expired(left));
        CHECK(value_in(left, "/status").contains("conditions"));
        CHECK(!terminating(left));
        CHECK(!w.get(core + std::string{"persistentvolumeclaims/workspace-b"}).is_null());
      }
    }
  }
}
