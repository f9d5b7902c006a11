#pragma once

#include "embedded/resource_service.hpp"

#include <caf/test/bdd_dsl.hpp>

namespace paddock::test {

using namespace embedded;

/// A store that is asked without a connection, behind a gate or without one.
class api_world {
public:
  explicit api_world(store_bounds bounds = {}) : objects(nullptr, bounds) {
    if (!objects.bootstrap({"default", "other"}, now))
      CAF_FAIL("no namespaces");
  }

  struct reply {
    unsigned status = 0;
    std::string text;
    json body;
    std::vector<std::string> warnings;
    std::string type;
    [[nodiscard]] std::string message() const {
      return text_at(body, {"message"});
    }
  };

  struct request {
    std::string method;
    std::string target;
    std::string body = {};
    std::string type = "application/json";
    std::string accept = {};
  };

  outcome serve_one(const request& what) {
    return serve(objects, {what.method, what.target, what.body.empty() ? "" : what.type, what.accept, what.body, "root"}, nullptr, now);
  }

  reply ask(const request& what) {
    auto got = serve_one(what);
    auto* answer = std::get_if<api_answer>(&got);
    if (answer == nullptr)
      CAF_FAIL(what.method << " " << what.target << " is not answered at once");
    reply out{answer->status, answer->body, json::parse(answer->body, nullptr, false), {}, {}};
    for (const auto& [name, value] : answer->headers) {
      if (name == "Warning")
        out.warnings.push_back(value);
      if (name == "Content-Type")
        out.type = value;
    }
    return out;
  }
  reply get(const std::string& target, const std::string& accept = {}) {
    return ask({.method = "GET", .target = target, .accept = accept});
  }
  /// Makes an object that must be accepted.
  json make(const std::string& target, const json& object) {
    const auto got = ask({"POST", target, object.dump()});
    if (got.status != 201)
      CAF_FAIL("cannot set up " << object.dump() << ": " << got.text);
    return got.body;
  }
  json config(const std::string& name, json metadata = json::object()) {
    metadata["name"] = name;
    return make(configs, {{"metadata", std::move(metadata)}, {"data", {{"k", "v"}}}});
  }
  json pod(const std::string& name, json extra = json::object()) {
    json object{{"metadata", {{"name", name}}}, {"spec", {{"containers", {{{"name", "main"}, {"image", "i:1"}}}}}}};
    object.merge_patch(extra);
    return make(pods, object);
  }

  static constexpr auto configs = "/api/v1/namespaces/default/configmaps";
  static constexpr auto pods = "/api/v1/namespaces/default/pods";
  static constexpr auto boxes = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes";
  static constexpr auto extensions = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default";

  store::instant now{std::chrono::seconds{1'795'972'289}};
  store objects;
};

/// The names of a list's items.
inline std::vector<std::string> names_in(const json& list) {
  std::vector<std::string> out;
  for (const auto& x : list.at("items"))
    out.push_back(text_at(x, {"metadata", "name"}));
  return out;
}

} // namespace paddock::test
