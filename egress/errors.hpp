#pragma once

#include "egress/egress_config.hpp"
#include "egress/policy_object.hpp"
#include "k8s/failure.hpp"

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::egress {

// The named errors of [E] 8 that this library raises, one struct each. A `field` is a path below `config.egress`.

// -- the configuration ------------------------------------------------------

/// A list of hosts, and an engine that has no host names.
struct unenforceable_policy {
  egress::policy_kind policy_kind{}; // static or resolver
};

/// A value that means nothing, or that the API server would refuse. `problem` follows the field in the text.
struct illegal_config {
  std::string field;
  std::string problem;
};

/// An active `ciliumNarrowing` under a kind or an engine that it cannot narrow.
struct narrowing_unsupported {
  egress::policy_kind policy_kind{};
  policy_engine engine{};
};

struct illegal_profile {
  std::string field; // profile or profileLabelKey
  std::string value;
  std::string problem;
};

struct illegal_per_sandbox {
  std::string field; // below `perSandbox`
  std::string value;
  std::string problem;
};

/// An entry of a list of hosts that names no host, or that the narrowing cannot bind to one name. One of them refuses the
/// whole list; nothing was written.
struct illegal_host {
  std::string host;    // as it was given; the JSON text of what is no string
  std::string problem; // follows the entry in the text
};

// -- the object that an operator applies, or that this host wrote -----------

struct policy_not_applied {
  resource_kind kind{};
  std::string path;
};

/// The object that stands differs from what the configuration means.
struct policy_mismatch {
  resource_kind kind{};
  std::string path;
  std::string reason; // names the first member that differs, with both values
};

// -- all policies that select a pod -----------------------------------------

/// A collection that could not be listed: nothing is known about what it holds.
struct unread_collection {
  enum class cause : std::uint8_t { absent, forbidden };
  std::string resource; // networkpolicies, ciliumnetworkpolicies
  std::string path;
  cause why{};
  std::string reason;
};
[[nodiscard]] std::string_view to_string(unread_collection::cause x);

template <class Verdict>
struct examined_policy {
  policy_name policy;
  Verdict verdict{};
  std::optional<std::string> detail{};
};

enum class egress_verdict : std::uint8_t { not_evaluable, does_not_select, widens_egress, not_egress_scoped, within };
[[nodiscard]] std::string_view to_string(egress_verdict x); // `does-not-select`

/// The policies that select a pod together allow more than the configuration, or nobody can tell ([E] 3.11).
struct union_refused {
  enum class cause : std::uint8_t { policy_widens_egress, no_enforcing_policy, not_evaluable };
  cause refusal{};
  std::string subject;
  label_map pod_labels;
  egress::policy_kind policy_kind{};
  std::vector<examined_policy<egress_verdict>> examined; // in the order they were listed, core first
  std::vector<unread_collection> unread;
};
[[nodiscard]] std::string_view to_string(union_refused::cause x); // `policy-widens-egress`

enum class ingress_verdict : std::uint8_t { not_evaluable, does_not_select, opens_agent_port, not_ingress_scoped, covers };
[[nodiscard]] std::string_view to_string(ingress_verdict x);

/// The policies that select a pod leave its agent port open, or nobody can tell ([E] 6.2).
struct ingress_refused {
  enum class cause : std::uint8_t { no_covering_policy, port_open, not_evaluable };
  cause refusal{};
  std::string subject;
  label_map pod_labels;
  std::uint16_t agent_port = 0;
  std::vector<examined_policy<ingress_verdict>> examined;
  std::vector<unread_collection> unread;
};
[[nodiscard]] std::string_view to_string(ingress_refused::cause x);

// -- the labels of a pod ----------------------------------------------------

/// A label that was asked for never appeared on the bound pod.
struct label_not_observed {
  std::pair<std::string, std::string> missing_label;
  std::string subject;
  label_map observed_labels;
};

/// The controller refused the labels that a claim asks for.
struct labels_rejected {
  label_map requested_labels;
  std::string claim_name;
  std::string name_space;
  std::string controller_reason;
  std::string controller_message;
  std::optional<std::string> profile{};
};

// -- the fence ([E] 4) and what this host writes ----------------------------

/// One of the fence's objects; cluster-scoped.
struct fence_object {
  std::string kind; // ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
  std::string name;
  std::string path;
};

struct fence_missing {
  fence_object object;
};

/// The host may not read it.
struct fence_unreadable {
  fence_object object;
  k8s::failure cause;
};

/// It stands, and does not bound what this host writes.
struct fence_not_enforcing {
  fence_object object;
  std::string problem; // a word of [E] 4.5
  std::string reason;
};

/// The ConfigMap of permitted hosts and ports.
struct permitted_hosts_unavailable {
  object_reference config_map;
  std::string path;
  std::string problem; // missing, unreadable, malformed
  std::string reason;
  std::optional<k8s::failure> cause{};
};

/// A host or port that the operator did not permit. Nothing was written.
struct permitted_host_refused {
  std::string host;
  std::optional<port_list> ports{}; // absent: unrestricted
  std::string problem;              // host, port, unrestricted-ports
};

/// The owner of a policy has no uid that the policy could name.
struct owner_uid_missing {
  std::string object_name;
  std::string name_space;
};

/// A write of a policy was sent, and nobody knows whether it was applied. Never sent again blindly: it may still arrive.
struct policy_write_unknown {
  std::string method;
  std::string path;
  k8s::failure why; // what happened instead of an answer
};

/// Another object, or none, stands under the name of a policy's owner ([W] P7). What was written for the former one was taken
/// back, or `clean_up` says otherwise: done, failed, unknown.
struct owner_replaced {
  std::string owner_name;
  std::string expected_uid;
  std::optional<std::string> actual_uid{}; // absent: none stands
  std::string clean_up;
};

using egress_error = std::variant<unenforceable_policy, illegal_config, narrowing_unsupported, illegal_profile, illegal_per_sandbox,
                                  illegal_host, policy_not_applied, policy_mismatch, union_refused, ingress_refused, label_not_observed,
                                  labels_rejected, fence_missing, fence_unreadable, fence_not_enforcing, permitted_hosts_unavailable,
                                  permitted_host_refused, owner_uid_missing, policy_write_unknown, owner_replaced, k8s::failure>;

template <class T>
using result = tl::expected<T, egress_error>;

/// The public reason: the class name of the specification without `Kubernetes` and `Error`; stable.
[[nodiscard]] std::string_view reason_of(const egress_error& x);
/// For people: what is wrong, where, and what to do about it. Carries no token.
[[nodiscard]] std::string to_string(const egress_error& x);
/// The fields of the error under the specification's names, for programs. Carries no token.
[[nodiscard]] nlohmann::json details_of(const egress_error& x);

/// `k=v` sorted by key, with commas between; `(none)` when there are none.
[[nodiscard]] std::string to_text(const label_map& labels);

} // namespace paddock::egress
