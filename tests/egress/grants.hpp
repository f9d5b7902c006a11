#pragma once

#include "egress/flows/fence.hpp"
#include "egress/flows/per_sandbox.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/support/check_json.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_api.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::egress::test {

using nlohmann::json;
using paddock::test::scripted_api;

/// A cluster that holds the shipped fence and permitted hosts, the owners of sandboxes, and what is written: it applies POST,
/// merge PATCH and DELETE as an API server does.
class grant_cluster {
public:
  using reply = scripted_api::reply;

  grant_cluster() {
    for (const auto* file : {"fence.yaml", "permitted-hosts.yaml"})
      for (auto& x : paddock::test::shipped(std::string{file}))
        objects[path_of_shipped(x)] = x;
    api.handle([this](const k8s::call& x) {
      if (intercept)
        if (auto got = intercept(x))
          return std::move(*got);
      return answer(x);
    });
  }

  static std::string path_of_shipped(const json& x) {
    const auto name = x["metadata"]["name"].get<std::string>();
    if (x["kind"] == "ValidatingAdmissionPolicy")
      return "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/" + name;
    if (x["kind"] == "ValidatingAdmissionPolicyBinding")
      return "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/" + name;
    return "/api/v1/namespaces/platform/configmaps/" + name;
  }

  /// The target of a pooled task sandbox.
  [[nodiscard]] static grant_target claim(const std::string& uid = "6f1d2a30-1111-4222-8333-444455556666",
                                          const std::string& name = "namzu-task-0b0e7c1e-aaaa-4bbb-8ccc-ddddeeeeffff") {
    return {per_sandbox_egress{"namzu-per-sandbox-egress"}, "namzu-sandboxes", {policy_owner::type::sandbox_claim, name, uid}, name};
  }
  /// That of a workspace, whose name may come to stand for another Sandbox. It stands.
  [[nodiscard]] grant_target workspace(const std::string& uid = "S1") {
    const auto path = "/apis/agents.x-k8s.io/v1beta1/namespaces/namzu-sandboxes/sandboxes/namzu-ws-desk";
    objects[path] = {{"metadata", {{"name", "namzu-ws-desk"}, {"uid", uid}}}};
    return {per_sandbox_egress{"namzu-per-sandbox-egress"},
            "namzu-sandboxes",
            {policy_owner::type::sandbox, "namzu-ws-desk", uid},
            "namzu-ws-desk",
            true};
  }
  /// Grants what the shipped ConfigMap permits only, on these ports.
  static grant_target permitting(grant_target whose, std::optional<egress::narrowing> narrowing) {
    whose.how.permitted_hosts_param = object_reference{"sandbox-permitted-hosts", "platform"};
    whose.how.narrowing = std::move(narrowing);
    return whose;
  }

  /// One call, the fence proved anew for it.
  result<void> set(const grant_target& whose, const std::vector<std::string>& hosts) {
    const auto checks = checks_of(whose);
    auto end = paddock::test::run_flow(context, set_network_policy(on, checks, whose, hosts, until()));
    landed = end.landed;
    return std::move(end.answer);
  }
  result<std::vector<std::string>> reverify(const grant_target& whose) {
    const auto checks = checks_of(whose);
    return paddock::test::run_flow(context, reverify_per_sandbox_egress(on, checks, whose, until()));
  }
  [[nodiscard]] per_sandbox_checks checks_of(const grant_target& whose) {
    return {[this, how = whose.how](deadline end) { return prove_fence(on, fence_question{how, "namzu-sandboxes"}, end); }, union_check};
  }
  [[nodiscard]] deadline until() const {
    return deadline{time, std::chrono::seconds{30}};
  }

  /// Everything sent but the proofs of the fence, as METHOD and the last part of the path.
  [[nodiscard]] std::vector<std::string> sent() const {
    auto got = std::vector<std::string>{};
    for (const auto& x : api.calls)
      if (x.path.find("/validatingadmission") == std::string::npos)
        got.push_back(x.method + " " + x.path.substr(x.path.rfind('/') + 1));
    return got;
  }
  [[nodiscard]] std::size_t writes() const {
    return api.calls.size() - api.sent("GET").size();
  }
  [[nodiscard]] std::size_t fence_reads() const {
    return static_cast<std::size_t>(
      std::ranges::count_if(api.calls, [](const auto& x) { return x.path.find("/validatingadmission") != std::string::npos; }));
  }

  reply answer(const k8s::call& x) {
    if (x.method == "POST")
      return create(x);
    if (x.method == "GET" && x.path.find('?') != std::string::npos)
      return list(x.path.substr(0, x.path.find('?')));
    const auto it = objects.find(x.path);
    if (it == objects.end())
      return paddock::test::gone(x);
    if (x.method == "PATCH")
      it->second.merge_patch(x.body);
    if (x.method != "DELETE")
      return paddock::test::found(it->second);
    if (x.type == k8s::call::content::json && x.body["preconditions"]["uid"] != it->second["metadata"]["uid"])
      return paddock::test::taken(x);
    const auto was = it->second;
    objects.erase(it);
    return paddock::test::found(was);
  }

  boost::asio::io_context context;
  paddock::test::manual_time time;
  scripted_api api;
  cluster on{api, time};
  bool landed = false; // of the last call
  std::map<std::string, json> objects;
  std::function<std::optional<reply>(const k8s::call&)> intercept; // answers instead of the cluster
  std::function<boost::asio::awaitable<result<void>>(policy_object, deadline)> union_check;

  inline static const std::string policies = "/apis/cilium.io/v2/namespaces/namzu-sandboxes/ciliumnetworkpolicies";

private:
  reply create(const k8s::call& x) {
    auto object = x.body;
    const auto path = x.path + "/" + object["metadata"]["name"].get<std::string>();
    if (objects.contains(path))
      return paddock::test::taken(x);
    object["metadata"]["uid"] = "policy-" + std::to_string(++made_);
    objects[path] = object;
    return paddock::test::found(object);
  }
  reply list(const std::string& collection) {
    auto items = json::array();
    for (const auto& [path, object] : objects)
      if (path.starts_with(collection + "/"))
        items.push_back(object);
    return paddock::test::found({{"items", items}});
  }
  int made_ = 0;
};

template <class T, class Value>
const T& error_of(const result<Value>& got) {
  REQUIRE(!got);
  const auto* no = std::get_if<T>(&got.error());
  REQUIRE(no != nullptr);
  return *no;
}

inline bool says(const egress_error& x, std::string_view what) {
  return to_string(x).find(what) != std::string::npos;
}

} // namespace paddock::egress::test
