#pragma once

#include "k8s/watch_port.hpp"

#include <string>
#include <vector>

namespace paddock::k8s {

/// The test plays the API server: `fake.starts.at(0).tell(watch_listed{…})`. Nothing is told by itself, and also what was stopped can
/// be told: news may be under way. For tests of one thread.
class fake_watch_port final : public watch_port {
public:
  struct start_question {
    ticket name = 0;
    watched what;
    std::function<void(watch_news)> tell;
  };
  void start(ticket name, watched what, std::function<void(watch_news)> tell) override {
    starts.push_back({name, std::move(what), std::move(tell)});
  }
  void stop(ticket name) override {
    stopped.push_back(name);
  }
  std::vector<start_question> starts;
  std::vector<ticket> stopped;
};

/// A Sandbox of namespace `ns` as a watch tells it.
inline kept kept_sandbox(const std::string& name, const std::string& uid, int version, bool ready = false) {
  return std::make_shared<const kept_object>(
    nlohmann::json{
      {"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", uid}, {"resourceVersion", std::to_string(version)}, {"generation", 1}}},
      {"status", {{"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}}}},
    kept_object::form::packed);
}

} // namespace paddock::k8s
