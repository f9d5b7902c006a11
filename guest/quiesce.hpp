#pragma once

#include "guest/proc.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::guest {

/// What a quiesce may stop ([G] 12.2).
enum class quiesce_scope { pid_namespace, owned_sessions };

[[nodiscard]] std::string_view to_string(quiesce_scope x);

/// The wide scope is for an agent that is the init of its pid namespace, or the child of one. Nothing forces it.
[[nodiscard]] quiesce_scope scope_of(pid_t agent, pid_t parent, bool owned_sessions_only);

// -- the request --------------------------------------------------------------------------------------------------------

struct quiesce_arguments {
  std::chrono::milliseconds grace{0}; // of each of a round's two waits
  bool idle_only = false;
};

/// Reads the body of `quiesce` ([G] 12.1, 12.6). A failure is the whole reply.
[[nodiscard]] tl::expected<quiesce_arguments, std::string>
read_quiesce_request(const nlohmann::json& body, std::chrono::milliseconds default_grace, std::chrono::milliseconds cancel_confirm);

// -- candidates ---------------------------------------------------------------------------------------------------------

/// Who asks, and what it may stop.
struct quiesce_view {
  pid_t agent = 0;
  pid_t session = 0; // the agent's own
  uid_t uid = 0;
  quiesce_scope scope = quiesce_scope::owned_sessions;
};

/// Whether the process may be one to stop ([G] 12.3), as far as its uid and, in the narrow scope, the ownership of its
/// session do not matter.
[[nodiscard]] bool may_be_stopped(const proc_stat& x, const quiesce_view& view);

/// The kernel sessions that are the agent's. The number of a session is held by its leader, also as a zombie that nobody
/// reaps. Of a session whose leader was reaped (`left`, with the time in clock ticks since boot) the number may have become
/// another's: it is the same session only while it still holds a process that started before that, for then it has never
/// been empty. One tick is too short for all numbers to have been used up in between.
class owned_sessions_view {
public:
  owned_sessions_view(const std::set<pid_t>& owned, const std::map<pid_t, std::uint64_t>& left) : owned_(owned), left_(left) {
  }

  /// Drops those of `found` whose session is not provably owned.
  void keep_proven(std::vector<proc_stat>& found) const;

private:
  const std::set<pid_t>& owned_;
  const std::map<pid_t, std::uint64_t>& left_;
};

// -- rounds -------------------------------------------------------------------------------------------------------------

/// Decides what a quiesce does after each scan and each wait ([G] 12.4).
class quiesce_rounds {
public:
  using time_point = std::chrono::steady_clock::time_point;

  struct stopped_process {
    pid_t pid = 0;
    std::string command;     // the kernel's short name
    std::string_view signal; // the last one delivered
  };

  enum class step { done, stop_them, failed };

  quiesce_rounds(time_point deadline, std::uint64_t max_rounds) : deadline_(deadline), max_rounds_(max_rounds) {
  }

  /// A scan has found these candidates.
  [[nodiscard]] step scanned(std::span<const proc_stat> found, time_point now);
  /// The kernel has taken the signal for that process.
  void delivered(const proc_stat& who, std::string_view signal);
  /// Both waits are over and these are left. `done`: none is, and another scan is due.
  [[nodiscard]] step waited(std::span<const proc_stat> left);

  [[nodiscard]] std::uint64_t rounds() const noexcept {
    return rounds_;
  }
  /// In the order of their first signal.
  [[nodiscard]] const std::vector<stopped_process>& stopped() const noexcept {
    return stopped_;
  }
  /// Why it has failed; it names a process.
  [[nodiscard]] const std::string& failure() const noexcept {
    return failure_;
  }

private:
  step fail(std::string text);

  time_point deadline_;
  std::uint64_t max_rounds_;
  std::uint64_t rounds_ = 0;
  std::vector<stopped_process> stopped_;
  std::map<std::pair<pid_t, std::uint64_t>, std::size_t> index_; // by number and start
  std::string failure_;
};

// -- replies ------------------------------------------------------------------------------------------------------------

[[nodiscard]] std::string quiesce_reply(quiesce_scope scope, std::chrono::milliseconds grace, std::uint64_t rounds,
                                        std::span<const quiesce_rounds::stopped_process> stopped);
[[nodiscard]] std::string quiesce_unconfirmed_refusal(std::string_view message);
/// `starting`: executions and sessions that have no process yet; each is shown with pid 0.
[[nodiscard]] std::string quiesce_not_idle_refusal(quiesce_scope scope, std::span<const proc_stat> running, std::uint64_t starting);

} // namespace paddock::guest
