#pragma once

#include "messages/problem.hpp"

#include <caf/timespan.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock {

/// Bytes on their way; at most `chunk_limit` in one message.
using bytes = std::vector<std::byte>;
inline constexpr std::size_t chunk_limit = 64 * 1024;

/// What `info` says of a node.
struct node_info {
  std::string version;
  std::uint32_t protocol = 0; // of the messages of this folder; a client that knows another number refuses to go on
  std::string instance;       // new at each start
  std::string name_space;
  std::string template_name; // used where an open names none
  bool embedded = false;
  std::uint32_t shards = 0;
  std::uint64_t workspaces = 0; // WORKSPACE actors alive
};
inline constexpr std::uint32_t message_protocol = 3;

/// One workspace as a node sees it: what the cluster says, and what this node's session holds of it.
struct workspace_view {
  std::string workspace;
  std::string sandbox_name;
  std::string template_name;
  std::string mode;  // Running or Suspended, as the object says
  std::string state; // of this node's session ([W] 2.1); empty: this node holds none
  std::string origin;
  std::optional<std::string> created_at;
  std::optional<std::string> mode_changed_at;
  std::optional<std::uint64_t> holder_epoch;
  std::string sandbox_uid;
  std::string pod_uid;       // empty: no session
  std::string guest_boot_id; // empty: not heard yet
  std::map<std::string, std::string> volume_claim_uids;
  std::optional<std::string> template_revision;
  bool template_current = false;
};

struct open_spec {
  std::string template_name; // empty: the node's own
  bool refresh_template = false;
  std::optional<std::string> expect_uid;              // absent: whichever stands, or a new one
  std::map<std::string, std::string> expect_claims{}; // with it: the uids of retained disks, by entry name
};

struct opened_view {
  std::string origin; // created, adopted-running or resumed
  workspace_view view;
};

struct suspend_spec {
  bool flush = true;
  bool quiesce = false;
  std::optional<caf::timespan> grace{}; // of the quiesce; absent: the guest's own
  bool by_id = false;                   // asks the cluster alone; with a flush or a quiesce an argument error
  std::optional<std::string> expect_uid{};
  bool or_deleted = false; // a deleted workspace is no failure: nothing is left to suspend
};

struct remove_spec {
  std::optional<std::string> expect_uid; // absent: whichever stands
};

/// Which unreadable holder epoch is meant, so that no other is replaced.
struct reset_spec {
  std::string stored;
  std::string sandbox_uid;
};

/// A command to run. With `detach` it runs with a log in the guest and this call only watches: the call says its execution id
/// (`noted`), a call that is lost is taken up again at the last byte, and with `leave` it ends as soon as the command has
/// started. `execution` names it beforehand; empty: the host mints one.
struct run_spec {
  std::string program;
  std::vector<std::string> arguments;
  std::optional<std::string> directory;
  std::map<std::string, std::string> environment;
  std::optional<caf::timespan> limit;
  bool with_input = false;
  bool detach = false;
  bool leave = false;
  std::string execution;
};

/// Watches an execution that has a log, from byte `from` of it. Cancelling the call stops watching and nothing else.
struct attach_spec {
  std::string execution;
  std::uint64_t from = 0;
};

/// A terminal. With `session` it is persistent under that id; with `attach` such a one is taken up at byte `from` of its log
/// and nothing is started (`program`, `arguments`, `directory`, `environment` are ignored). Input and output are bytes.
struct shell_spec {
  std::string program; // empty: the guest's shell
  std::vector<std::string> arguments;
  std::optional<std::string> directory;
  std::map<std::string, std::string> environment;
  std::int32_t columns = 80;
  std::int32_t rows = 24;
  std::string session;
  bool attach = false;
  std::uint64_t from = 0;
};

/// A connection to a port on the guest's loopback; input and output are its bytes. The last input half-closes it.
struct forward_spec {
  std::string host = "127.0.0.1"; // or ::1
  std::int32_t port = 0;
};

/// A file, or a part of it.
struct read_spec {
  std::string path;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> length;
};

/// A file to write; its content comes as input. `size` where it is known.
struct write_spec {
  std::string path;
  std::optional<std::uint64_t> size;
};

/// The regular files below `root`, as output: one JSON object `{"path","size"}` a line ([G] 22.2). `max_entries` 0: every one.
struct walk_spec {
  std::string root;
  std::string pattern = "**/*";
  bool include_hidden = false;
  std::optional<std::uint64_t> max_depth;
  std::uint64_t max_entries = 0;
  std::uint64_t max_visited_entries = 20'000;
};

/// A call to start. `credit` is the output that may be sent before the first `grant`.
struct call_spec {
  std::variant<run_spec, attach_spec, shell_spec, forward_spec, read_spec, write_spec, walk_spec> what;
  std::uint64_t credit = 0;
};

/// What a call says in between. A field that says nothing is empty.
struct call_note {
  std::string what;              // named (run with `detach`, before it runs), attached (shell with a session), ready (shell, forward), gap
  std::string execution;         // named
  std::string state;             // attached: of the session
  std::uint64_t from_offset = 0; // attached, gap
  std::uint64_t dropped_bytes = 0;
  std::uint64_t next_offset = 0; // attached
};

// -- questions to a guest: one answer, no stream ----------------------------------------------

struct sessions_question {};

struct session_start_question {
  std::string session;
  std::string program;
  std::vector<std::string> arguments;
  std::optional<std::string> directory;
  std::map<std::string, std::string> environment;
};

struct session_kill_question {
  std::string session;
  std::string signal; // empty: SIGKILL
};

/// Stops every process of the guest ([G] 12), or with `only_if_idle` says whether there is one. In line with the transitions.
struct quiesce_question {
  std::optional<caf::timespan> grace;
  bool only_if_idle = false;
};

/// Flushes the workspace's file system ([G] 13). In line with the transitions.
struct flush_question {
  std::optional<caf::timespan> bound;
};

/// Cancels an execution and confirms it ([G] 19.3). The answer is `done_answer`.
struct cancel_question {
  std::string execution;
};

struct guest_question {
  std::variant<sessions_question, session_start_question, session_kill_question, quiesce_question, flush_question, cancel_question> what;
};

struct done_answer {};

struct session_view {
  std::string session;
  std::string kind; // terminal or detached
  std::string command;
  std::vector<std::string> arguments;
  std::int64_t started_at = 0; // epoch milliseconds, as the others
  std::optional<std::int64_t> last_input_at;
  std::optional<std::int64_t> last_output_at;
  std::uint64_t next_offset = 0;
  std::uint64_t dropped_bytes = 0;
  std::string state; // running or exited
  bool attached = false;
  std::optional<std::int32_t> exit_code;
  std::optional<std::int32_t> signal;
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> signalled;
};

struct sessions_answer {
  std::vector<session_view> sessions;
};

struct stopped_view {
  std::int64_t pid = 0;
  std::string command;
  std::string signal;
};

struct quiesce_answer {
  std::vector<stopped_view> stopped;
  std::string scope; // pid-namespace or owned-sessions
  std::uint64_t grace_ms = 0;
  std::uint64_t rounds = 0;
};

struct flush_answer {
  std::uint64_t duration_ms = 0;
  std::string workspace;
};

struct guest_answer {
  std::variant<done_answer, sessions_answer, session_view, quiesce_answer, flush_answer> what;
};

/// Which guest is meant, and no other ([G] 23). Frozen once a PINNED GUEST has it.
struct pin_spec {
  std::string sandbox_uid;
  std::string pod_uid;
  std::string guest_boot_id;
  std::map<std::string, std::string> volume_claim_uids;
};

// -- egress ---------------------------------------------------------------------------------------

/// Does the object that an operator applies stand as it is configured?
struct named_object_question {};

/// Do all policies that select a pod of these labels allow no more than is configured? `subject` says in a refusal what was checked.
struct union_question {
  std::map<std::string, std::string> pod_labels;
  std::string subject;
};

/// Is the agent port of a pod of these labels closed to all but the host?
struct ingress_question {
  std::map<std::string, std::string> pod_labels;
  std::string subject;
};

/// What one sandbox may reach beside what is configured for all.
struct policy_spec {
  std::vector<std::string> allowed_hosts; // none: nothing
};

/// What a workspace is asked about its policy ([W] 3.15).
struct policy_request {
  std::optional<policy_spec> grant{}; // absent: nothing changes, and what stands is told
};

/// The policy of one workspace: what was granted, or what stands.
struct policy_view {
  std::string workspace;
  std::string sandbox_uid; // of its owner
  std::string policy;      // its name
  bool stands = false;
  std::vector<std::string> allowed_hosts; // as `policy_spec` has them
  std::string spec = "{}";                // of the object, as JSON text
};

/// What a POLICY QUEUE found or did by itself.
struct policy_event {
  std::string what;   // put-back, taken-away, refused, failed, dropped, owner-gone
  std::string policy; // its name
  std::string text;   // for people
};

// -- events ---------------------------------------------------------------------------------------

/// Who is behind a workspace ([W] 6.1). An empty field is one that nobody knows, or that there is none of.
struct identity_view {
  std::string sandbox_uid;
  std::string pod_uid;
  std::string guest_boot_id;
  std::map<std::string, std::string> volume_claim_uids;
};

/// What a WORKSPACE tells of itself.
struct workspace_event {
  std::uint64_t number = 0; // from 1 at each start of the WORKSPACE
  std::string at;           // by the node's clock
  std::string what;         // guest-restart, cancellation-unconfirmed or suspended-elsewhere
  std::string reason;       // guest-restart: pod-replaced or container-restarted; cancellation-unconfirmed: what is known of the guest
  std::string agent;        // cancellation-unconfirmed: ok, retiring or unreachable
  identity_view previous;   // who was there
  identity_view current;    // who is; empty where nobody is
  std::string text;         // for people; names no pod
};

/// How a call ended that was carried out. A file call fills in only `size`, a terminal how its program ended.
struct call_end {
  std::int32_t exit_code = 0; // -1 when a signal ended the command
  std::optional<std::string> signal;
  bool timed_out = false;
  caf::timespan took{0};
  bool out_truncated = false;
  bool err_truncated = false;
  bool lossy = false; // the guest speaks text only
  std::uint64_t size = 0;
  std::string execution; // of a detached run and of an attach, as the next three
  std::string outcome;   // completed, cancelled or failed
  std::uint64_t next_offset = 0;
  std::uint64_t dropped_bytes = 0;
};

// -- task sandboxes -------------------------------------------------------------------------------

/// What a task is run in ([C] 3).
struct task_spec {
  std::string pool{};          // empty: the node's own, or none where a template is named
  std::string template_name{}; // empty: the node's own
};

/// A task sandbox as its node holds it.
struct task_view {
  std::string name;         // of the object that the node made
  std::string kind;         // SandboxClaim or Sandbox
  std::string sandbox_name; // of a claim, that of the Sandbox that it was given
  std::string template_name;
  std::string pool;       // empty: none
  std::string status;     // ready, busy or destroyed
  bool may_grant = false; // egress may be granted to it
};

/// What a task sandbox tells who holds it.
struct task_event {
  std::string what; // lease-renewal-failed, gone, or the word of a policy_event
  problem why;
};

/// What a selector has released.
struct released_view {
  std::uint64_t deleted = 0;
  std::vector<std::string> names;
};

/// How a pool stands.
struct capacity_view {
  std::uint64_t ready = 0;
  std::uint64_t desired = 0;
  std::uint64_t active_claims = 0;
  std::uint64_t pending_pods = 0;
};

/// INTERNAL: a value that a port answered with, on its way to the actor that asked. Never leaves the process.
struct landed {
  std::shared_ptr<const void> value;
};

template <class Inspector>
bool inspect(Inspector& f, node_info& x) {
  return f.object(x).fields(f.field("version", x.version), f.field("protocol", x.protocol), f.field("instance", x.instance),
                            f.field("name_space", x.name_space), f.field("template_name", x.template_name), f.field("embedded", x.embedded),
                            f.field("shards", x.shards), f.field("workspaces", x.workspaces));
}

template <class Inspector>
bool inspect(Inspector& f, workspace_view& x) {
  return f.object(x).fields(f.field("workspace", x.workspace), f.field("sandbox_name", x.sandbox_name),
                            f.field("template_name", x.template_name), f.field("mode", x.mode), f.field("state", x.state),
                            f.field("origin", x.origin), f.field("created_at", x.created_at), f.field("mode_changed_at", x.mode_changed_at),
                            f.field("holder_epoch", x.holder_epoch), f.field("sandbox_uid", x.sandbox_uid), f.field("pod_uid", x.pod_uid),
                            f.field("guest_boot_id", x.guest_boot_id), f.field("volume_claim_uids", x.volume_claim_uids),
                            f.field("template_revision", x.template_revision), f.field("template_current", x.template_current));
}

template <class Inspector>
bool inspect(Inspector& f, open_spec& x) {
  return f.object(x).fields(f.field("template_name", x.template_name), f.field("refresh_template", x.refresh_template),
                            f.field("expect_uid", x.expect_uid), f.field("expect_claims", x.expect_claims));
}

template <class Inspector>
bool inspect(Inspector& f, opened_view& x) {
  return f.object(x).fields(f.field("origin", x.origin), f.field("view", x.view));
}

template <class Inspector>
bool inspect(Inspector& f, suspend_spec& x) {
  return f.object(x).fields(f.field("flush", x.flush), f.field("quiesce", x.quiesce), f.field("grace", x.grace), f.field("by_id", x.by_id),
                            f.field("expect_uid", x.expect_uid), f.field("or_deleted", x.or_deleted));
}

template <class Inspector>
bool inspect(Inspector& f, remove_spec& x) {
  return f.object(x).fields(f.field("expect_uid", x.expect_uid));
}

template <class Inspector>
bool inspect(Inspector& f, reset_spec& x) {
  return f.object(x).fields(f.field("stored", x.stored), f.field("sandbox_uid", x.sandbox_uid));
}

template <class Inspector>
bool inspect(Inspector& f, run_spec& x) {
  return f.object(x).fields(f.field("program", x.program), f.field("arguments", x.arguments), f.field("directory", x.directory),
                            f.field("environment", x.environment), f.field("limit", x.limit), f.field("with_input", x.with_input),
                            f.field("detach", x.detach), f.field("leave", x.leave), f.field("execution", x.execution));
}

template <class Inspector>
bool inspect(Inspector& f, attach_spec& x) {
  return f.object(x).fields(f.field("execution", x.execution), f.field("from", x.from));
}

template <class Inspector>
bool inspect(Inspector& f, shell_spec& x) {
  return f.object(x).fields(f.field("program", x.program), f.field("arguments", x.arguments), f.field("directory", x.directory),
                            f.field("environment", x.environment), f.field("columns", x.columns), f.field("rows", x.rows),
                            f.field("session", x.session), f.field("attach", x.attach), f.field("from", x.from));
}

template <class Inspector>
bool inspect(Inspector& f, forward_spec& x) {
  return f.object(x).fields(f.field("host", x.host), f.field("port", x.port));
}

template <class Inspector>
bool inspect(Inspector& f, read_spec& x) {
  return f.object(x).fields(f.field("path", x.path), f.field("offset", x.offset), f.field("length", x.length));
}

template <class Inspector>
bool inspect(Inspector& f, write_spec& x) {
  return f.object(x).fields(f.field("path", x.path), f.field("size", x.size));
}

template <class Inspector>
bool inspect(Inspector& f, walk_spec& x) {
  return f.object(x).fields(f.field("root", x.root), f.field("pattern", x.pattern), f.field("include_hidden", x.include_hidden),
                            f.field("max_depth", x.max_depth), f.field("max_entries", x.max_entries),
                            f.field("max_visited_entries", x.max_visited_entries));
}

template <class Inspector>
bool inspect(Inspector& f, call_spec& x) {
  return f.object(x).fields(f.field("what", x.what), f.field("credit", x.credit));
}

template <class Inspector>
bool inspect(Inspector& f, call_note& x) {
  return f.object(x).fields(f.field("what", x.what), f.field("execution", x.execution), f.field("state", x.state),
                            f.field("from_offset", x.from_offset), f.field("dropped_bytes", x.dropped_bytes),
                            f.field("next_offset", x.next_offset));
}

template <class Inspector>
bool inspect(Inspector& f, sessions_question& x) {
  return f.object(x).fields();
}

template <class Inspector>
bool inspect(Inspector& f, session_start_question& x) {
  return f.object(x).fields(f.field("session", x.session), f.field("program", x.program), f.field("arguments", x.arguments),
                            f.field("directory", x.directory), f.field("environment", x.environment));
}

template <class Inspector>
bool inspect(Inspector& f, session_kill_question& x) {
  return f.object(x).fields(f.field("session", x.session), f.field("signal", x.signal));
}

template <class Inspector>
bool inspect(Inspector& f, quiesce_question& x) {
  return f.object(x).fields(f.field("grace", x.grace), f.field("only_if_idle", x.only_if_idle));
}

template <class Inspector>
bool inspect(Inspector& f, flush_question& x) {
  return f.object(x).fields(f.field("bound", x.bound));
}

template <class Inspector>
bool inspect(Inspector& f, cancel_question& x) {
  return f.object(x).fields(f.field("execution", x.execution));
}

template <class Inspector>
bool inspect(Inspector& f, guest_question& x) {
  return f.object(x).fields(f.field("what", x.what));
}

template <class Inspector>
bool inspect(Inspector& f, done_answer& x) {
  return f.object(x).fields();
}

template <class Inspector>
bool inspect(Inspector& f, session_view& x) {
  return f.object(x).fields(f.field("session", x.session), f.field("kind", x.kind), f.field("command", x.command),
                            f.field("arguments", x.arguments), f.field("started_at", x.started_at),
                            f.field("last_input_at", x.last_input_at), f.field("last_output_at", x.last_output_at),
                            f.field("next_offset", x.next_offset), f.field("dropped_bytes", x.dropped_bytes), f.field("state", x.state),
                            f.field("attached", x.attached), f.field("exit_code", x.exit_code), f.field("signal", x.signal),
                            f.field("pid", x.pid), f.field("signalled", x.signalled));
}

template <class Inspector>
bool inspect(Inspector& f, sessions_answer& x) {
  return f.object(x).fields(f.field("sessions", x.sessions));
}

template <class Inspector>
bool inspect(Inspector& f, stopped_view& x) {
  return f.object(x).fields(f.field("pid", x.pid), f.field("command", x.command), f.field("signal", x.signal));
}

template <class Inspector>
bool inspect(Inspector& f, quiesce_answer& x) {
  return f.object(x).fields(f.field("stopped", x.stopped), f.field("scope", x.scope), f.field("grace_ms", x.grace_ms),
                            f.field("rounds", x.rounds));
}

template <class Inspector>
bool inspect(Inspector& f, flush_answer& x) {
  return f.object(x).fields(f.field("duration_ms", x.duration_ms), f.field("workspace", x.workspace));
}

template <class Inspector>
bool inspect(Inspector& f, guest_answer& x) {
  return f.object(x).fields(f.field("what", x.what));
}

template <class Inspector>
bool inspect(Inspector& f, pin_spec& x) {
  return f.object(x).fields(f.field("sandbox_uid", x.sandbox_uid), f.field("pod_uid", x.pod_uid), f.field("guest_boot_id", x.guest_boot_id),
                            f.field("volume_claim_uids", x.volume_claim_uids));
}

template <class Inspector>
bool inspect(Inspector& f, named_object_question& x) {
  return f.object(x).fields();
}

template <class Inspector>
bool inspect(Inspector& f, union_question& x) {
  return f.object(x).fields(f.field("pod_labels", x.pod_labels), f.field("subject", x.subject));
}

template <class Inspector>
bool inspect(Inspector& f, ingress_question& x) {
  return f.object(x).fields(f.field("pod_labels", x.pod_labels), f.field("subject", x.subject));
}

template <class Inspector>
bool inspect(Inspector& f, policy_spec& x) {
  return f.object(x).fields(f.field("allowed_hosts", x.allowed_hosts));
}

template <class Inspector>
bool inspect(Inspector& f, policy_request& x) {
  return f.object(x).fields(f.field("grant", x.grant));
}

template <class Inspector>
bool inspect(Inspector& f, policy_view& x) {
  return f.object(x).fields(f.field("workspace", x.workspace), f.field("sandbox_uid", x.sandbox_uid), f.field("policy", x.policy),
                            f.field("stands", x.stands), f.field("allowed_hosts", x.allowed_hosts), f.field("spec", x.spec));
}

template <class Inspector>
bool inspect(Inspector& f, policy_event& x) {
  return f.object(x).fields(f.field("what", x.what), f.field("policy", x.policy), f.field("text", x.text));
}

template <class Inspector>
bool inspect(Inspector& f, identity_view& x) {
  return f.object(x).fields(f.field("sandbox_uid", x.sandbox_uid), f.field("pod_uid", x.pod_uid), f.field("guest_boot_id", x.guest_boot_id),
                            f.field("volume_claim_uids", x.volume_claim_uids));
}

template <class Inspector>
bool inspect(Inspector& f, workspace_event& x) {
  return f.object(x).fields(f.field("number", x.number), f.field("at", x.at), f.field("what", x.what), f.field("reason", x.reason),
                            f.field("agent", x.agent), f.field("previous", x.previous), f.field("current", x.current),
                            f.field("text", x.text));
}

template <class Inspector>
bool inspect(Inspector& f, call_end& x) {
  return f.object(x).fields(f.field("exit_code", x.exit_code), f.field("signal", x.signal), f.field("timed_out", x.timed_out),
                            f.field("took", x.took), f.field("out_truncated", x.out_truncated), f.field("err_truncated", x.err_truncated),
                            f.field("lossy", x.lossy), f.field("size", x.size), f.field("execution", x.execution),
                            f.field("outcome", x.outcome), f.field("next_offset", x.next_offset),
                            f.field("dropped_bytes", x.dropped_bytes));
}

template <class Inspector>
bool inspect(Inspector& f, task_spec& x) {
  return f.object(x).fields(f.field("pool", x.pool), f.field("template_name", x.template_name));
}

template <class Inspector>
bool inspect(Inspector& f, task_view& x) {
  return f.object(x).fields(f.field("name", x.name), f.field("kind", x.kind), f.field("sandbox_name", x.sandbox_name),
                            f.field("template_name", x.template_name), f.field("pool", x.pool), f.field("status", x.status),
                            f.field("may_grant", x.may_grant));
}

template <class Inspector>
bool inspect(Inspector& f, task_event& x) {
  return f.object(x).fields(f.field("what", x.what), f.field("why", x.why));
}

template <class Inspector>
bool inspect(Inspector& f, released_view& x) {
  return f.object(x).fields(f.field("deleted", x.deleted), f.field("names", x.names));
}

template <class Inspector>
bool inspect(Inspector& f, capacity_view& x) {
  return f.object(x).fields(f.field("ready", x.ready), f.field("desired", x.desired), f.field("active_claims", x.active_claims),
                            f.field("pending_pods", x.pending_pods));
}

} // namespace paddock
