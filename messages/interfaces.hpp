#pragma once

// Every actor's interface, one comment a message. A refusal (a named error) is an answer: a caf::error of category `verdict`
// whose context is a `problem` (messages/error.hpp). Messages marked INTERNAL come from the actor itself or its ports.

#include "messages/ids.hpp"

namespace paddock {

/// The taker of what a call sends: a client's own actor, maybe in another process.
using sink_actor = caf::typed_actor<
  // A piece of output, in order. The stream is 1 for stdout (and for a file that is read), 2 for stderr.
  caf::result<void>(atom::output, std::uint8_t, bytes),
  // So many more bytes of input may be sent to the CALL.
  caf::result<void>(atom::wanted, std::uint64_t),
  // What the call says in between: where it stands, or that bytes are missing before the next output.
  caf::result<void>(atom::noted, call_note),
  // The call was carried out and this is how it ended. Nothing follows.
  caf::result<void>(atom::ended, call_end),
  // The call was not carried out, or nobody knows: see the verdict. Nothing follows.
  caf::result<void>(atom::failed, problem)>;

/// The CALL: one running call into a guest. It lives until its sink has taken the end; a sink that dies cancels it.
using call_actor = caf::typed_actor<
  // The sink takes so many more bytes of output. Never more than granted is in flight.
  caf::result<void>(atom::grant, std::uint64_t),
  // A piece of input, at most what was wanted; `true` with the last one.
  caf::result<void>(atom::input, bytes, bool),
  // Withdraw: the command is cancelled in the guest, and the end says what is known of it. An attach, a session and a
  // forwarded port are left, and nothing in the guest is cancelled.
  caf::result<void>(atom::cancel),
  // Leave what runs in the guest as it is: a detached run ends as `ExecutionDetached`, a session is detached from.
  caf::result<void>(atom::leave),
  // Of a terminal: its new size, columns first; a signal by its name (SIGTERM, SIGKILL, SIGINT, SIGHUP).
  caf::result<void>(atom::resize, std::int32_t, std::int32_t), caf::result<void>(atom::signal, std::string),
  // INTERNAL: the guest sent output; wants input; said something; has ended the call.
  caf::result<void>(atom::output, std::uint8_t, bytes), caf::result<void>(atom::wanted, std::uint64_t),
  caf::result<void>(atom::noted, call_note), caf::result<void>(atom::landed, landed),
  // INTERNAL: the owner has explained a failure; this is what the sink is told.
  caf::result<void>(atom::failed, problem),
  // INTERNAL: the guest refused the call, or was not reached, and nothing ran.
  caf::result<void>(atom::refused),
  // INTERNAL: the owner has looked where else the call might go (`workspace::result<std::optional<workspace::found_pod>>`).
  caf::result<void>(atom::moved, landed)>;

/// Who admitted a CALL and explains its failure. INTERNAL, never in another process.
using call_owner_actor = caf::typed_actor<
  // A CALL of this session generation heard this boot id, from the guest of this pod.
  caf::result<void>(atom::heard, std::uint64_t, std::string, std::string),
  // A CALL of this session generation was refused by the guest of this pod, or did not reach it, and nothing ran. It asks for another.
  caf::result<void>(atom::moved, std::uint64_t, call_actor, std::string),
  // A CALL of this session generation failed and asks what to tell its sink.
  caf::result<void>(atom::failed, std::uint64_t, call_actor, std::string, landed)>;

/// The PINNED GUEST: speaks to one guest process and to no other ([G] 23). It never follows a replaced pod, and never suspends
/// or retires what it does not own. A refusal is `GuestPinRefused` and means that nothing ran; it stays refused. It lives as long
/// as somebody holds it, and never returns after a crash.
using pinned_guest_actor = caf::typed_actor<
  // What it is pinned to.
  caf::result<pin_spec>(atom::pin),
  // As the WORKSPACE's, in the pinned guest. `exec`, files, terminals without a session, ports and listings; anything else
  // is an argument error.
  caf::result<call_actor>(atom::call, call_spec, sink_actor, caf::timespan),
  // `quiesce_question` only.
  caf::result<guest_answer>(atom::ask, guest_question, caf::timespan),
  // INTERNAL: the guest was asked whether it can be pinned; a question has been answered.
  caf::result<void>(atom::landed, std::uint64_t, landed),
  // INTERNAL: what a CALL of this view tells its owner. It is never moved.
  caf::result<void>(atom::heard, std::uint64_t, std::string, std::string),
  caf::result<void>(atom::moved, std::uint64_t, call_actor, std::string),
  caf::result<void>(atom::failed, std::uint64_t, call_actor, std::string, landed)>;

/// Who listens to a WORKSPACE; maybe in another process.
using event_sink_actor = caf::typed_actor<
  // The next event. While the WORKSPACE lives the one after it is told only once this one is answered.
  caf::result<void>(atom::noted, workspace_event),
  // Nothing follows: `EventsDropped`, because too many waited for this sink, or `EventsEnded`, because the WORKSPACE has ended.
  caf::result<void>(atom::failed, problem)>;

/// The SUBSCRIPTION: what one sink has still to be told. It ends with its sink and with its WORKSPACE, and when more waits than it keeps.
/// INTERNAL, never in another process.
using subscription_actor = caf::typed_actor<
  // The WORKSPACE tells an event.
  caf::result<void>(atom::noted, workspace_event)>;

/// Who is told what a WATCH shows of one name. INTERNAL, never in another process.
using watcher_actor = caf::typed_actor<
  // What is known of the name now, and whether changes of it are told (`k8s::sighting`).
  caf::result<void>(atom::shown, landed)>;

/// Who is told of Sandboxes that carry no holder epoch of this host: the name, and whether it came to be so while the WATCH told.
/// INTERNAL, never in another process.
using stamper_actor = caf::typed_actor<caf::result<void>(atom::stamp, std::string, bool)>;

/// The WATCH: the objects of one kind of one namespace, trimmed, as list and watch tell them. It forgets watchers that end. The NODE
/// starts it again after a crash, and says so to the SHARDs. INTERNAL, never in another process.
using watch_actor = caf::typed_actor<
  // From now on tells the watcher of this name: at once, after each change, and when it can no longer tell, or can again. A watcher
  // watches one name; the latest counts.
  caf::result<void>(atom::watch, std::string, watcher_actor),
  // From now on tells of each object without a holder epoch, or with one below this: those that are known, and each that comes or
  // becomes so.
  caf::result<void>(atom::stamp, std::uint64_t, stamper_actor),
  // INTERNAL: news of the port.
  caf::result<void>(atom::landed, landed)>;

/// The FENCE: knows whether the operator's admission policy bounds what this host writes ([E] 4). One for each session of a workspace, and
/// one for all tasks of a backend. It ends with the session, and what it knew with it. INTERNAL, never in another process.
using fence_actor = caf::typed_actor<
  // Proves the fence, or answers from memory. Who waits shares one proof, each within a time of its own; a failed proof is not
  // remembered. The number is the caller's ticket, by which it may cancel.
  caf::result<void>(atom::prove, std::uint64_t, caf::timespan),
  // The caller with this ticket no longer waits, and is told so. The proof goes on for the others.
  caf::result<void>(atom::cancel, std::uint64_t),
  // The session is over: refuses who waits, and ends.
  caf::result<void>(atom::stop),
  // INTERNAL: the time of the caller with this ticket is up.
  caf::result<void>(atom::expired, std::uint64_t),
  // INTERNAL: the cluster has answered.
  caf::result<void>(atom::landed, std::uint64_t, landed)>;

/// The EGRESS GATE: what an operator applies is proved here before a sandbox begins ([E] 3.11, 6.2). One for each backend. Who asks the
/// same at the same time shares one check, each within a time of its own. The named object is proved once; a union that passed stands for
/// five minutes from its start, for all pods whose labels differ in the per-sandbox one only; an ingress that passed stands for good.
/// What was refused is not remembered. For tasks: of a workspace everything is proved anew on every call ([E] 3.1). The number is the
/// caller's ticket. INTERNAL, never in another process.
using egress_gate_actor = caf::typed_actor<caf::result<void>(atom::verify, named_object_question, std::uint64_t, caf::timespan),
                                           caf::result<void>(atom::verify, union_question, std::uint64_t, caf::timespan),
                                           caf::result<void>(atom::verify, ingress_question, std::uint64_t, caf::timespan),
                                           // The caller with this ticket no longer waits, and is told so. The check goes on for the others.
                                           caf::result<void>(atom::cancel, std::uint64_t),
                                           // INTERNAL: the time of the caller with this ticket is up.
                                           caf::result<void>(atom::expired, std::uint64_t),
                                           // INTERNAL: the cluster has answered.
                                           caf::result<void>(atom::landed, std::uint64_t, landed)>;

/// Who holds a task sandbox; maybe in another process. When it ends the sandbox is given back.
using task_holder_actor = caf::typed_actor<caf::result<void>(atom::noted, task_event)>;

/// The TASK: one task sandbox ([C] 3), from the wish for it to its end. It never makes another one: after a crash nobody knows, and what it
/// had made dies with its lease. It lives as long as its holder, and gives the sandbox back when that ends.
using task_actor = caf::typed_actor<
  // INTERNAL, once: acquires it, verifies what an operator applies, and probes its guest. A failure ends the TASK, and what was made
  // is deleted, or dies with its lease.
  caf::result<task_view>(atom::acquire, caf::timespan),
  // What is held; asks nobody.
  caf::result<task_view>(atom::view),
  // As the WORKSPACE's. Refused as `SandboxDestroyed` once it is given back, and as `SandboxGone` once its object is gone: nothing is
  // dialled.
  caf::result<call_actor>(atom::call, call_spec, sink_actor, caf::timespan),
  // What it may reach beside what is configured for all; the answer proves what the POLICY QUEUE's does. Refused as a call is, and as
  // `PerSandboxEgressNotConfigured` where the node's configuration has no per-sandbox egress.
  caf::result<void>(atom::allow, policy_spec, caf::timespan),
  // Gives it back: ends its terminals and deletes the object. Said twice it deletes once; after a failure it may be said again.
  caf::result<void>(atom::remove, caf::timespan),
  // The node stops: gives it back, and ends.
  caf::result<void>(atom::stop),
  // INTERNAL: it is time to renew the lease, unless it was stopped since.
  caf::result<void>(atom::renew, std::uint64_t),
  // INTERNAL: a port has answered.
  caf::result<void>(atom::landed, std::uint64_t, landed),
  // INTERNAL: what a CALL tells its owner.
  caf::result<void>(atom::heard, std::uint64_t, std::string, std::string),
  caf::result<void>(atom::moved, std::uint64_t, call_actor, std::string),
  caf::result<void>(atom::failed, std::uint64_t, call_actor, std::string, landed),
  // INTERNAL: what its POLICY QUEUE found or did by itself.
  caf::result<void>(atom::noted, policy_event)>;

} // namespace paddock

CAF_BEGIN_TYPE_ID_BLOCK(paddock_handles, ::paddock::first_handle_type_id)

CAF_ADD_TYPE_ID(paddock_handles, (paddock::sink_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::call_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::pinned_guest_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::call_owner_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::watcher_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::watch_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::fence_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::stamper_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::event_sink_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::egress_gate_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::task_holder_actor))
CAF_ADD_TYPE_ID(paddock_handles, (paddock::task_actor))

CAF_END_TYPE_ID_BLOCK(paddock_handles)

namespace paddock {

/// Who is told what a POLICY QUEUE finds or does by itself. INTERNAL, never in another process.
using policy_watcher_actor = caf::typed_actor<caf::result<void>(atom::noted, policy_event)>;

/// The POLICY QUEUE: the order of writes to the per-sandbox policy of one owner uid ([E] 5, [W] P7, P8). Calls never overlap, and a failed
/// one does not hold up the next. It remembers what it last meant, looks again 1, 5, 30 and 90 s after a write that nobody knows about,
/// puts right what differs and says so. Where nobody knows whether it was put right it looks again as often, eight times in a row at
/// most. A policy that it never wrote it leaves alone, and says so. It ends with its owner.
/// INTERNAL, never in another process.
using policy_queue_actor = caf::typed_actor<
  // Lets the sandbox reach these hosts, instead of what it was granted before. Hosts that are none are refused before the call takes its
  // place in the queue. The answer proves that the policy stands as meant and that the others that select the pod make it no wider.
  caf::result<void>(atom::allow, policy_spec, caf::timespan),
  // Removes what predecessors of the same name were granted, then puts right what differs. For after a bind, and whenever a policy
  // has changed. A policy that the queue never wrote is no failure. One that somebody else changes again and again is put right once
  // for each check: how often that is lies with who asks.
  caf::result<void>(atom::check, caf::timespan),
  // The session has another FENCE from now on.
  caf::result<void>(atom::moved, fence_actor),
  // These are all labels of the owner's pods from now on: what selects them is judged after a write.
  caf::result<void>(atom::moved, std::map<std::string, std::string>),
  // The owner is gone, or its node stops: refuses what waits, withdraws what is under way, ends when that has ended.
  caf::result<void>(atom::stop),
  // INTERNAL: it is time to look again, after the write of unknown outcome with this number.
  caf::result<void>(atom::check, std::uint64_t),
  // INTERNAL: the cluster has answered.
  caf::result<void>(atom::landed, std::uint64_t, landed)>;

/// The WORKSPACE: the one place where a workspace is changed. Its mailbox and queue order the verbs; a verb that is under way
/// is never overtaken. State is rebuilt from the cluster after a start; nothing is remembered that the cluster does not know, but what one
/// that was let go leaves behind (`leave`).
using workspace_actor = caf::typed_actor<
  // Creates, adopts or wakes. The answer proves a bound session whose guest passed the privilege probe.
  caf::result<opened_view>(atom::open, open_spec, caf::timespan),
  // The answer proves that the pod is gone and the disk kept. Joins a suspend that is under way.
  caf::result<workspace_view>(atom::suspend, suspend_spec, caf::timespan),
  // As `open`, for a workspace that exists.
  caf::result<opened_view>(atom::resume, open_spec, caf::timespan),
  // Deletes the Sandbox and with it the disk. The answer proves that the name is free of this object. The SHARD then
  // ends the actor.
  caf::result<void>(atom::remove, remove_spec, caf::timespan),
  // Replaces a holder epoch that nobody can read, if it is the one named; changes nothing else.
  caf::result<workspace_view>(atom::reset_epoch, reset_spec, caf::timespan),
  // INTERNAL: sees to it that the Sandbox carries a holder epoch of this host, in line with the verbs; `true`: says so where it had
  // to write one.
  caf::result<void>(atom::stamp, bool),
  // What this node's session holds; never asks the cluster.
  caf::result<workspace_view>(atom::view),
  // Starts a call. The answer is its CALL, and not yet its end, which the sink is told. Refused at admission when the
  // workspace is not running: nothing is dialled.
  caf::result<call_actor>(atom::call, call_spec, sink_actor, caf::timespan),
  // Asks the guest; refused at admission as a call is. A quiesce and a flush wait in line with the verbs.
  caf::result<guest_answer>(atom::ask, guest_question, caf::timespan),
  // A view of the guest that is named and of no other. An incomplete pin is `PinIncomplete`; nothing is sent.
  caf::result<pinned_guest_actor>(atom::pin, pin_spec),
  // What a pinned view compares itself with: the session's identity, its endpoint and generation. Never asks the cluster.
  caf::result<landed>(atom::identity),
  // What the workspace may reach beside what is configured for all. A grant stands in line with the transitions, and its answer proves
  // what the POLICY QUEUE's does; a Suspended workspace takes it too. Without a grant what stands is read, at once. Refused as
  // `PerSandboxEgressNotConfigured` where the node's configuration has no per-sandbox egress.
  caf::result<policy_view>(atom::policy, policy_request, caf::timespan),
  // Refuses new work, withdraws what is under way, ends when that has ended.
  caf::result<void>(atom::stop),
  // INTERNAL: whether it may be let go, because nobody needs it. The answer is what its successor has to know
  // (`workspace::remembered`), or null where it must stay; it changes nothing.
  caf::result<landed>(atom::leave),
  // INTERNAL: the verb under way, or a question, has ended.
  caf::result<void>(atom::landed, std::uint64_t, landed),
  // Looks whether somebody else has suspended it; in line with the verbs. One read, or none where nothing runs here.
  caf::result<workspace_view>(atom::refresh, caf::timespan),
  // The latest of what it told of itself since it was started, oldest first.
  caf::result<std::vector<workspace_event>>(atom::events),
  // As `events`, and tells the sink all that follows. A sink that falls behind is dropped, and told so.
  caf::result<std::vector<workspace_event>>(atom::subscribe, event_sink_actor),
  // INTERNAL: what a CALL tells its owner.
  caf::result<void>(atom::heard, std::uint64_t, std::string, std::string),
  caf::result<void>(atom::moved, std::uint64_t, call_actor, std::string),
  caf::result<void>(atom::failed, std::uint64_t, call_actor, std::string, landed),
  // INTERNAL: the cluster was looked at after a failed call.
  caf::result<void>(atom::explained, std::uint64_t, call_actor, landed),
  // INTERNAL: the NODE's WATCH of Sandboxes; what it shows of this workspace's.
  caf::result<void>(atom::watch, watch_actor), caf::result<void>(atom::shown, landed),
  // INTERNAL: what a POLICY QUEUE of this workspace found or did by itself.
  caf::result<void>(atom::noted, policy_event)>;

/// The SHARD: starts the WORKSPACEs of its share on their first message, and again after a crash with back-off; lets those go that
/// nobody uses. It answers for them, so that a crash is `OutcomeUnknown` to every caller and never "failed". The first argument is the id.
using shard_actor = caf::typed_actor<caf::result<opened_view>(atom::open, std::string, open_spec, caf::timespan),
                                     caf::result<workspace_view>(atom::suspend, std::string, suspend_spec, caf::timespan),
                                     caf::result<opened_view>(atom::resume, std::string, open_spec, caf::timespan),
                                     caf::result<void>(atom::remove, std::string, remove_spec, caf::timespan),
                                     caf::result<workspace_view>(atom::reset_epoch, std::string, reset_spec, caf::timespan),
                                     // Empty fields where no WORKSPACE is alive; starts none.
                                     caf::result<workspace_view>(atom::view, std::string),
                                     caf::result<call_actor>(atom::call, std::string, call_spec, sink_actor, caf::timespan),
                                     caf::result<guest_answer>(atom::ask, std::string, guest_question, caf::timespan),
                                     caf::result<pinned_guest_actor>(atom::pin, std::string, pin_spec),
                                     caf::result<policy_view>(atom::policy, std::string, policy_request, caf::timespan),
                                     caf::result<workspace_view>(atom::refresh, std::string, caf::timespan),
                                     // None where no WORKSPACE is alive; starts none.
                                     caf::result<std::vector<workspace_event>>(atom::events, std::string),
                                     caf::result<std::vector<workspace_event>>(atom::subscribe, std::string, event_sink_actor),
                                     // Acquires a task sandbox for this holder, whose object gets this name. The GATE and the FENCE are
                                     // those of all tasks; null where the configuration has none.
                                     caf::result<task_actor>(atom::acquire, std::string, task_spec, task_holder_actor, egress_gate_actor,
                                                             fence_actor, caf::timespan),
                                     // How many WORKSPACEs are alive.
                                     caf::result<std::uint64_t>(atom::count), caf::result<void>(atom::stop),
                                     // INTERNAL: the Sandbox of this id carries no epoch of this host; its WORKSPACE is to stamp it,
                                     // when those before it are done. `true`: it came to be so while this node ran.
                                     caf::result<void>(atom::stamp, std::string, bool),
                                     // INTERNAL: the back-off of a crashed WORKSPACE is over.
                                     caf::result<void>(atom::restart, std::string),
                                     // INTERNAL: it is time to look which WORKSPACEs nobody uses.
                                     caf::result<void>(atom::leave),
                                     // INTERNAL: the NODE's WATCH of Sandboxes, for the WORKSPACEs.
                                     caf::result<void>(atom::watch, watch_actor)>;

/// The NODE: the published address of a process. Checks ids, finds the SHARD, and answers inventories itself.
using node_actor =
  caf::typed_actor<caf::result<node_info>(atom::info), caf::result<opened_view>(atom::open, std::string, open_spec, caf::timespan),
                   caf::result<workspace_view>(atom::suspend, std::string, suspend_spec, caf::timespan),
                   caf::result<opened_view>(atom::resume, std::string, open_spec, caf::timespan),
                   caf::result<void>(atom::remove, std::string, remove_spec, caf::timespan),
                   caf::result<workspace_view>(atom::reset_epoch, std::string, reset_spec, caf::timespan),
                   // One workspace as the cluster and this node's session see it; wakes nothing.
                   caf::result<workspace_view>(atom::get, std::string, caf::timespan),
                   // Every workspace of the namespace; wakes nothing, reads no pod.
                   caf::result<std::vector<workspace_view>>(atom::list, caf::timespan),
                   caf::result<call_actor>(atom::call, std::string, call_spec, sink_actor, caf::timespan),
                   caf::result<guest_answer>(atom::ask, std::string, guest_question, caf::timespan),
                   // The handle of a view of the guest named; any process may hold it.
                   caf::result<pinned_guest_actor>(atom::pin, std::string, pin_spec),
                   caf::result<policy_view>(atom::policy, std::string, policy_request, caf::timespan),
                   caf::result<workspace_view>(atom::refresh, std::string, caf::timespan),
                   // Of one workspace as this node has seen it; wakes nothing, asks the cluster nothing.
                   caf::result<std::vector<workspace_event>>(atom::events, std::string),
                   caf::result<std::vector<workspace_event>>(atom::subscribe, std::string, event_sink_actor),
                   // A task sandbox of its own for this holder, verified and probed. The TASK lives as long as the holder.
                   caf::result<task_actor>(atom::acquire, task_spec, task_holder_actor, caf::timespan),
                   // Deletes every claim that the selector names, of whichever host.
                   caf::result<released_view>(atom::release, std::string, caf::timespan),
                   // How this pool stands; empty: the node's own.
                   caf::result<capacity_view>(atom::capacity, std::string, caf::timespan),
                   // Refuses new work and ends when every WORKSPACE has ended. Taken from this process only.
                   caf::result<void>(atom::stop),
                   // INTERNAL: the WATCH shows a Sandbox of this name without an epoch of this host (`stamper_actor`).
                   caf::result<void>(atom::stamp, std::string, bool),
                   // INTERNAL: an inventory was read.
                   caf::result<void>(atom::landed, std::uint64_t, landed),
                   // INTERNAL: the back-off of a crashed WATCH is over.
                   caf::result<void>(atom::restart)>;

} // namespace paddock
