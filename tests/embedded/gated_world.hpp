#pragma once

#include "embedded/resource_service.hpp"

#include <caf/test/bdd_dsl.hpp>

namespace paddock::test {

using namespace embedded;

/// A store behind its gate, asked without a connection. Users: `root` may do everything, others what tests grant.
class gated_world {
public:
  explicit gated_world(std::vector<std::string> namespaces = {"default", "other"}) {
    if (!objects.bootstrap(namespaces, now) || !gate.bootstrap(now))
      CAF_FAIL("the world cannot be set up");
  }

  struct reply {
    unsigned status = 0;
    json body;
    std::vector<std::string> warnings;
    [[nodiscard]] std::string message() const {
      return text_at(body, {"message"});
    }
  };

  reply ask(const user_info& who, std::string method, std::string target, const json& body = nullptr,
            std::string type = "application/json") {
    api_call call;
    call.method = std::move(method);
    call.target = std::move(target);
    call.user = who;
    if (!body.is_null()) {
      call.body = body.dump();
      call.content_type = std::move(type);
    }
    gate.catch_up();
    auto got = serve(objects, call, &gate, now);
    gate.catch_up();
    auto* answer = std::get_if<api_answer>(&got);
    if (answer == nullptr)
      return {200, {}, {}};
    reply out{answer->status, json::parse(answer->body, nullptr, false), {}};
    for (const auto& [name, value] : answer->headers)
      if (name == "Warning")
        out.warnings.push_back(value);
    return out;
  }
  /// Makes an object that must be accepted.
  void make(const std::string& target, const json& object) {
    const auto got = ask(root, "POST", target, object);
    if (got.status != 201)
      CAF_FAIL("cannot set up " << object.dump() << ": " << got.body.dump());
  }

  // -- rights -----------------------------------------------------------------------------------------------------

  static constexpr auto rbac = "/apis/rbac.authorization.k8s.io/v1";

  void cluster_role(const std::string& name, const json& rules) {
    make(std::string{rbac} + "/clusterroles", {{"metadata", {{"name", name}}}, {"rules", rules}});
  }
  void bind_everywhere(const std::string& role, const std::string& user) {
    make(std::string{rbac} + "/clusterrolebindings", {{"metadata", {{"name", role + "-" + user}}},
                                                      {"roleRef", {{"kind", "ClusterRole"}, {"name", role}}},
                                                      {"subjects", {{{"kind", "User"}, {"name", user}}}}});
  }
  void bind_in(const std::string& name_space, const std::string& role, const json& subject) {
    make(std::string{rbac} + "/namespaces/" + name_space + "/rolebindings",
         {{"metadata", {{"name", role}}}, {"roleRef", {{"kind", "ClusterRole"}, {"name", role}}}, {"subjects", {subject}}});
  }

  store::instant now{std::chrono::seconds{1'795'972'289}};
  store objects;
  request_gate gate{objects, {{secret{"known-token"}, {"carol", {"builders"}}}}, secret{std::string(32, 'k')}};
  user_info root{"root", {"system:masters", "system:authenticated"}};
};

} // namespace paddock::test
