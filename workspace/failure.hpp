#pragma once

#include "egress/errors.hpp"
#include "guest/failure.hpp"
#include "k8s/failure.hpp"
#include "k8s/uids.hpp"
#include "workspace/evidence.hpp"
#include "workspace/id.hpp"

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::workspace {

// The named errors of [W] 7.1 that the verbs of this library raise, one struct each.

/// A plain argument error; nothing was sent.
struct illegal_argument {
  std::string text;
};

/// The block-disk rule failed ([W] 1.9). `source` says what was inspected.
struct disk_refused {
  std::string source;
  std::string text;
};

/// The SandboxTemplate has no pod template.
struct template_unusable {
  std::string template_name;
  std::string text;
};

/// The standing object disagrees with the configuration ([W] 3.1.3).
struct mismatch {
  std::string sandbox_name;
  std::string field;
  std::string expected;
  std::optional<std::string> actual;
};

/// A call on a suspended workspace, or the object was found Suspended.
struct suspended {
  std::string operation;
  std::string workspace;
  std::string sandbox_name;
  std::string noticed_by;                   // admission or transport
  std::optional<guest::failure> cause = {}; // of `transport`: what the call itself failed of
};

/// The suspend patch landed; the pod was not seen gone in time.
struct suspend_timeout {
  std::string workspace;
  std::string sandbox_name;
  std::chrono::milliseconds bound{0};
};

/// The stored epoch is higher than ours, or unreadable. Nothing of ours was applied.
struct precondition {
  std::string operation;
  std::string workspace;
  std::string sandbox_name;
  std::uint64_t epoch = 0;
  std::optional<std::uint64_t> stored_epoch; // absent: unreadable
  std::optional<std::string> stored_annotation;
};

/// Another Sandbox, or none, stands under the name. Never retried: the next write would reach a stranger.
struct replaced {
  std::string workspace;
  std::string sandbox_name;
  std::optional<sandbox_uid> expected;
  std::optional<sandbox_uid> actual; // absent: none stands
};

/// The retained identity does not hold ([W] 3.16): sandbox-absent, sandbox-uid, volume-claim-uid or volume-claim-owner. Terminal:
/// asking again gives the same answer.
struct identity_mismatch {
  std::string workspace;
  std::string sandbox_name;
  std::string what;
  std::optional<std::string> expected;
  std::optional<std::string> actual;
  std::optional<std::string> claim{}; // its entry name, where it is one that differs
};

/// Any call on a deleted workspace but the idempotent ones.
struct destroyed {
  std::string operation;
  std::string sandbox_name;
};

/// The object never became Ready within the budget.
struct readiness_timeout {
  std::string sandbox_name;
  std::chrono::milliseconds bound{0};
  std::optional<k8s::failure> last{}; // what the latest read failed of, where it did
};

/// Ready, but no pod could be bound ([W] 3.2 step 5), or its pod is in a terminal phase ([W] P11).
struct no_pod {
  std::string sandbox_name;
  std::string text;
  std::optional<pod_uid> pod{};       // the one that was in the way; a uid is a token, so neither text nor details name it
  std::optional<std::string> cause{}; // what the last read said, where waiting ended it
};

/// Two live pods owned by one Sandbox (DESIGN 14).
struct ambiguous_pod {
  std::string sandbox_name;
};

/// The privilege probe refused: probe-failed, unreadable-output or privileged ([W] 3.3).
struct privilege_refused {
  std::string reason;
  std::string text;
};

/// A write was sent and nobody knows whether it was applied ([W] P13). `why` is what happened instead of an answer.
struct write_unknown {
  std::string operation;
  k8s::failure why;
};

/// A pin lacks what it must name; nothing was sent. `missing` are its fields, `volumeClaimUids.<claim>` for a claim.
struct pin_incomplete {
  std::vector<std::string> missing;
};

/// A pinned view refused: nothing ran, and asking again gives the same answer ([G] 23). `reason` is identity-changed (with the
/// field that differs), guest-unsupported, guest-replaced (with the boot id of who answered) or pod-replaced.
struct pin_refused {
  std::string workspace;
  std::string reason;
  std::optional<std::string> field;
  std::optional<guest_boot_id> fresh;
};

/// A call on a task sandbox whose object the cluster has removed.
struct sandbox_gone {
  std::string operation;
  std::string sandbox_name;
};

/// Why a task sandbox could not be acquired ([C] 3.10).
enum class acquire_reason : std::uint8_t { api_unreachable, api_timeout, forbidden, claim_rejected, capacity, image_pull, not_ready };
[[nodiscard]] std::string_view to_string(acquire_reason x);
/// Whether the same acquire may succeed later without anybody's help.
[[nodiscard]] bool retryable(acquire_reason x);

/// A failure as it is told, for one that keeps it as its cause. The details are JSON text.
struct told_failure {
  std::string reason;
  std::string text;
  std::string details = "{}";
};

/// A task sandbox could not be acquired. What had been made for it was deleted, or dies with its lease.
struct acquire_failed {
  acquire_reason why = acquire_reason::not_ready;
  told_failure cause;
  std::optional<std::string> controller_reason{}; // of `claim_rejected`, as the next, in the controller's own words
  std::optional<std::string> controller_message{};
};

/// What bounds the network of the workspace is not what the configuration says ([E] 8), or nobody can tell.
struct egress_refused {
  egress::egress_error why; // no failure of a request: that is one here, too
};

/// The command may have run, and its cancellation is not confirmed; the guest that had it is gone for sure ([W] 6.5). The pod
/// is kept.
struct guest_gone {
  std::string operation;
  std::string workspace;
  std::string sandbox_name;
  evidence guest = evidence::unknown; // pod-gone, pod-replaced or container-restarted
  identity previous;
  identity current;
  guest::failure cause;
};

/// A start failed after its wake-up or POST: the object may be running ([W] P13, case 296). `clean_up` says what became of
/// the attempt to suspend it: none, done, failed.
struct start_failed;

using failure = std::variant<illegal_argument, illegal_id, disk_refused, template_unusable, mismatch, suspended, suspend_timeout,
                             precondition, replaced, identity_mismatch, destroyed, readiness_timeout, no_pod, ambiguous_pod,
                             privilege_refused, write_unknown, pin_incomplete, pin_refused, egress_refused, guest_gone, sandbox_gone,
                             acquire_failed, std::shared_ptr<const start_failed>, k8s::failure, guest::failure>;

struct start_failed {
  std::string clean_up;
  failure why;
};

/// What a check of egress came to, as a failure of the workspace.
[[nodiscard]] failure of_egress(egress::egress_error x);

template <class T>
using result = tl::expected<T, failure>;

/// How a failure is to be answered: the exit codes of DESIGN 9 follow from it.
enum class kind : std::uint8_t {
  failed,      // 1: it was tried and did not work
  usage,       // 2: the caller's mistake
  refused,     // 3: nothing happened
  unknown,     // 4: it may have happened
  not_found,   // 5
  overtaken,   // 6: overtaken or replaced
  unreachable, // 7: unreachable or out of time
};

[[nodiscard]] kind kind_of(const failure& x);
/// The public reason: the class name of the specification without `Kubernetes` and `Error`; stable.
[[nodiscard]] std::string reason_of(const failure& x);
/// For people. Carries no token and no pod uid.
[[nodiscard]] std::string to_string(const failure& x);
/// The fields of the error, for programs. Carries no token and no pod uid.
[[nodiscard]] nlohmann::json details_of(const failure& x);

[[nodiscard]] told_failure tell(const failure& x);

/// Every reason that `reason_of` can give, sorted. A test holds it against the structs.
[[nodiscard]] std::vector<std::string> all_reasons();

} // namespace paddock::workspace
