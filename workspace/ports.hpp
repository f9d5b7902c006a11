#pragma once

#include "base/time.hpp"
#include "guest/calls.hpp"
#include "guest/command.hpp"
#include "k8s/sighting.hpp"
#include "workspace/events.hpp"
#include "workspace/failure.hpp"
#include "workspace/session.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::workspace {

/// Names one running transition or call of a port. Chosen by the asker, unique among those that run.
using ticket = std::uint64_t;

/// What a host wants of a workspace when it opens one ([W] 3.1).
struct open_options {
  std::string template_name;
  std::string working_directory = "/workspace";
  bool refresh_template = false;
  std::optional<sandbox_uid> expect;                // open only this one, never create ([W] 3.16)
  bool leave_on_failure = false;                    // `onStartFailure: leave`
  bool create = true;                               // false: only take up what stands
  std::map<std::string, claim_uid> expect_claims{}; // with `expect`: the retained disks, by entry name
};

struct suspend_options {
  bool flush = true;
  bool quiesce = false;
  std::optional<std::chrono::milliseconds> flush_bound{};   // absent: the guest's own
  std::optional<std::chrono::milliseconds> quiesce_grace{}; // absent: the guest's own
  bool by_id = false;                                       // asks the cluster alone: no guest is dialled, so nothing can rest ([W] 3.11)
  std::optional<sandbox_uid> expect{};                      // only this one ([W] 3.11)
};

struct remove_options {
  std::optional<sandbox_uid> expect{}; // only this one ([W] 3.11)
};

/// Which unreadable holder epoch is to be replaced: that text, on that Sandbox ([W] P11).
struct epoch_reset {
  std::string stored;
  sandbox_uid sandbox;
};

/// How long a `reread` may take.
inline constexpr std::chrono::milliseconds reread_bound{10'000};

/// How a verb ended: the session after it, which holds in every case, the answer, and what became known on the way.
template <class T>
struct transition {
  session after;
  result<T> answer;
  std::vector<event> events = {};
};

/// What this verb found or did: `adopted_running` also where the session was bound before. `session::from` says how the
/// session came to be.
struct opened {
  origin from = origin::created;
};
struct done {};
/// What a stamp found: whether it wrote, and the holder epoch that stood before.
struct stamped {
  bool written = false;
  std::optional<std::string> found;
};

/// The verbs of one workspace that change it, as an actor asks for them. Each carries out one verb of [W] §3 whole: its
/// checks, writes, waits and clean-up. The callback comes exactly once, on any thread, by `until` plus one bounded
/// clean-up, and after the last request of the verb; also when cancelled. The port does not order verbs: the asker runs
/// one at a time per workspace.
class transitions_port {
public:
  template <class T>
  using then = std::function<void(transition<T>)>;
  virtual ~transitions_port() = default;

  /// Create or adopt ([W] 3.1). With `create` false, a name under which nothing stands is `AlreadyGone` and a Suspended
  /// object is woken; nothing is ever POSTed.
  virtual void open(ticket name, id which, open_options how, session before, deadline until, then<opened> to) = 0;
  /// Reads what stands and, where it is Running, stamps the epoch and binds a session; never wakes anything. This is how a
  /// WORKSPACE that has just started learns its state. 404 is `AlreadyGone`.
  virtual void take_up(ticket name, id which, session before, deadline until, then<done> to) = 0;
  /// [W] 3.4.
  virtual void suspend(ticket name, id which, suspend_options how, session before, deadline until, then<done> to) = 0;
  /// [W] 3.5.
  virtual void resume(ticket name, id which, open_options how, session before, deadline until, then<opened> to) = 0;
  /// DELETE with the disk ([W] 3.7); already gone is success.
  virtual void remove(ticket name, id which, remove_options how, session before, deadline until, then<done> to) = 0;
  /// Replaces a holder epoch that nobody can read, and nothing else, by one of this host ([W] P11). A text that can be read is an
  /// argument error and asks nothing; another stored text is `precondition`, another Sandbox `replaced`. Neither writes.
  virtual void reset_epoch(ticket name, id which, epoch_reset what, session before, deadline until, then<done> to) = 0;
  /// Writes the holder epoch, and nothing else, where the Sandbox carries none or a lower one: of a session that had written one, or of an
  /// owner of a shard. Wakes and binds nothing ([W] P11, P12).
  virtual void stamp(ticket name, id which, session before, deadline until, then<stamped> to) = 0;
  /// Whether somebody else has suspended it ([W] 3.8). One read, of a session that runs or whose state is unknown; never wakes, writes or
  /// stamps anything. A read that fails changes nothing.
  virtual void refresh(ticket name, id which, session before, deadline until, then<done> to) = 0;
  /// Which pod is behind a running session now ([W] 6.3, P2, P12), after a call was proven to have run nothing. Reads only. Nothing: it
  /// is the same one, or nobody can tell. A failure goes to the caller of the call: the workspace is somebody else's.
  virtual void reread(ticket name, id which, session now, deadline until, std::function<void(result<std::optional<found_pod>>)> to) = 0;
  /// After a call on a running session failed: whether somebody else suspended or replaced it ([W] 3.8, 3.12). The answer
  /// is the failure that the caller gets: `original` or the one that explains it. Of a cancellation that is not confirmed it tells what
  /// is known of the guest ([W] 6.5), also where the session does not run.
  virtual void explain(ticket name, id which, std::string operation, session before, failure original, deadline until, then<done> to) = 0;
  /// Withdraws one verb. It still answers, after what must be cleaned up.
  virtual void cancel(ticket name) = 0;
  /// What a WATCH shows of the workspace's Sandbox while a verb runs; the latest counts. A verb that waits for readiness waits for
  /// this, and reads again and again only while nothing live is shown. A verb that has ended ignores it.
  virtual void saw(ticket name, k8s::sighting x) = 0;
};

/// What is read without waking or owning anything.
class inventory_port {
public:
  virtual ~inventory_port() = default;
  virtual void list(deadline until, std::function<void(result<std::vector<summary>>)> to) = 0;
  virtual void get(id which, deadline until, std::function<void(result<summary>)> to) = 0;
};

// -- calls into a guest --------------------------------------------------------------------

struct run_job {
  guest::command what;
};
struct detached_job {
  guest::detached_run what;
};
struct attach_job {
  guest::attach_request what;
};
struct terminal_job {
  guest::terminal_request what;
};
/// Takes a session up.
struct rejoin_job {
  guest::session_attach what;
};
struct tcp_job {
  std::string host;
  int port = 0;
};
struct read_job {
  std::string path;
  guest::file_part part;
};
struct write_job {
  std::string path;
  std::optional<std::uint64_t> size;
};
/// `what.max_entries` 0: a plain listing of everything ([G] 22.1), and only the root counts.
struct walk_job {
  guest::walk_request what;
};
using guest_job = std::variant<run_job, detached_job, attach_job, terminal_job, rejoin_job, tcp_job, read_job, write_job, walk_job>;

/// What a job says in between: the id under which a detached command will run, before anything runs under it; that a session was
/// attached to, or a stream is ready; that bytes are missing before the next output.
struct job_note {
  enum class kind { named, attached, ready, gap };
  kind what = kind::ready;
  std::string execution; // named
  std::string state;     // attached
  std::uint64_t from_offset = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t next_offset = 0;
};

/// How a job ended that was carried out; each fills in what it has.
struct job_end {
  guest::command_end how;
  std::uint64_t size = 0; // bytes read or written, entries of a walk
  std::string execution;
  std::string outcome;
  std::uint64_t next_offset = 0;
  std::uint64_t dropped_bytes = 0;
  std::optional<guest_boot_id> boot;
};

/// What a running call tells its asker, on any thread, in order; `end` comes exactly once and last.
struct call_events {
  /// Nothing of the call ran, by this failure, and another pod might take it. The call waits for `guest_port::move`, and says
  /// this once at most. Empty: the call ends with the failure.
  std::function<void(guest::failure)> refused = {};
  std::function<void(guest::stream, std::vector<std::byte>)> output; // at most 64 KiB, and never more than was granted
  std::function<void(std::size_t)> wants_input;                      // so many bytes may be given now
  std::function<void(job_note)> noted;
  std::function<void(result<job_end>)> end;
};

/// What may be said to a call that runs; one that it means nothing to ignores it.
struct resize_terminal {
  guest::window_size size;
};
struct signal_terminal {
  std::string name;
};
/// Leave what runs in the guest as it is.
struct leave_running {};
using steering = std::variant<resize_terminal, signal_terminal, leave_running>;

// -- questions: one answer ---------------------------------------------------------------------

struct list_sessions {};
struct start_detached {
  guest::session_start what;
};
struct kill_session {
  std::string session;
  std::optional<std::string> signal;
};
struct quiesce_guest {
  guest::quiesce_request how;
};
struct flush_guest {
  std::optional<std::chrono::milliseconds> bound;
};
struct cancel_execution {
  std::string execution;
};
using question = std::variant<list_sessions, start_detached, kill_session, quiesce_guest, flush_guest, cancel_execution>;
using reply = std::variant<std::monostate, std::vector<guest::session_row>, guest::session_row, guest::quiesce_report, guest::flush_report>;

/// Calls into the guest of a session. Output flows only against `grant`; input only against `wants_input`.
class guest_port {
public:
  virtual ~guest_port() = default;
  virtual void start(ticket name, guest::endpoint where, guest_job what, deadline until, call_events events) = 0;
  /// Allows so many more bytes of output.
  virtual void grant(ticket name, std::size_t bytes) = 0;
  /// A piece of input; `last` ends it. More than was wanted is a bug of the asker and ends the call.
  virtual void input(ticket name, std::vector<std::byte> piece, bool last) = 0;
  virtual void steer(ticket name, steering how) = 0;
  /// Tells a call that was `refused` where it is tried once more; without a place it ends as it was refused.
  virtual void move(ticket name, std::optional<guest::endpoint> to) = 0;
  /// Withdraws a call: a command is cancelled in the guest, and `end` says what is known of it; what was only attached is left.
  /// For a write whose input is not complete nothing is written. A question that is withdrawn is still answered.
  virtual void cancel(ticket name) = 0;
  /// Asks. The callback comes exactly once, on any thread, by `until` plus one bounded clean-up.
  virtual void ask(ticket name, guest::endpoint where, question what, deadline until, std::function<void(result<reply>)> to) = 0;
};

} // namespace paddock::workspace
