#pragma once

#include "base/time.hpp"
#include "embedded/sandbox_controller.hpp"
#include "embedded/store.hpp"
#include "k8s/call.hpp"
#include "k8s/failure.hpp"

#include <nlohmann/json.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace paddock::sim {

using nlohmann::json;

inline constexpr const char* name_space = "ns";
inline constexpr const char* sandbox_name = "namzu-ws-desk";

/// An agent process that runs in a pod.
struct guest_process {
  std::string pod;   // its uid, and so the token
  std::string owner; // uid of the Sandbox that controls the pod
  std::string address;
  std::string boot;
};

/// The API server, the controllers and the node, over the embedded store and its rules. Nothing happens by itself: whoever runs
/// the simulation serves a request, and lets a controller take one step at a time, so that each may lag behind the others.
class cluster {
public:
  /// `log` is told what the cluster does by itself, one line each.
  cluster(const time_source& time, std::function<void(std::string)> log);

  /// Carries out one request, as the API server does.
  k8s::result<std::optional<json>> serve(const k8s::call& what);

  [[nodiscard]] std::optional<json> sandbox() const;
  [[nodiscard]] std::vector<json> pods() const;
  /// Those that have not ended, of a Sandbox of this uid.
  [[nodiscard]] std::vector<json> pods_of(const std::string& uid) const;

  // -- what moves it ------------------------------------------------------------

  using step = std::function<void()>;
  /// What the controllers and the node could do now, one step each.
  std::vector<step> steps();
  /// Deletes what stands under the name, without asking anybody.
  void wipe();
  /// Makes an object under the name that has gone: `restored` is the former one as a backup has it, else a new one.
  void make_stranger(bool restored);
  /// Takes the holder epoch off the object; false: there was none.
  bool lose_annotation();
  /// Somebody who knows nothing of epochs wakes the workspace.
  void wake();
  /// The agent of a running pod ends and another begins.
  void restart_guest();

  [[nodiscard]] const guest_process* guest_at(const std::string& address) const;
  [[nodiscard]] const guest_process* guest_of(const std::string& pod) const;
  /// Told of each pod that begins to exist.
  std::function<void(const json& pod)> made_pod;

private:
  /// One pass of the Sandbox controller: what it saw when it began, and what is left to do.
  struct pass {
    embedded::sandbox_view seen;
    std::deque<embedded::sandbox_write> writes;
    std::vector<std::string> errors;
    bool report = true;
  };
  [[nodiscard]] std::optional<embedded::sandbox_view> look() const;
  void begin_pass();
  void go_on();
  void run(const json& pod);
  void end(const json& pod);
  [[nodiscard]] std::vector<json> list(const char* plural) const;
  [[nodiscard]] embedded::store::instant now() const;
  void must(const k8s::call& what);

  const time_source& time_;
  std::function<void(std::string)> log_;
  int uids_ = 0;
  int boots_ = 0;
  embedded::store objects_;
  std::optional<pass> pass_;
  std::uint64_t looked_at_ = 0; // the version at which the last pass began
  std::vector<guest_process> guests_;
  std::set<std::string> known_pods_;
  std::optional<json> last_;
};

} // namespace paddock::sim
