#pragma once

#include "actors/call.hpp"
#include "actors/event_log.hpp"
#include "actors/workspace_policies.hpp"
#include "actors/world.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"
#include "workspace/remembered.hpp"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <variant>
#include <vector>

namespace paddock {

/// The WORKSPACE (messages/interfaces.hpp): the queue of verbs, the session, and who waits. It decides nothing about the
/// cluster: a verb is one question to the transitions port, whose answer brings the next session.
class workspace_state {
public:
  static inline const char* name = "paddock.workspace";
  /// `former`: what the one that was let go has left.
  workspace_state(workspace_actor::pointer self, actor_world& world, workspace::id which, workspace::remembered former = {});
  workspace_actor::behavior_type make_behavior();

private:
  template <class T>
  using promise = caf::typed_response_promise<T>;

  // -- verbs ----------------------------------------------------------------

  struct open_verb {
    workspace::open_options how;
    bool resume = false;
    promise<opened_view> waiting;
  };
  struct suspend_verb {
    struct caller {
      promise<workspace_view> answer;
      bool or_deleted = false;
    };
    workspace::suspend_options how;
    std::vector<caller> waiting; // those who joined share one answer
  };
  struct remove_verb {
    workspace::remove_options how;
    std::vector<promise<void>> waiting;
  };
  struct reset_verb {
    workspace::epoch_reset what;
    promise<workspace_view> waiting;
  };
  struct stamp_verb {
    bool report = false;
    promise<void> waiting;
  };
  struct take_up_verb {
    std::optional<sandbox_uid> expect{}; // only this one; nothing is written to another
  };
  /// A question that waits in line: a quiesce, a flush.
  struct ask_verb {
    workspace::question what;
    promise<guest_answer> waiting;
    pod_uid tried{};                           // whose guest was asked
    bool moved = false;                        // this is the second attempt, in another pod
    std::optional<std::uint64_t> explaining{}; // the guest has failed it, and the cluster is asked why: of this generation
  };
  struct refresh_verb {
    promise<workspace_view> waiting;
  };
  /// A grant: it is in line, and changes no session.
  struct policy_verb {
    policy_spec what;
    promise<policy_view> waiting;
  };
  struct queued {
    std::variant<open_verb, suspend_verb, remove_verb, reset_verb, stamp_verb, take_up_verb, ask_verb, refresh_verb, policy_verb> verb;
    deadline until;
    bool taken_up = false;               // the cluster was asked for its sake
    std::optional<guest_boot_id> boot{}; // that of the session when it began
  };
  /// What the port answered, in one shape.
  struct verb_end {
    workspace::session after;
    workspace::result<std::optional<workspace::origin>> answer;
    std::optional<workspace::reply> said{};    // of an `ask_verb`
    std::optional<workspace::stamped> stamp{}; // of a `stamp_verb`
    std::vector<workspace::event> events{};
  };

  caf::result<opened_view> open(open_spec what, bool resume, caf::timespan budget);
  caf::result<workspace_view> suspend(suspend_spec what, caf::timespan budget);
  caf::result<void> remove(remove_spec what, caf::timespan budget);
  caf::result<workspace_view> reset_epoch(reset_spec what, caf::timespan budget);
  caf::result<void> stamp(bool report);
  caf::result<workspace_view> refresh(caf::timespan budget);
  void push(queued next);
  void pump();
  /// Asks the guest for something before anything else.
  [[nodiscard]] static bool asks_guest(const queued& next);
  /// So, and fails where the guest cannot be asked.
  [[nodiscard]] static bool needs_guest(const queued& next);
  /// The Sandbox that the verb names; its failure is of that one, and says nothing of what stands.
  [[nodiscard]] static std::optional<sandbox_uid> expected_by(const queued& x);
  /// Tells what stands, also where it fails.
  [[nodiscard]] static bool tells_state(const queued& x);
  workspace::transitions_port::then<workspace::done> landing(workspace::ticket ticket) const;
  void ask_port(queued& next, workspace::ticket ticket);
  void ask_in_line(ask_verb& ask, guest::endpoint where, deadline until, workspace::ticket ticket);
  void land(const verb_end& end);
  /// True: a question in line that ran nothing is asked once more where its guest is now.
  bool ask_again_in_line(const verb_end& end);
  /// True: the cluster is being asked what the failure of a question in line means.
  bool explain_in_line(const verb_end& end);
  void refuse_without_guest(const queued& taking_up, const workspace::failure& why);
  void keep(const queued& done, const verb_end& end);
  void answer_parked(const queued& done, const verb_end& end);
  void answer(queued& done, const problem& why);
  void answer_well(queued& done, const verb_end& end);

  // -- calls and questions ----------------------------------------------------

  /// A request that came before the state was known.
  struct parked {
    deadline until;
    std::function<void()> go;
    std::function<void(const caf::error&)> refuse;
  };
  /// A question that the guest has, or whose failure is being explained.
  struct asking {
    promise<guest_answer> waiting;
    std::uint64_t generation = 0;
    std::string operation;
    workspace::question what;
    guest::endpoint where;
    deadline until;
    bool moved = false; // this is the second attempt, in another pod
    bool explaining = false;
  };

  caf::result<call_actor> call(call_spec what, sink_actor sink, caf::timespan budget);
  caf::result<guest_answer> ask(guest_question what, caf::timespan budget);
  caf::result<pinned_guest_actor> pin(pin_spec what);
  caf::result<landed> identity();
  /// Goes at once where the state is known, and otherwise once it is; `refuse` when it cannot be known.
  void once_known(parked one);
  void admit(call_spec what, sink_actor sink, deadline until, promise<call_actor> waiting);
  void put_question(workspace::question what, deadline until, promise<guest_answer> waiting);
  void ask_guest(workspace::ticket ticket);
  void land_question(asking& one, workspace::ticket ticket, const landed& x);
  /// A question that ran nothing is asked once more where its guest is now. False: it has ended.
  bool ask_again(asking& one, workspace::ticket ticket, const workspace::failure& why);
  /// False: there is nothing to explain.
  bool explain_question(asking& one, workspace::ticket ticket, const workspace::failure& why);
  void explain(std::uint64_t generation, const call_actor& who, std::string operation, const workspace::failure& why);
  void explained(std::uint64_t generation, const call_actor& who, const workspace::transition<workspace::done>& end);
  /// Takes what the cluster said of a failed call of this generation.
  void take_over(std::uint64_t generation, const workspace::session& after, const std::vector<workspace::event>& events);

  // -- which guest: workspace_rebind.cpp ------------------------------------------

  using found = workspace::result<std::optional<workspace::found_pod>>;
  using elsewhere = std::function<void(const found&)>;
  /// A look at which pod is there now, and who waits for it.
  struct rereading {
    std::uint64_t generation = 0;
    std::vector<elsewhere> waiting;
  };

  void raise(const workspace::event& x);
  void hear(std::uint64_t generation, const std::string& boot, const std::string& pod);
  /// Where else than in `tried` a call of this generation may run that has run nothing there. All who ask at once share one look.
  void find_elsewhere(std::uint64_t generation, const pod_uid& tried, elsewhere then);
  void land_reread(workspace::ticket ticket, const found& x);
  void move_call(std::uint64_t generation, const call_actor& who, const std::string& tried);
  [[nodiscard]] static bool may_run_elsewhere(const workspace::failure& why, const guest::endpoint& where);

  // -- the policy ---------------------------------------------------------------

  caf::result<policy_view> policy(policy_request what, caf::timespan budget);
  void land_policy(const workspace_policies::outcome& x);
  /// What the policies are told of a verb that has ended.
  void tell_policies(const queued& done, bool well);
  /// The session has a new pod.
  void check_policies();
  /// Whether a verb in line or under way is to tell what stands.
  [[nodiscard]] bool learns_the_state() const;

  // -- what a WATCH shows -------------------------------------------------------

  void watch(const watch_actor& by);
  void show(k8s::sighting x);

  // -- stopping -------------------------------------------------------------

  /// What is to be kept of it, unless somebody needs it.
  [[nodiscard]] std::optional<workspace::remembered> leave() const;
  void stop();
  void quit_when_done();
  /// One that may change the session: a question in line and a grant do not.
  [[nodiscard]] bool verb_under_way() const;
  /// A verb is under way that ends the session.
  [[nodiscard]] bool session_ends() const;
  [[nodiscard]] deadline within(caf::timespan budget) const;
  [[nodiscard]] workspace_view view() const;

  workspace_actor::pointer self_;
  actor_world& world_;
  workspace::id which_;
  workspace::session session_;
  std::uint64_t generation_ = 0; // of the session; an answer of an older one changes nothing
  std::deque<queued> queue_;
  std::optional<queued> under_way_;
  workspace::ticket ticket_ = 0; // of the verb under way
  std::vector<parked> parked_;
  std::map<workspace::ticket, asking> asking_;
  std::map<workspace::ticket, rereading> rereads_;
  event_log events_;
  std::map<caf::actor_addr, call_actor> calls_; // kept alive by this: a client may drop its handle
  std::set<caf::actor_addr> pins_;              // PINNED GUESTs that somebody holds
  watch_actor watch_;                           // null: none is alive
  k8s::sighting sighting_;
  std::optional<workspace_policies> policies_; // absent: the node has no per-sandbox egress
  bool stopping_ = false;
};

using workspace_impl = workspace_actor::stateful_impl<workspace_state>;

} // namespace paddock
