#pragma once

#include "tests/support/check_json.hpp"
#include "tests/support/manual_time.hpp"
#include "tests/support/scripted_api.hpp"
#include "tests/support/scripted_guest.hpp"
#include "workspace/flows/verbs.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::workspace::test {

using paddock::test::guest_call;
using paddock::test::scripted_execution;
using paddock::test::scripted_guest;

/// The cluster of [W] 8: namespace `ns`, template `tpl` with one Block claim `workspace`, and what stands under the name of
/// workspace `desk`. It applies writes as an API server does and its controller acts at once: a Running Sandbox is Ready
/// and has a pod (P1, then P2, …), a Suspended one has none. What a test wants otherwise it sets, or answers by `intercept`.
class desk_cluster {
public:
  using reply = paddock::test::scripted_api::reply;

  desk_cluster(bool reports_uids, bool reports_generations);

  reply answer(const k8s::call& what);

  /// A Sandbox as this host would have made it, in this mode; Running with a live pod.
  void stand(const std::string& mode, std::optional<std::string> epoch = std::nullopt, const std::string& uid = "S1");
  /// The next pod of the Sandbox that stands.
  [[nodiscard]] nlohmann::json make_pod();
  /// Marks a pod as on its way out.
  static nlohmann::json draining(nlohmann::json pod);
  void set_mode(const std::string& mode);
  [[nodiscard]] std::string mode() const;
  [[nodiscard]] std::optional<std::string> annotation(const std::string& key) const;
  void bump();
  /// The controller makes of the object what it makes of it.
  void look();

  nlohmann::json the_template;
  std::optional<nlohmann::json> sandbox;
  std::optional<nlohmann::json> pod;
  std::vector<nlohmann::json> listed;            // what a list of pods shows beside `pod`
  std::map<std::string, nlohmann::json> objects; // what else stands, by its path: policies, the objects of the fence
  bool controller_acts = true;
  /// Answers instead of the cluster. The second argument counts the requests from 1.
  std::function<std::optional<reply>(const k8s::call&, std::size_t)> intercept;
  /// Leaves a request without an answer; only a withdrawal ends it then.
  std::function<bool(const k8s::call&)> hold;
  std::size_t requests = 0;

private:
  reply apply(const k8s::call& what, nlohmann::json after);
  reply answer_of_others(const k8s::call& what);
  void reconcile();
  bool reports_uids_;
  bool reports_generations_;
  int pods_made_ = 0;
  int version_ = 100;
};

/// One host and its cluster, with time that moves only while a verb waits.
class desk {
public:
  enum class host { unfenced, fenced };
  enum class api_server { without_uids, with_uids, with_generations };

  explicit desk(host how = host::unfenced, api_server says = api_server::without_uids);
  desk(const desk&) = delete;
  desk& operator=(const desk&) = delete;

  // -- the verbs, run to their end ------------------------------------------------

  transition<opened> open(session before = {}, open_options how = {});
  transition<done> take_up(session before = {});
  transition<done> suspend(session before, suspend_options how = {false, false});
  transition<opened> resume(session before, open_options how = {});
  transition<done> remove(session before, remove_options how = {});
  transition<done> reset_epoch(session before, epoch_reset what);
  transition<stamped> stamp(session before);
  transition<done> explain(session before, std::string operation, failure original);

  /// Runs a command in the guest of a session, as a call of a holder does.
  guest::result<guest::execution> exec(const session& in);

  /// Runs `verb` and withdraws it once `when` holds.
  enum class verb { open, take_up, suspend, resume, remove };
  struct withdrawn {
    session after;
    std::optional<failure> why;
  };
  withdrawn run(verb which, session before);
  withdrawn run_and_withdraw(verb which, session before, std::function<bool()> when);

  // -- what was asked ---------------------------------------------------------------

  /// One word pair a request since the last look, as in [W] 3.18: "GET TPL", "POST SBC", "PATCH SB merge", "PATCH SB json",
  /// "GET POD", "GET PODS", "GET PVC", "DELETE SB"; policies and the fence as "GET NPC", "GET CNPC", "GET NP tpl-egress",
  /// "DELETE CNP namzu-sbx-S0", "GET VAP", "GET VAPB".
  std::vector<std::string> requests();
  /// The bodies of the PATCHes and DELETEs since the last look; null where there was none.
  std::vector<nlohmann::json> bodies();
  /// Forgets what was asked so far.
  void forget();
  [[nodiscard]] std::size_t sent(const std::string& method) const;

  /// The text of the present instant in a patch.
  [[nodiscard]] std::string now() const;
  /// The exact merge body of [W] 4.4; `at` is the instant that it carries.
  static nlohmann::json merge(const std::string& mode, const std::string& at);

  boost::asio::io_context context;
  paddock::test::manual_time time;
  paddock::test::scripted_api api;
  scripted_guest guest;
  desk_cluster cluster;
  world on;
  id which = *id::parse("desk");
  std::chrono::milliseconds budget{600'000};

private:
  [[nodiscard]] deadline until() const;
  std::size_t looked_ = 0;
};

nlohmann::json test_op(std::string path, std::string value);
nlohmann::json add_op(std::string path, nlohmann::json value);

inline constexpr const char* epoch_at = "/metadata/annotations/sandbox.namzu.ai~1holder-epoch";
inline constexpr const char* changed_at = "/metadata/annotations/sandbox.namzu.ai~1operating-mode-changed-at";
inline constexpr const char* hash_at = "/metadata/annotations/sandbox.namzu.ai~1pod-template-hash";

/// The failure of a transition as this kind; null when it is another, or a success.
template <class F, class T>
const F* failed_with(const transition<T>& x) {
  return x.answer ? nullptr : std::get_if<F>(&x.answer.error());
}

/// The API failure of a transition as this kind.
template <class F, class T>
const F* api_failed_with(const transition<T>& x) {
  const auto* got = failed_with<k8s::failure>(x);
  return got != nullptr ? std::get_if<F>(got) : nullptr;
}

/// The API failure that left a write's outcome unknown, or that was the failure itself; the status of it, or 0.
unsigned status_of(const failure& x);

/// What a start failed of, and what became of its clean-up.
template <class T>
const start_failed* start_failure_of(const transition<T>& x) {
  const auto* got = failed_with<std::shared_ptr<const start_failed>>(x);
  return got != nullptr ? got->get() : nullptr;
}

/// A workspace that this host has opened, and one that it has suspended then; what was asked for it is forgotten.
session opened_on(desk& x);
session suspended_on(desk& x);

/// A session of which nothing is known but its epoch.
session at_epoch(std::uint64_t epoch);

/// The resourceVersion of the Sandbox that stands.
std::string version_of(const desk& x);

/// Whether this reads a path with `what` in it.
bool is_get(const k8s::call& x, const char* what);

/// The pod that stands is on its way out for so many reads; then it is what the cluster says.
void drain_for(desk& x, int reads);

/// That the template's present pod is to be taken, and another image in it.
open_options refreshing();
void edit_template(desk& x);

/// A guest that fails the privilege probe.
void refuse_probe(scripted_guest& guest);

} // namespace paddock::workspace::test
