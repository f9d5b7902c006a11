#pragma once

#include "workspace/bind_judge.hpp"
#include "workspace/task.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace paddock::workspace {

// What an acquire makes of the answers that it gets ([C] 3.5, 3.10). The flow reads; these judge.

/// The reasons with which a claim's controller says that nothing changes before somebody edits something.
inline constexpr auto terminal_claim_reasons =
  std::array<std::string_view, 4>{"WarmPoolNotFound", "TemplateNotFound", "InvalidMetadata", "EnvVarsInjectionRejected"};

/// A Sandbox that was Ready, under its own name.
struct ready_task {
  std::string sandbox_name;
  ready_sandbox facts;
};
/// Not Ready yet; the Sandbox that a claim was given is known before it is Ready.
struct unready_task {
  std::optional<std::string> sandbox_name;
};
using task_readiness = std::variant<unready_task, ready_task>;

/// Weighs one read of the object of `plan`. A claim that its controller has refused for good is `acquire_failed`; a Ready one that
/// names no Sandbox is `no_pod`.
[[nodiscard]] result<task_readiness> judge_task(const settings& how, const task_plan& plan, const nlohmann::json& object);

/// What an API failure is called for an acquire, from its public reason and the status of the answer, if any; nothing for one that goes
/// to the caller as it is.
[[nodiscard]] std::optional<acquire_reason> acquire_reason_for(std::string_view reason, std::optional<unsigned> status);

/// Whether a poll that failed so is tried again.
[[nodiscard]] bool worth_retrying(const k8s::failure& x);

/// How long after a poll that failed so.
[[nodiscard]] std::chrono::milliseconds pause_after(const k8s::failure& x, std::chrono::milliseconds interval);

/// Why a pod is not Ready, where the cluster says it plainly: `capacity` or `image_pull`.
[[nodiscard]] std::optional<acquire_reason> diagnose(const nlohmann::json& pod);

/// A failure of an acquire as its caller is told; `diagnosis` is of its pod, and outranks what the API was like.
[[nodiscard]] failure classify(failure x, std::optional<acquire_reason> diagnosis = std::nullopt);

} // namespace paddock::workspace
