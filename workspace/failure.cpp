#include "workspace/failure.hpp"

#include "base/overloaded.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace paddock::workspace {

namespace {

using json = nlohmann::json;
using start_failure = std::shared_ptr<const start_failed>;

std::string or_none(const std::optional<std::string>& x) {
  return x ? "\"" + *x + "\"" : "none";
}

// -- kinds -----------------------------------------------------------------

struct kind_judge {
  kind operator()(const illegal_argument&) const {
    return kind::usage;
  }
  kind operator()(const illegal_id&) const {
    return kind::usage;
  }
  kind operator()(const disk_refused&) const {
    return kind::refused;
  }
  kind operator()(const template_unusable&) const {
    return kind::refused;
  }
  kind operator()(const mismatch&) const {
    return kind::refused;
  }
  kind operator()(const suspended& x) const {
    return x.noticed_by == "admission" ? kind::refused : kind::failed;
  }
  kind operator()(const suspend_timeout&) const {
    return kind::unreachable;
  }
  kind operator()(const precondition&) const {
    return kind::overtaken;
  }
  kind operator()(const replaced&) const {
    return kind::overtaken;
  }
  kind operator()(const identity_mismatch& x) const {
    return x.what == "sandbox-absent" ? kind::not_found : kind::overtaken;
  }
  kind operator()(const destroyed&) const {
    return kind::not_found;
  }
  kind operator()(const readiness_timeout&) const {
    return kind::unreachable;
  }
  kind operator()(const no_pod&) const {
    return kind::failed;
  }
  kind operator()(const ambiguous_pod&) const {
    return kind::failed;
  }
  kind operator()(const privilege_refused&) const {
    return kind::failed;
  }
  kind operator()(const pin_incomplete&) const {
    return kind::usage;
  }
  kind operator()(const pin_refused&) const {
    return kind::overtaken;
  }
  kind operator()(const guest_gone&) const {
    return kind::unknown;
  }
  kind operator()(const sandbox_gone&) const {
    return kind::not_found;
  }
  kind operator()(const acquire_failed& x) const {
    switch (x.why) {
      case acquire_reason::forbidden:
      case acquire_reason::claim_rejected: return kind::refused;
      case acquire_reason::image_pull: return kind::failed;
      default: return kind::unreachable;
    }
  }
  kind operator()(const write_unknown&) const {
    return kind::unknown;
  }
  kind operator()(const egress_refused& x) const {
    return std::visit(overloaded{
                        [](const egress::illegal_config&) { return kind::usage; },
                        [](const egress::illegal_profile&) { return kind::usage; },
                        [](const egress::illegal_per_sandbox&) { return kind::usage; },
                        [](const egress::illegal_host&) { return kind::usage; },
                        [](const egress::unenforceable_policy&) { return kind::usage; },
                        [](const egress::narrowing_unsupported&) { return kind::usage; },
                        [](const egress::policy_write_unknown&) { return kind::unknown; },
                        [](const egress::owner_replaced&) { return kind::overtaken; },
                        [this](const k8s::failure& e) { return (*this)(e); },
                        [](const auto&) { return kind::refused; },
                      },
                      x.why);
  }
  // Something was written before the start failed, so "nothing happened" would be wrong whatever the cause.
  kind operator()(const start_failure& x) const {
    auto why = kind_of(x->why);
    return why == kind::refused || why == kind::usage ? kind::failed : why;
  }
  kind operator()(const k8s::failure& x) const {
    if (std::holds_alternative<k8s::already_gone>(x))
      return kind::not_found;
    if (std::holds_alternative<k8s::conflict>(x) || std::holds_alternative<k8s::patch_not_applied>(x)
        || std::holds_alternative<k8s::credential_failure>(x))
      return kind::refused;
    if (std::holds_alternative<k8s::api_timeout>(x))
      return kind::unreachable;
    if (const auto* api = std::get_if<k8s::api_failure>(&x))
      return api->status ? kind::failed : kind::unreachable;
    return kind::failed;
  }
  kind operator()(const guest::failure& x) const {
    if (std::holds_alternative<guest::dial_failed>(x))
      return kind::unreachable;
    if (std::holds_alternative<guest::lost>(x) || std::holds_alternative<guest::cancellation_unknown>(x))
      return kind::unknown;
    if (std::holds_alternative<guest::unauthorized>(x) || std::holds_alternative<guest::retiring>(x)
        || std::holds_alternative<guest::frame_too_large>(x) || std::holds_alternative<guest::withdrawn>(x))
      return kind::refused;
    if (std::holds_alternative<guest::guest_mismatch>(x) || std::holds_alternative<guest::unsupported>(x)
        || std::holds_alternative<guest::file_too_large>(x))
      return kind::refused;
    if (std::holds_alternative<guest::invalid_argument>(x))
      return kind::usage;
    if (std::holds_alternative<guest::address_unresolvable>(x))
      return kind::unreachable;
    // The program lives as it did; nobody watches it any more.
    if (std::holds_alternative<guest::execution_detached>(x) || std::holds_alternative<guest::session_detached>(x))
      return kind::unreachable;
    if (const auto* no = std::get_if<guest::quiesce_unconfirmed>(&x); no != nullptr && no->reason != "quiesce_unconfirmed")
      return kind::refused; // something runs, or the words were wrong: nothing was stopped
    if (const auto* no = std::get_if<guest::flush_unconfirmed>(&x); no != nullptr && no->reason == "suspend_already_in_flight")
      return kind::refused;
    if (const auto* no = std::get_if<guest::not_attachable>(&x))
      return no->reason == "unknown_execution" ? kind::not_found : kind::refused;
    if (const auto* no = std::get_if<guest::session_refused>(&x))
      return no->reason == "unknown_session" ? kind::not_found : kind::refused;
    if (const auto* said = std::get_if<guest::refused>(&x))
      return said->code == "ENOENT" ? kind::not_found : kind::failed;
    return kind::failed;
  }
};

// -- reasons ---------------------------------------------------------------

struct namer {
  std::string operator()(const illegal_argument&) const {
    return "IllegalArgument";
  }
  std::string operator()(const illegal_id&) const {
    return "IllegalId";
  }
  std::string operator()(const disk_refused&) const {
    return "WorkspaceDisk";
  }
  std::string operator()(const template_unusable&) const {
    return "TemplateUnusable";
  }
  std::string operator()(const mismatch&) const {
    return "WorkspaceMismatch";
  }
  std::string operator()(const suspended&) const {
    return "WorkspaceSuspended";
  }
  std::string operator()(const suspend_timeout&) const {
    return "WorkspaceSuspendTimeout";
  }
  std::string operator()(const precondition&) const {
    return "WorkspacePrecondition";
  }
  std::string operator()(const replaced&) const {
    return "WorkspaceReplaced";
  }
  std::string operator()(const identity_mismatch&) const {
    return "WorkspaceIdentityMismatch";
  }
  std::string operator()(const destroyed&) const {
    return "SandboxDestroyed";
  }
  std::string operator()(const readiness_timeout&) const {
    return "ReadinessPollTimeout";
  }
  std::string operator()(const no_pod&) const {
    return "NoPod";
  }
  std::string operator()(const ambiguous_pod&) const {
    return "AmbiguousPod";
  }
  std::string operator()(const privilege_refused&) const {
    return "PrivilegeProbe";
  }
  std::string operator()(const pin_incomplete&) const {
    return "PinIncomplete";
  }
  std::string operator()(const pin_refused&) const {
    return "GuestPinRefused";
  }
  std::string operator()(const guest_gone&) const {
    return "WorkspaceGuestGone";
  }
  std::string operator()(const sandbox_gone&) const {
    return "SandboxGone";
  }
  std::string operator()(const acquire_failed&) const {
    return "Acquire";
  }
  std::string operator()(const write_unknown&) const {
    return "OutcomeUnknown";
  }
  std::string operator()(const egress_refused& x) const {
    return std::string{egress::reason_of(x.why)};
  }
  std::string operator()(const start_failure& x) const {
    return reason_of(x->why);
  }
  std::string operator()(const k8s::failure& x) const {
    return std::string{k8s::reason_of(x)};
  }
  std::string operator()(const guest::failure& x) const {
    return std::string{guest::reason_of(x)};
  }
};

// -- text ------------------------------------------------------------------

struct teller {
  std::string operator()(const illegal_argument& x) const {
    return x.text;
  }
  std::string operator()(const illegal_id& x) const {
    return "\"" + x.text + "\" cannot name a Sandbox: an id is 1 to 54 of a-z, 0-9 and -, with no dash at either end";
  }
  std::string operator()(const disk_refused& x) const {
    return x.source + ": " + x.text;
  }
  std::string operator()(const template_unusable& x) const {
    return "SandboxTemplate " + x.template_name + ": " + x.text;
  }
  std::string operator()(const mismatch& x) const {
    return "Sandbox " + x.sandbox_name + " disagrees with the configuration: " + x.field + " must be \"" + x.expected + "\" and is "
           + or_none(x.actual);
  }
  std::string operator()(const suspended& x) const {
    return "workspace " + x.workspace + " is suspended (" + x.operation + ", noticed by " + x.noticed_by + ")";
  }
  std::string operator()(const suspend_timeout& x) const {
    return "workspace " + x.workspace + " is set to Suspended, but its pod was not seen gone within " + std::to_string(x.bound.count())
           + " ms";
  }
  std::string operator()(const precondition& x) const {
    auto stored = x.stored_epoch ? std::to_string(*x.stored_epoch) : "unreadable (" + or_none(x.stored_annotation) + ")";
    return x.operation + " of workspace " + x.workspace + " was refused: our holder epoch is " + std::to_string(x.epoch)
           + ", the stored one is " + stored + "; nothing was written";
  }
  std::string operator()(const replaced& x) const {
    return "another Sandbox" + std::string{x.actual ? "" : ", or none,"} + " stands under the name " + x.sandbox_name
           + (x.expected ? ": expected " + x.expected->text() : "") + (x.actual ? ", found " + x.actual->text() : "");
  }
  std::string operator()(const identity_mismatch& x) const {
    return "workspace " + x.workspace + " is not the one that was expected (" + x.what + (x.claim ? " of " + *x.claim : "") + "): expected "
           + or_none(x.expected) + ", found " + or_none(x.actual);
  }
  std::string operator()(const destroyed& x) const {
    return x.operation + ": Sandbox " + x.sandbox_name + " was deleted";
  }
  std::string operator()(const readiness_timeout& x) const {
    return "Sandbox " + x.sandbox_name + " never became Ready within " + std::to_string(x.bound.count()) + " ms"
           + (x.last ? "; the last read failed: " + k8s::to_string(*x.last) : "");
  }
  std::string operator()(const no_pod& x) const {
    return "Sandbox " + x.sandbox_name + ": " + x.text;
  }
  std::string operator()(const ambiguous_pod& x) const {
    return "Sandbox " + x.sandbox_name + " owns more than one live pod; none of them is used";
  }
  std::string operator()(const privilege_refused& x) const {
    return "the privilege probe refused the guest (" + x.reason + "): " + x.text;
  }
  std::string operator()(const pin_incomplete& x) const {
    auto text = std::string{"the pin names no"};
    for (const auto& field : x.missing)
      text.append(" ").append(field);
    return text.append("; nothing was sent");
  }
  std::string operator()(const pin_refused& x) const {
    return "workspace " + x.workspace + " is not the pinned guest any more: " + x.reason + (x.field ? " (" + *x.field + ")" : "")
           + "; nothing ran";
  }
  std::string operator()(const guest_gone& x) const {
    return "the guest that had the command of workspace " + x.workspace + " is gone (" + std::string{workspace::to_string(x.guest)}
           + "), and how far the command came is not known: " + guest::to_string(x.cause);
  }
  std::string operator()(const sandbox_gone& x) const {
    return x.operation + ": the cluster has removed Sandbox " + x.sandbox_name;
  }
  std::string operator()(const acquire_failed& x) const {
    return "no task sandbox was acquired (" + std::string{workspace::to_string(x.why)}
           + "): " + (x.controller_reason ? *x.controller_reason + ": " + x.controller_message.value_or("") : x.cause.text);
  }
  std::string operator()(const write_unknown& x) const {
    return x.operation + ": a write was sent and its outcome is unknown: " + k8s::to_string(x.why);
  }
  std::string operator()(const egress_refused& x) const {
    return egress::to_string(x.why);
  }
  std::string operator()(const start_failure& x) const {
    auto said = to_string(x->why);
    if (x->clean_up == "done")
      return said + " (the workspace was started and has been suspended again)";
    return said + " (the workspace may be running; clean-up: " + x->clean_up + ")";
  }
  std::string operator()(const k8s::failure& x) const {
    return k8s::to_string(x);
  }
  std::string operator()(const guest::failure& x) const {
    return guest::to_string(x);
  }
};

// -- fields ----------------------------------------------------------------

void put(json& to, const char* key, const std::optional<std::string>& x) {
  if (x)
    to[key] = *x;
}

struct guest_fields {
  json operator()(const guest::dial_failed& x) const {
    return {{"host", x.host}, {"port", x.port}};
  }
  json operator()(const guest::frame_too_large& x) const {
    return {{"size", x.size}, {"limit", x.limit}};
  }
  json operator()(const guest::refused& x) const {
    return {{"code", x.code}};
  }
  json operator()(const guest::result_incomplete& x) const {
    return {{"state", x.state}, {"started", x.started}};
  }
  json operator()(const guest::cancellation_unknown& x) const {
    auto got = json::object();
    if (x.boot)
      got["guestBootId"] = x.boot->text();
    return got;
  }
  json operator()(const guest::guest_mismatch& x) const {
    auto got = json::object();
    if (x.boot)
      got["guestBootId"] = x.boot->text();
    return got;
  }
  json operator()(const guest::unsupported& x) const {
    return {{"feature", x.feature}};
  }
  json operator()(const guest::file_too_large& x) const {
    return {{"size", x.size}, {"limit", x.limit}};
  }
  json operator()(const guest::address_unresolvable& x) const {
    return {{"host", x.host}};
  }
  json operator()(const guest::not_attachable& x) const {
    auto got = json{{"executionId", x.execution_id}, {"reason", x.reason}};
    put(got, "executionState", x.state);
    return got;
  }
  json operator()(const guest::execution_detached& x) const {
    return {{"executionId", x.execution_id}, {"outputOffset", x.output_offset}};
  }
  json operator()(const guest::session_refused& x) const {
    return {{"sessionId", x.session_id}, {"reason", x.reason}};
  }
  json operator()(const guest::session_detached& x) const {
    auto got = json::object();
    if (x.next_offset)
      got["nextOffset"] = *x.next_offset;
    return got;
  }
  json operator()(const guest::quiesce_unconfirmed& x) const {
    return {{"reason", x.reason}};
  }
  json operator()(const guest::flush_unconfirmed& x) const {
    return {{"reason", x.reason}};
  }
  template <class T>
  json operator()(const T&) const {
    return json::object();
  }
};

struct fields {
  json operator()(const illegal_argument&) const {
    return json::object();
  }
  json operator()(const illegal_id& x) const {
    return {{"workspaceId", x.text}};
  }
  json operator()(const disk_refused& x) const {
    return {{"source", x.source}};
  }
  json operator()(const template_unusable& x) const {
    return {{"template", x.template_name}};
  }
  json operator()(const mismatch& x) const {
    auto got = json{{"sandboxName", x.sandbox_name}, {"field", x.field}, {"expected", x.expected}};
    put(got, "actual", x.actual);
    return got;
  }
  json operator()(const suspended& x) const {
    auto got = json{{"operation", x.operation}, {"workspaceId", x.workspace}, {"sandboxName", x.sandbox_name}, {"noticedBy", x.noticed_by}};
    if (x.cause)
      got["cause"] = guest::reason_of(*x.cause);
    return got;
  }
  json operator()(const suspend_timeout& x) const {
    return {{"workspaceId", x.workspace}, {"sandboxName", x.sandbox_name}, {"timeoutMs", x.bound.count()}};
  }
  json operator()(const precondition& x) const {
    auto got = json{{"operation", x.operation}, {"workspaceId", x.workspace}, {"sandboxName", x.sandbox_name}, {"epoch", x.epoch}};
    if (x.stored_epoch)
      got["storedEpoch"] = *x.stored_epoch;
    put(got, "storedAnnotation", x.stored_annotation);
    return got;
  }
  json operator()(const replaced& x) const {
    auto got = json{{"workspaceId", x.workspace}, {"sandboxName", x.sandbox_name}};
    if (x.expected)
      got["expectedSandboxUid"] = x.expected->text();
    if (x.actual)
      got["actualSandboxUid"] = x.actual->text();
    return got;
  }
  json operator()(const identity_mismatch& x) const {
    auto got = json{{"workspaceId", x.workspace}, {"sandboxName", x.sandbox_name}, {"mismatch", x.what}};
    put(got, "expected", x.expected);
    put(got, "actual", x.actual);
    put(got, "claim", x.claim);
    return got;
  }
  json operator()(const destroyed& x) const {
    return {{"operation", x.operation}, {"sandboxName", x.sandbox_name}};
  }
  json operator()(const readiness_timeout& x) const {
    auto got = json{{"sandboxName", x.sandbox_name}, {"timeoutMs", x.bound.count()}};
    if (x.last)
      got["cause"] = {{"reason", k8s::reason_of(*x.last)}, {"message", k8s::to_string(*x.last)}, {"details", k8s::details_of(*x.last)}};
    return got;
  }
  json operator()(const no_pod& x) const {
    auto got = json{{"sandboxName", x.sandbox_name}};
    put(got, "cause", x.cause);
    return got;
  }
  json operator()(const ambiguous_pod& x) const {
    return {{"sandboxName", x.sandbox_name}};
  }
  json operator()(const privilege_refused& x) const {
    return {{"reason", x.reason}};
  }
  json operator()(const pin_incomplete& x) const {
    return {{"missing", x.missing}};
  }
  json operator()(const pin_refused& x) const {
    auto got = json{{"workspaceId", x.workspace}, {"reason", x.reason}};
    put(got, "field", x.field);
    if (x.fresh)
      got["freshGuestBootId"] = x.fresh->text();
    return got;
  }
  json operator()(const guest_gone& x) const {
    auto got = std::visit(guest_fields{}, x.cause);
    got.update({{"operation", x.operation},
                {"workspaceId", x.workspace},
                {"sandboxName", x.sandbox_name},
                {"evidence", workspace::to_string(x.guest)},
                {"cause", guest::reason_of(x.cause)}});
    if (x.previous.boot)
      got["previousGuestBootId"] = x.previous.boot->text();
    if (x.current.boot)
      got["currentGuestBootId"] = x.current.boot->text();
    return got;
  }
  json operator()(const sandbox_gone& x) const {
    return {{"operation", x.operation}, {"sandboxName", x.sandbox_name}};
  }
  json operator()(const acquire_failed& x) const {
    auto got = json{{"reason", workspace::to_string(x.why)}, {"retryable", retryable(x.why)}};
    if (!x.cause.reason.empty())
      got["cause"] = {{"reason", x.cause.reason}, {"message", x.cause.text}, {"details", json::parse(x.cause.details)}};
    put(got, "controllerReason", x.controller_reason);
    put(got, "controllerMessage", x.controller_message);
    return got;
  }
  json operator()(const write_unknown& x) const {
    return {{"operation", x.operation}, {"cause", k8s::reason_of(x.why)}};
  }
  json operator()(const egress_refused& x) const {
    return egress::details_of(x.why);
  }
  json operator()(const start_failure& x) const {
    auto got = details_of(x->why);
    got["cleanUp"] = x->clean_up;
    got["mayBeRunning"] = x->clean_up != "done";
    return got;
  }
  json operator()(const k8s::failure& x) const {
    return k8s::details_of(x);
  }
  json operator()(const guest::failure& x) const {
    return std::visit(guest_fields{}, x);
  }
};

} // namespace

failure of_egress(egress::egress_error x) {
  if (auto* of_api = std::get_if<k8s::failure>(&x))
    return std::move(*of_api);
  return egress_refused{std::move(x)};
}

kind kind_of(const failure& x) {
  return std::visit(kind_judge{}, x);
}

std::string reason_of(const failure& x) {
  return std::visit(namer{}, x);
}

std::string to_string(const failure& x) {
  return std::visit(teller{}, x);
}

json details_of(const failure& x) {
  return std::visit(fields{}, x);
}

told_failure tell(const failure& x) {
  return {reason_of(x), to_string(x), details_of(x).dump(-1, ' ', false, json::error_handler_t::replace)};
}

std::string_view to_string(acquire_reason x) {
  switch (x) {
    case acquire_reason::api_unreachable: return "api-unreachable";
    case acquire_reason::api_timeout: return "api-timeout";
    case acquire_reason::forbidden: return "forbidden";
    case acquire_reason::claim_rejected: return "claim-rejected";
    case acquire_reason::capacity: return "capacity";
    case acquire_reason::image_pull: return "image-pull";
    case acquire_reason::not_ready: return "not-ready";
  }
  return "";
}

bool retryable(acquire_reason x) {
  return x != acquire_reason::forbidden && x != acquire_reason::claim_rejected && x != acquire_reason::image_pull;
}

std::vector<std::string> all_reasons() {
  auto got = std::vector<std::string>{
    "IllegalArgument",
    "IllegalId",
    "WorkspaceDisk",
    "TemplateUnusable",
    "WorkspaceMismatch",
    "WorkspaceSuspended",
    "WorkspaceSuspendTimeout",
    "WorkspacePrecondition",
    "WorkspaceReplaced",
    "WorkspaceIdentityMismatch",
    "SandboxDestroyed",
    "ReadinessPollTimeout",
    "NoPod",
    "AmbiguousPod",
    "PrivilegeProbe",
    "OutcomeUnknown",
    "PinIncomplete",
    "GuestPinRefused",
    "WorkspaceGuestGone",
    "SandboxGone",
    "Acquire",
    // Of egress.
    "UnenforceableEgressPolicy",
    "EgressPolicyConfig",
    "EgressNarrowingUnsupported",
    "EgressProfileConfig",
    "PerSandboxEgressConfig",
    "NetworkPolicyHost",
    "EgressPolicyNotApplied",
    "EgressPolicyMismatch",
    "EgressPolicyUnion",
    "IngressPolicy",
    "PodLabelNotObserved",
    "PodLabelsRejected",
    "AdmissionFenceMissing",
    "AdmissionFenceUnreadable",
    "AdmissionFenceNotEnforcing",
    "PermittedHostsUnavailable",
    "PermittedHostRefused",
    "OwnerUidMissing",
    "OwnerReplaced",
    // Of the API.
    "Credential",
    "AlreadyGone",
    "Conflict",
    "PatchNotApplied",
    "Api",
    "ApiTimeout",
    "Cancelled",
    // Of the guest.
    "AgentDialFailed",
    "AgentUnauthorized",
    "AgentRetiring",
    "AgentPreauthFrameTooLarge",
    "RemoteRefused",
    "RemoteCommand",
    "RemoteProtocol",
    "RemoteLost",
    "RemoteResultIncomplete",
    "RemoteCancellationUnknown",
    "Withdrawn",
    "GuestMismatch",
    "ExecutionAttachUnsupported",
    "AgentReadFileStreamUnsupported",
    "SessionsUnsupported",
    "QuiesceUnsupported",
    "FlushUnsupported",
    "GuestUnsupported",
    "InvalidArgument",
    "AgentWriteFileTooLarge",
    "AgentAddressUnresolvable",
    "ExecutionNotAttachable",
    "ExecutionDetached",
    "SessionRefused",
    "AgentSessionDetached",
    "QuiesceUnconfirmed",
    "FlushUnconfirmed",
  };
  std::ranges::sort(got);
  return got;
}

} // namespace paddock::workspace
