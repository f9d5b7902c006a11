#pragma once

// Sandboxes as they stand in a cluster.

#include "bench/measure.hpp"
#include "embedded/bootstrap.hpp"
#include "workspace/pod_template.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace paddock::bench {

/// As a node makes it from the default template.
inline nlohmann::json box(const std::string& name) {
  static const auto from = workspace::read_template(embedded::make_default_template("default").body, {"default", {}, {}, {}});
  if (!from)
    give_up("the default template");
  return workspace::create_body(name, "default", *from, 1'048'577);
}

/// As the controller says it of a Sandbox whose pod is ready.
inline nlohmann::json status_of(const std::string& name) {
  auto condition = [](const char* type, const char* value, const char* why, const char* text) {
    return nlohmann::json{{"type", type},    {"status", value},         {"reason", why},
                          {"message", text}, {"observedGeneration", 1}, {"lastTransitionTime", "2026-01-02T03:04:05Z"}};
  };
  return {{"status",
           {{"conditions",
             {condition("Ready", "True", "DependenciesReady", "Pod is Ready; Service Exists"),
              condition("Suspended", "False", "NotSuspended", "Sandbox is operational")}},
            {"service", name},
            {"serviceFQDN", name + ".default.svc.cluster.local"},
            {"replicas", 1},
            {"selector", "agents.x-k8s.io/sandbox-name-hash=1a47e90b"},
            {"podIPs", {"127.64.10.20"}}}}};
}

} // namespace paddock::bench
