#pragma once

#include "tests/sim/cluster.hpp"
#include "tests/sim/verb.hpp"
#include "workspace/failure.hpp"

#include <string>
#include <vector>

namespace paddock::sim {

/// The invariants, in the words of docs/simulation.md.
namespace invariant {
inline constexpr const char* fencing = "no write of a lower epoch is accepted after a higher one's";
inline constexpr const char* identity = "nothing is written to or runs in what is not bound or pinned";
inline constexpr const char* kept = "nothing acknowledged is lost";
inline constexpr const char* once = "nothing is done twice that may be done once";
inline constexpr const char* truth = "'failed' is never said where it happened, 'done' never where it did not";
inline constexpr const char* one_patch = "at most one wake-up or suspend patch per transition";
inline constexpr const char* disk = "no disk is deleted without the word";
inline constexpr const char* in_time = "each call ends by its deadline plus one clean-up";
inline constexpr const char* secrets = "no secret in any error";
} // namespace invariant

struct violation {
  std::string invariant;
  std::string what;
};

/// One command that a caller asked for.
struct asked_command {
  std::string pod;  // the only one in which it may run; another after a move
  std::string boot; // the only process, where it is pinned; else empty
  int runs = 0;
  std::string answer; // empty: none yet
};

/// Watches a run: writes its history, and holds what happens against the invariants.
class judge {
public:
  judge(const time_source& time, cluster& on);

  void note(const std::string& line);
  void violated(const char* which, std::string what);

  // -- requests --------------------------------------------------------------------

  /// A write was carried out. Null `before`: nothing stood.
  void applied(const shared_verb& by, const k8s::call& what, const std::optional<json>& before);
  /// What the host hears, before anything can change it.
  void heard(verb& by, const k8s::call& what, const k8s::result<std::optional<json>>& answer);

  // -- verbs -----------------------------------------------------------------------

  void ended(verb& x, const workspace::session& after, const workspace::failure* why);
  /// The object says no epoch any more: who has never stamped it cannot know that there was one.
  void epoch_lost();
  /// A text that a caller was given.
  void told(const std::string& text);

  // -- commands --------------------------------------------------------------------

  /// A guest began to run `command`, or what `probe` asks of it, which is null for a command.
  void ran(const shared_verb& probe, const std::string& command, const guest_process& in);
  std::map<std::string, asked_command> commands;

  /// A host moves calls of this session, which ran nothing, to this pod.
  void followed(const std::string& host, const workspace::session& now, const pod_uid& to);

  /// Once nothing can happen any more.
  void finish();

  std::vector<std::string> history;
  std::vector<violation> violations;

private:
  void well_started(const verb& x, const workspace::session& after);
  void well_suspended(const verb& x, const workspace::session& after);
  void failed(const verb& x, const workspace::session& after, const workspace::failure& why);
  void made_pod(const json& pod);

  const time_source& time_;
  cluster& cluster_;
  time_source::clock::time_point start_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> acknowledged_; // order of the last verb that a host answered well, by uid
  std::map<std::string, std::uint64_t> held_epochs_;                          // the highest of a verb that was answered well, by uid
  bool lost_epochs_ = false;                                                  // some object has lost its own
  std::map<std::pair<std::string, std::string>, bool> stamped_;               // hosts (with their life) that know their epoch on an object
  struct rest {
    std::string uid;
    std::int64_t generation = 0;
  };
  std::optional<rest> asleep_;                // what the last suspend was answered of
  std::map<std::string, std::string> owners_; // of every pod that was made, by its uid
};

} // namespace paddock::sim
