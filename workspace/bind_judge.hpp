#pragma once

#include "guest/identity.hpp"
#include "k8s/uids.hpp"
#include "workspace/failure.hpp"
#include "workspace/settings.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::workspace {

// What a bind makes of the objects it reads ([W] 3.2, P2, P5, P11). The flow reads; these judge.

/// The Sandbox is not Ready. `pod_ended`: its controller says that the pod is in a terminal phase, so the pod is worth a look.
struct not_ready {
  bool pod_ended = false;
};

/// A Ready Sandbox and what a bind takes from it.
struct ready_sandbox {
  std::optional<sandbox_uid> uid;
  std::optional<std::string> service_name;
  std::vector<std::string> pod_ips;
  std::optional<std::string> selector;
  std::vector<std::string> claims; // entry names of volumeClaimTemplates
};

/// What a bind takes from a Sandbox, whatever its conditions say.
[[nodiscard]] ready_sandbox read_for_bind(const nlohmann::json& sandbox);

using readiness = std::variant<not_ready, ready_sandbox>;

/// Weighs one readiness read, in this order: another uid than `expected` is `replaced` (a read without a uid included, once
/// one is expected); `Suspended` is `suspended`, noticed by `operation`; a Ready object without a name is an error. The
/// condition `Suspended` is not looked at.
[[nodiscard]] result<readiness> judge_readiness(const nlohmann::json& sandbox, const id& which, const std::string& operation,
                                                const std::optional<sandbox_uid>& expected);

/// What a WATCH tells of a Sandbox that was read: nothing, all up to some earlier moment, or all up to the read.
enum class watching { nothing, behind, caught_up };
/// How long a wait for readiness goes without a read, with `left` of its time: the interval of polling, or with a WATCH that tells
/// `ready_confirm`, and a fifth of it while it is behind. The last read comes within the interval of the end.
[[nodiscard]] std::chrono::milliseconds pause_between_reads(watching how_far, std::chrono::milliseconds left, const settings& how);

/// One pod as a bind sees it.
struct pod_seen {
  enum class kind {
    live,     // may be bound
    draining, // has a deletion timestamp and has not stopped
    stopped,  // Succeeded or Failed
    foreign,  // its controller is another object than the session's Sandbox: never bound, never dialled
    unusable, // no uid
  };
  kind what = kind::unusable;
  std::optional<pod_uid> uid;
  std::optional<std::string> ip;
  bool deleting = false; // has a deletion timestamp
  bool owned = false;    // its controller is the session's Sandbox
  egress::label_map labels{};
};

/// Reads a pod. Without a controller owner reference, or without a known `owner`, whose pod it is cannot be told and it is
/// taken by its name alone.
[[nodiscard]] pod_seen see_pod(const nlohmann::json& pod, const std::optional<sandbox_uid>& owner);

/// The uid of a pod that is on its way out: it has a deletion timestamp and a uid.
[[nodiscard]] std::optional<pod_uid> draining_uid(const nlohmann::json& pod);

/// Whom a bind takes ([W] 3.2).
struct bind_policy {
  bool await_replacement = false;  // a read that finds no live pod means "not yet"
  std::optional<pod_uid> retiring; // must be seen replaced
};

struct nothing_yet {
  std::string why;
  bool fatal = false;                       // waiting changes nothing, or the policy does not wait
  std::optional<pod_uid> without_address{}; // the live pod that would be taken if it had one
};
struct take_pod {
  pod_uid uid;
  std::optional<std::string> ip;
  egress::label_map labels{};
};
/// The pod that a bind of one loop takes, or why none.
using pod_choice = std::variant<take_pod, nothing_yet, ambiguous_pod>;

/// Chooses from the pod of the Sandbox's name, and from the list under its selector where that was read. The first live pod
/// wins; two live ones of one owner are ambiguous, unless one of them is on its way out. A stopped pod that is not being
/// replaced ends the bind at once. Under `pod_ip` a live pod without an address is "not yet".
[[nodiscard]] pod_choice choose_pod(const std::string& sandbox_name, const std::optional<pod_seen>& by_name,
                                    const std::vector<pod_seen>& listed, const bind_policy& policy, settings::address how);

/// Whether the list under the selector must be read as well: the pod of the name is not one to bind.
[[nodiscard]] bool needs_list(const std::optional<pod_seen>& by_name);

/// Where the guest of `pod` listens, and its token.
[[nodiscard]] result<guest::endpoint> address_of(const ready_sandbox& from, const take_pod& pod, const std::string& sandbox_name,
                                                 const settings& how);

/// Why a bind that ran out of time found no pod, in the order of [W] 3.2 step 5: a live pod that never had an address; the pod that must be
/// replaced and was not; else what the last read said, which is the cause in each case.
[[nodiscard]] no_pod out_of_time(const std::string& sandbox_name, const bind_policy& policy, const nothing_yet& last,
                                 std::chrono::milliseconds bound);

} // namespace paddock::workspace
