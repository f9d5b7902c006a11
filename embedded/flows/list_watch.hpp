#pragma once

#include "embedded/flows/control_client.hpp"
#include "embedded/object_cache.hpp"
#include "k8s/flows/watch.hpp"

#include <functional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// Keeps the objects of one collection known to the controllers: the list+watch of `k8s/flows/watch.hpp` with whole objects, an index
/// of owners, and the answers to writes of our own. A kind that the server does not serve has no objects. For one lane.
class informer final : private k8s::watch_listener {
public:
  using listener = std::function<void(const object_change&)>;

  informer(control_client& client, std::string path, std::function<void(std::string)> log);

  /// Hears every change from then on, on the lane, after the cache has it. Before `run`.
  void on_change(listener hear);
  /// Hears once that the first list has been taken, after its changes were told. Before `run`.
  void on_listed(std::function<void()> hear);
  [[nodiscard]] const object_cache& objects() const noexcept {
    return cache_;
  }
  /// Whether the first list has been taken.
  [[nodiscard]] bool listed() const noexcept {
    return listed_;
  }
  /// The answer to a write of our own, so that the next look does not miss it. Listeners hear it as any change.
  void took(nlohmann::json answer);
  /// Runs until cancelled.
  boost::asio::awaitable<void> run();

private:
  k8s::kept keep(nlohmann::json object) override;
  void listed(std::vector<k8s::kept> all, const std::string& version, bool anew) override;
  void told(k8s::watch_event::kind what, k8s::kept object) override;
  void marked(const std::string& version) override;
  void lost(const k8s::read_failure& why) override;
  void tell(const std::vector<object_change>& all);

  control_client& client_;
  std::string path_;
  std::function<void(std::string)> log_;
  std::vector<listener> listeners_;
  std::vector<std::function<void()>> on_listed_;
  object_cache cache_;
  bool listed_ = false;
};

} // namespace paddock::embedded
