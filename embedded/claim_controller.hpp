#pragma once

#include "base/time.hpp"
#include "embedded/event_book.hpp"
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
  std::optional<nlohmann::json> sandbox;          // `given_sandbox`
  std::vector<nlohmann::json> members;            // the Sandboxes that the pool controls
  std::vector<std::string> lost;                  // members that another claim took during this pass
  std::vector<std::string> label_domains;         // that additional labels may have
};

/// The next write of a pass. Its answer changes what is seen: what comes next is decided from that.
struct claim_write {
  enum class of {
    stamp,   // an annotation of the claim
    assign,  // the annotation that names the member, before it is taken
    adopt,   // the patch that takes the member
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

/// The Sandbox that the claim was given, out of those that may be it: one that it controls, whatever its annotation says (that
/// may name a member that another claim was faster to take), else the one of its annotation, else the one of its name.
[[nodiscard]] std::optional<nlohmann::json> given_sandbox(const nlohmann::json& claim, const std::vector<nlohmann::json>& near);

/// The next step of a pass, decided from `seen` alone.
[[nodiscard]] claim_step next_step(const claim_view& seen, time_source::wall_clock::time_point now);

/// `seen` after `write` was answered by `answer`.
void apply_answer(claim_view& seen, const claim_write& write, const nlohmann::json& answer);

/// What became of an `adopt` or `create` that did not succeed.
enum class claim_outcome {
  landed, // the Sandbox is the claim's, by this write or by one before it whose answer was lost
  moved,  // the member is still the pool's, and was only changed since it was read
  lost,   // the member is another's, or gone
  again   // it has not landed; the pass is to be made again
};

/// Judges by the Sandbox as it is `now`, read after the write (nothing: it is not there). `status` is what the write was
/// answered; 0: nothing.
[[nodiscard]] claim_outcome judge_outcome(const claim_view& seen, const claim_write& write, unsigned status,
                                          const std::optional<nlohmann::json>& now);

/// The patch of the claim's status, on the condition that the claim is as it was read; nothing when it says so already.
[[nodiscard]] std::optional<k8s::call> report_claim(const claim_view& seen, const claim_state& state,
                                                    time_source::wall_clock::time_point now);

/// What is told of a claim for which `write` was done, or which came to stand so; nothing: it is no news.
[[nodiscard]] std::optional<happening> happening_of(const claim_view& seen, const claim_write& write);
[[nodiscard]] std::optional<happening> happening_of(const claim_state& state);

/// The annotation that says when the claim was first Ready, or nothing: it is there, or the claim is not.
[[nodiscard]] std::optional<k8s::call> stamp_first_ready(const nlohmann::json& claim, time_source::wall_clock::time_point now);

/// How many members a pass tries to take.
inline constexpr std::size_t adoption_attempts = 3;

} // namespace paddock::embedded
