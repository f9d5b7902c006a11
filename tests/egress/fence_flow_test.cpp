#define CAF_SUITE fence_flow

#include "egress/flows/fence.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_api.hpp"

#include <boost/asio/io_context.hpp>

using namespace paddock;
using namespace paddock::egress;
using nlohmann::json;
using test::denied;
using test::found;
using test::gone;

namespace {

const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
const std::string policy_path = admission + "validatingadmissionpolicies/namzu-per-sandbox-egress";
const std::string binding_path = admission + "validatingadmissionpolicybindings/namzu-per-sandbox-egress-binding";

/// A cluster in which the fence is applied as it is shipped, but for what a test changes.
struct fenced_cluster {
  fenced_cluster() {
    for (const auto* file : {"fence.yaml", "permitted-hosts.yaml"})
      for (auto& x : test::shipped(std::string{file}))
        if (x["kind"] != "ConfigMap")
          objects[admission
                  + (x["kind"] == "ValidatingAdmissionPolicy" ? "validatingadmissionpolicies/" : "validatingadmissionpolicybindings/")
                  + x["metadata"]["name"].get<std::string>()] = x;
    api.handle([this](const k8s::call& x) {
      if (status != 0 && x.path == failing)
        return status == 403 ? denied(x) : test::status(x, status);
      const auto it = objects.find(x.path);
      return it == objects.end() ? gone(x) : found(it->second);
    });
  }
  result<void> prove() {
    return test::run_flow(context, prove_fence(on, asked, deadline{time, std::chrono::seconds{30}}));
  }

  boost::asio::io_context context;
  test::manual_time time;
  test::scripted_api api;
  cluster on{api, time};
  std::map<std::string, json> objects;
  std::string failing = policy_path;
  unsigned status = 0;
  fence_question asked{per_sandbox_egress{"namzu-per-sandbox-egress"}, "namzu-sandboxes"};
};

template <class T>
const T& error_of(const result<void>& got) {
  REQUIRE(!got);
  const auto* no = std::get_if<T>(&got.error());
  REQUIRE(no != nullptr);
  return *no;
}

} // namespace

// [E 193]
SCENARIO("a fence is proved by two reads, and by four where hosts are permitted by a ConfigMap") {
  auto x = fenced_cluster{};
  CHECK(x.prove().has_value());
  CHECK_EQ(x.api.trace(), (std::vector{"GET " + policy_path, "GET " + binding_path}));
  x.api.calls.clear();
  x.asked.how.permitted_hosts_param = object_reference{"sandbox-permitted-hosts", "platform"};
  CHECK(x.prove().has_value());
  // [E 189]
  CHECK_EQ(x.api.trace(), (std::vector{"GET " + policy_path, "GET " + binding_path,
                                       "GET " + admission + "validatingadmissionpolicies/namzu-per-sandbox-egress-hosts",
                                       "GET " + admission + "validatingadmissionpolicybindings/namzu-per-sandbox-egress-hosts-binding"}));
}

SCENARIO("the first read that fails ends the proof, and the next proof reads again") {
  auto x = fenced_cluster{};
  x.status = 500;
  const auto got = x.prove();
  REQUIRE(!got);
  CHECK(std::holds_alternative<k8s::failure>(got.error()));
  CHECK_EQ(x.api.calls.size(), 1u);
  x.status = 0;
  CHECK(x.prove().has_value());
  CHECK_EQ(x.api.calls.size(), 3u);
}

SCENARIO("an object that may not be read is no missing one") {
  auto x = fenced_cluster{};
  x.status = 403;
  const auto no = error_of<fence_unreadable>(x.prove());
  CHECK_EQ(no.object.path, policy_path);
  CHECK(std::holds_alternative<k8s::credential_failure>(no.cause));
  CHECK_EQ(x.api.calls.size(), 1u);
}

SCENARIO("a missing object is named") {
  auto x = fenced_cluster{};
  x.asked.how.permitted_hosts_param = object_reference{"sandbox-permitted-hosts", "platform"};
  auto names = std::vector<std::string>{};
  for (const auto& object : fence_objects(x.asked.how)) {
    const auto kept = x.objects.extract(object.path);
    const auto no = error_of<fence_missing>(x.prove());
    names.push_back(no.object.kind + " " + no.object.name);
    x.objects[object.path] = kept.mapped();
  }
  CHECK_EQ(names, (std::vector<std::string>{"ValidatingAdmissionPolicy namzu-per-sandbox-egress",
                                            "ValidatingAdmissionPolicyBinding namzu-per-sandbox-egress-binding",
                                            "ValidatingAdmissionPolicy namzu-per-sandbox-egress-hosts",
                                            "ValidatingAdmissionPolicyBinding namzu-per-sandbox-egress-hosts-binding"}));
}

SCENARIO("nothing is read once the time is over") {
  auto x = fenced_cluster{};
  const auto got = test::run_flow(x.context, prove_fence(x.on, x.asked, deadline{x.time.now()}));
  REQUIRE(!got);
  CHECK(x.api.calls.empty());
}
