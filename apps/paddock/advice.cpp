#include "apps/paddock/advice.hpp"

#include <algorithm>
#include <array>

namespace paddock::cli {

namespace {

constexpr auto list = std::to_array<advice>({
  {"AdmissionFenceMissing", "1, 3", "Apply the admission fence of deploy/egress; `paddock fence check` says what is missing."},
  {"AdmissionFenceNotEnforcing", "1, 3", "Bind the admission fence with `Deny`; `paddock fence check` says what keeps it from binding."},
  {"AdmissionFenceUnreadable", "1, 3", "Let the node read the admission policy and its binding."},
  {"AgentAddressUnresolvable", "7", "Set `agent-address: pod-ip` on the node, or let it resolve the names of Services."},
  {"AgentDialFailed", "7",
   "Look whether the pod runs and whether the network lets the node reach the agent port (`paddock ingress check`)."},
  {"AgentPreauthFrameTooLarge", "3", "Shorten the command or its environment; content goes by `cp` or as input."},
  {"AgentReadFileStreamUnsupported", "3", "Use a guest image that has the feature; nothing was read."},
  {"AgentRetiring", "3", "Suspend and resume the workspace: the guest cannot account for a process, and only a new pod clears that."},
  {"AgentSessionDetached", "7", "Attach again: `shell ID --session S --attach`; the program goes on."},
  {"AgentUnauthorized", "3", "Try again; if it stays, suspend and resume the workspace."},
  {"AgentWriteFileTooLarge", "3", "Use a guest image that takes files in parts; nothing was written."},
  {"AlreadyGone", "5", "Look at `ls`; what is not there is made by `open`."},
  {"AmbiguousPod", "1", "Find out why the Sandbox has two pods, and remove the one that is not its own."},
  {"Api", "1, 7", "Look at the message of the API server; try again when it answers."},
  {"ApiTimeout", "7", "Try again; raise `api-request-timeout` if the API server is that slow."},
  {"Cancelled", "1, 3", "Nothing is to be done: the caller or the node withdrew."},
  {"Conflict", "3", "Look at `get ID`, then say the verb again: somebody else wrote at the same time."},
  {"Credential", "3", "Give the node's user the rights of deploy, or a token that is not expired."},
  {"EgressNarrowingUnsupported", "2", "Ask for what the engine can express; the message names it."},
  {"EgressPolicyConfig", "2", "Mend the option of egress that the message names."},
  {"EgressPolicyMismatch", "1, 3", "Apply what `paddock egress render` prints; somebody has changed the policy."},
  {"EgressPolicyNotApplied", "1, 3", "Apply what `paddock egress render` prints."},
  {"EgressPolicyUnion", "1, 3", "Take away, or narrow, the policy that the message names; `paddock egress judge` shows them all."},
  {"EgressProfileConfig", "2", "Mend the profile that the message names."},
  {"EventsDropped", "1", "Follow the events anew, and take them faster; `events ID` shows the latest."},
  {"EventsEnded", "1", "Follow the events anew: the node has let go of the workspace, or has ended."},
  {"ExecutionAttachUnsupported", "3", "Use a guest image that has the feature, or run the command without `--detach`."},
  {"ExecutionDetached", "7", "Attach again: `attach ID EXECUTION --from BYTE`; the command goes on."},
  {"ExecutionNotAttachable", "3, 5", "Look at the reason in the message; a guest forgets its executions when it is restarted."},
  {"FlushUnconfirmed", "1, 3", "Try again; `suspend --no-flush` goes on without, and may lose what is not on the disk."},
  {"FlushUnsupported", "3", "Use a guest image that can flush; a suspend goes on without."},
  {"GuestMismatch", "3", "Read `identity ID` anew: another guest answers by now."},
  {"GuestPinRefused", "6", "Read `identity ID` anew and decide: the pinned guest is gone for good."},
  {"GuestUnsupported", "3", "Use a guest image that has the feature which the details name."},
  {"IllegalArgument", "2", "Mend the argument or the option of the node that the message names."},
  {"IllegalId", "2", "Use 1 to 54 of a-z, 0-9 and -, with no dash at either end."},
  {"IngressPolicy", "1, 3", "Close the agent port to everybody but the node; `paddock ingress check` says who reaches it."},
  {"InvalidArgument", "2", "Mend the argument that the message names; nothing was sent."},
  {"LocalFile", "1, 2", "Look at the file on this machine that the message names."},
  {"ModeNotKept", "1", "Set the mode of the file by hand; its content is whole."},
  {"NetworkPolicyHost", "2", "Mend the host that the message names."},
  {"NoPod", "1", "Look at the pod and its events; `suspend`, then `resume`, makes a new one."},
  {"NodeStopping", "3", "Ask another node, or this one when it is back."},
  {"NotAllowed", "3", "Only the node's own process may say this."},
  {"NotConfirmed", "3", "Say yes, or `--yes`; nothing was deleted."},
  {"OutOfTime", "7", "Try again with a longer `--timeout`."},
  {"OutcomeUnknown", "4",
   "Look at `get ID` before anything else: it may have happened. Verbs may be said again; commands only if they may run twice."},
  {"OutputFailed", "1", "Look at where the output goes: a full disk, or a reader that has left."},
  {"OutputGap", "1", "Attach sooner next time: the guest keeps the last part of the output only."},
  {"OwnerGone", "3", "Open the workspace; a policy without its owner is not written."},
  {"OwnerReplaced", "6",
   "Look at `get ID`: another Sandbox has the name. The message says whether what was written for it was taken back."},
  {"OwnerUidMissing", "1, 3", "Use an API server that reports uids."},
  {"PatchNotApplied", "3", "Look at `get ID`, then say the verb again: the object changed too often meanwhile."},
  {"PerSandboxEgressConfig", "2", "Mend the option of per-sandbox egress that the message names."},
  {"PerSandboxEgressNotConfigured", "3", "Give the node's egress configuration `perSandbox`; docs/egress.md says what goes with it."},
  {"PermittedHostRefused", "1, 3", "Ask for hosts that the operator permits."},
  {"PermittedHostsUnavailable", "1, 3", "Let the node read the list of permitted hosts."},
  {"PinIncomplete", "2", "Write the pin anew with `identity ID -o json` while the workspace runs."},
  {"PodLabelNotObserved", "1, 3", "Look why the pod does not carry the label of its template."},
  {"PodLabelsRejected", "1, 3", "Mend the labels of the template; the API server refused them."},
  {"PortTaken", "1", "Choose another local port: something on this machine has that one, or it may not be opened."},
  {"PrivilegeProbe", "1", "Take the privileges from the pod of the template that the message names."},
  {"ProtocolMismatch", "3", "Use the client of the node's version."},
  {"QuiesceUnconfirmed", "1, 3", "Look what still runs, and try again; `suspend` without `--quiesce` ends it with the pod."},
  {"QuiesceUnsupported", "3", "Use a guest image that has the feature, or leave `--quiesce` away."},
  {"ReadinessPollTimeout", "7", "Look at the Sandbox and its pod; raise `ready-timeout` if the cluster is that slow."},
  {"RemoteCancellationUnknown", "4", "Look in the workspace whether the command still runs; a suspend ends it."},
  {"RemoteCommand", "1", "Look at the message of the guest: there is no such program, or it may not be run."},
  {"RemoteLost", "4", "Look in the workspace what the command has done before you run it again."},
  {"RemoteProtocol", "1", "Compare the versions of node and guest image; this is a bug of one of them."},
  {"RemoteRefused", "1, 5", "Look at the message of the guest."},
  {"RemoteResultIncomplete", "1", "Run it again if it may run twice; the command has ended, and its output is not whole."},
  {"SandboxDestroyed", "5", "Make it anew with `open`; its disk is gone."},
  {"SessionOver", "3", "Say it again once the workspace runs."},
  {"SessionRefused", "3, 5", "Look at `sessions ID` and at the reason in the message."},
  {"SessionsUnsupported", "3", "Use a guest image that keeps sessions; a plain `shell` works."},
  {"Skipped", "1", "Look at the files that the message names; the others were copied."},
  {"TemplateUnusable", "3", "Mend the SandboxTemplate."},
  {"TlsConfig", "2", "Give certificate, key and authority together, as files that can be read."},
  {"TooManyWaiting", "3", "Try again when what waits for this workspace has ended."},
  {"TreeTooLarge", "3", "Copy a part of the tree."},
  {"UnenforceableEgressPolicy", "2", "Choose an engine that enforces hosts, or list none."},
  {"Unreachable", "7", "Look whether the node runs at that address: `--node`, or the variable PADDOCK_NODE."},
  {"UnreadableInput", "2", "Look at the file or the object that the message names."},
  {"Usage", "2", "Look at `--help`."},
  {"Withdrawn", "3", "Try again; nothing was sent."},
  {"WorkspaceDisk", "1, 3",
   "Give the template one claim with `volumeMode: Block` for each of its devices; a standing disk cannot be changed."},
  {"WorkspaceGuestGone", "4", "Look in the workspace how far the command came; its guest is gone, and another takes the next one."},
  {"WorkspaceIdentityMismatch", "5, 6", "Compare `identity ID` with what you kept: another Sandbox, or none, has the name."},
  {"WorkspaceMismatch", "1, 3", "Open it with the template it was made of, or with `--refresh-template` while it is suspended."},
  {"WorkspacePrecondition", "6",
   "Leave the workspace to the host that has the higher epoch, or start this one with a higher `epoch-base`."},
  {"WorkspaceReplaced", "6", "Look at `get ID`: another Sandbox has the name. What was held of the old one is gone."},
  {"WorkspaceSuspendTimeout", "7", "Look why the pod does not end, then say `suspend` again; the mode is written."},
  {"WorkspaceSuspended", "1, 3", "Wake it with `resume ID`."},
});

} // namespace

std::span<const advice> all_advice() {
  return list;
}

std::string_view what_to_do(std::string_view reason) {
  const auto* found = std::ranges::find(list, reason, &advice::reason);
  return found == list.end() ? std::string_view{} : found->what_to_do;
}

} // namespace paddock::cli
