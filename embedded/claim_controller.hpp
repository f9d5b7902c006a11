#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::embedded {

/// What one pass over a SandboxClaim looks at ([C] 4.8).
struct claim_view {
  nlohmann::json claim;
  std::optional<nlohmann::json> pool;             // that it names
  std::optional<nlohmann::json> sandbox_template; // that the pool names
  std::optional<nlohmann::json> sandbox;          // that it was given: by its annotation, else of its name
  std::vector<nlohmann::json> members;            // the Sandboxes that the pool controls
  std::vector<std::string> lost;                  // members that another claim took during this pass
  std::vector<std::string> label_domains;         // that additional labels may have
};

/// The next write of a pass. Its answer changes what is seen: what comes next is decided from that.
struct claim_write {
  enum class of {
    stamp,   // an annotation of the claim
    assign,  // the annotation that names the member, before it is taken
    adopt,   // the patch that takes the member; a conflict means that it is another's
    create,  // a Sandbox of the claim's name
    sync,    // the pod template's metadata of the claim's Sandbox
    release, // the DELETE of the Sandbox of an expired claim that stays
    end      // the DELETE of the expired claim
  };
  of what = of::stamp;
  k8s::call call;
};

/// Nothing is left to write; the claim's Ready condition says this.
struct claim_state {
  std::string reason; // empty: what the Sandbox says
  std::string message;
  bool silent = false;                              // nothing is reported
  std::optional<std::chrono::milliseconds> revisit; // look again after so long
};

using claim_step = std::variant<claim_write, claim_state>;

/// The next step of a pass, decided from `seen` alone.
[[nodiscard]] claim_step next_step(const claim_view& seen, time_source::wall_clock::time_point now);

/// `seen` after `write` was answered by `answer`.
void apply_answer(claim_view& seen, const claim_write& write, const nlohmann::json& answer);

/// The patch of the claim's status, on the condition that the claim is as it was read; nothing when it says so already.
[[nodiscard]] std::optional<k8s::call> report_claim(const claim_view& seen, const claim_state& state,
                                                    time_source::wall_clock::time_point now);

/// The annotation that says when the claim was first Ready, or nothing: it is there, or the claim is not.
[[nodiscard]] std::optional<k8s::call> stamp_first_ready(const nlohmann::json& claim, time_source::wall_clock::time_point now);

/// How many members a pass tries to take.
inline constexpr std::size_t adoption_attempts = 3;

} // namespace paddock::embedded
