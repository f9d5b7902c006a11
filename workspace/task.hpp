#pragma once

#include "base/time.hpp"
#include "egress/egress_config.hpp"
#include "guest/identity.hpp"
#include "k8s/uids.hpp"
#include "workspace/settings.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::workspace {

// A task sandbox ([C] 3): disposable, made for one purpose, and gone when it is given back or its lease ends.

/// How a host makes its task sandboxes, beside `settings` ([C] 1.2).
struct task_settings {
  std::optional<std::string> pool{}; // of a task that names none; absent: a Sandbox is made for it
  std::chrono::seconds lease{3600};  // how long the object outlives its last renewal
  egress::label_map claim_labels{};  // of the claim, and never of its pod
};

/// What is wanted.
struct task_request {
  std::string name;                  // of the object that this host makes
  std::string template_name{};       // empty: the configured one
  std::optional<std::string> pool{}; // absent: a Sandbox of its own; with no template named either, the configured pool
};

/// The object that this host makes and gives back: a claim on a pool, or a Sandbox.
struct owned_object {
  enum class type : std::uint8_t { claim, sandbox };
  type kind = type::sandbox;
  std::string name;
};
[[nodiscard]] std::string_view to_string(owned_object::type x); // `SandboxClaim`, `Sandbox`

/// A task sandbox before its POST.
struct task_plan {
  task_request request; // with nothing left to the configuration
  owned_object what;
  std::string subject;                           // for people: what is checked
  nlohmann::json body;                           // of the POST
  egress::label_map requested;                   // the labels that its pod must be seen to carry
  std::optional<egress::label_map> pod_labels{}; // all of its pod, where they are known before the POST
  std::optional<std::string> profile{};
  deadline until; // the readiness clock, which began with the plan
};

/// A task sandbox that is Ready, and whose pod was read.
struct held_task {
  task_request request;
  owned_object what;
  std::string subject;
  std::string sandbox_name; // of a claim, that of the Sandbox that it was given
  std::string owner_uid;    // of `what`; empty: the API server reports none
  egress::label_map pod_labels;
  guest::endpoint guest;
  std::chrono::seconds lease{3600};
};

/// What a selector has released: the claims that it named, gone ones included.
struct released_tasks {
  std::vector<std::string> names;
};

/// How a pool stands ([C] 3.14).
struct task_capacity {
  std::uint64_t ready = 0;
  std::uint64_t desired = 0;
  std::uint64_t active_claims = 0;
  std::uint64_t pending_pods = 0;
};

// -- rules ------------------------------------------------------------------

/// `namzu-task-` and a UUID.
[[nodiscard]] std::string task_name(std::string_view uuid);

/// The request with what the configuration says where it says nothing.
[[nodiscard]] task_request completed(const settings& how, const task_settings& tasks, task_request what);

/// What refuses a complete request before anything is sent.
[[nodiscard]] result<void> check_task(const settings& how, const task_settings& tasks, const task_request& what);

/// The labels that are asked for on the pod of the object `name`: that of the egress profile and the per-sandbox one.
[[nodiscard]] result<egress::label_map> requested_labels(const settings& how, const std::string& name);

/// The first of `requested` that `observed` does not carry with that value.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> missing_label(const egress::label_map& requested,
                                                                               const egress::label_map& observed);

/// Path of the object; of its collection.
[[nodiscard]] std::string path_of(const settings& how, const owned_object& what);
[[nodiscard]] std::string collection_of(const settings& how, owned_object::type kind);

/// What is asked of a pool ([C] 3.4). `dies_at` is an instant as it is sent.
[[nodiscard]] nlohmann::json claim_body(const settings& how, const task_settings& tasks, const task_request& what,
                                        const egress::label_map& requested, const std::string& dies_at);

/// A Sandbox out of its SandboxTemplate ([C] 3.3). Fails with `template_unusable` where that has no pod spec.
[[nodiscard]] result<nlohmann::json> task_sandbox_body(const settings& how, const task_request& what, const egress::label_map& requested,
                                                       const nlohmann::json& sandbox_template, const std::string& dies_at);

/// The whole merge patch of a renewal ([C] 3.12).
[[nodiscard]] nlohmann::json renewal_body(owned_object::type kind, const std::string& dies_at);

/// What is being verified, for people.
[[nodiscard]] std::string subject_of(const settings& how, const owned_object& what);

/// Reads a pool, all claims and all pods of the namespace.
[[nodiscard]] task_capacity capacity_of(const std::string& pool, const nlohmann::json& warm_pool, const nlohmann::json& claims,
                                        const nlohmann::json& pods);

} // namespace paddock::workspace
