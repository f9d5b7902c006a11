#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"
#include "k8s/objects.hpp"
#include "k8s/uids.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::k8s {

// Fenced writes to a Sandbox ([W] 4, 5 and P1, P3, P6, P10, P11): values in, values out. A flow reads the object, asks
// `admit`, sends what `compose` gives, and after a refusal by the server reads again and asks `after_422` or
// `after_conflict`. Where the server refuses a request nothing of it was applied.

/// What one object says about who may write it ([W] 4.2), and what a write of it is conditioned on.
struct reading {
  std::optional<sandbox_uid> uid;
  std::optional<std::string> version;    // resourceVersion
  bool has_annotations = false;          // the map is there at all
  std::optional<std::string> annotation; // the exact text of the epoch
  std::optional<std::uint64_t> epoch;    // 0 without the annotation; absent: unreadable
  operating_mode mode = operating_mode::running;
  friend bool operator==(const reading&, const reading&) = default;
};
[[nodiscard]] reading read_fence(const nlohmann::json& object);

/// `0` or digits without a leading zero, at most 2^53 - 1; anything else is unreadable.
[[nodiscard]] std::optional<std::uint64_t> parse_epoch(std::string_view text);

/// On whose behalf something is written.
struct holder {
  std::optional<sandbox_uid> uid;     // which object; absent: the API has told none
  std::optional<std::uint64_t> epoch; // absent: unfenced
  bool stamped = false;               // this holder has written its epoch to that object before ([W] P11)
};

/// Another object stands under the name. Never retried.
struct other_object {
  sandbox_uid expected;
  std::optional<sandbox_uid> actual; // absent: the answer carried none
};

/// The stored epoch is higher than ours, unreadable, or gone although we had stamped it.
struct epoch_overtaken {
  std::uint64_t ours = 0;
  std::optional<std::uint64_t> stored; // absent: unreadable
  std::optional<std::string> annotation;
};

using refusal = std::variant<other_object, epoch_overtaken>;

/// Whether `who` may write to what was read: the uid first, then the epoch, so that a stranger is reported as such
/// whatever epoch it carries ([W] 5.6). An equal epoch is admitted.
[[nodiscard]] tl::expected<void, refusal> admit(const reading& seen, const holder& who);

/// Whether an object carries no epoch, or one below `ours`: its holder has not stamped it, or it lost the stamp ([W] P11, P12). An
/// unreadable one is not stamped over.
[[nodiscard]] bool needs_stamp(const reading& seen, std::uint64_t ours);

/// What is to be written. Of the mode, the epoch and the time of change the composer takes care.
struct sandbox_write {
  sandbox_write() {
  }                                   // no aggregate: gcc 12 would move a temporary one into a coroutine's frame byte by byte
  std::optional<operating_mode> mode; // absent: stamp only
  bool only_if_suspended = false;     // test the mode too: a wake-up or a refresh ([W] P6, 3.6)
  std::vector<std::pair<std::string, std::string>> more_annotations; // in the order they are written
  std::optional<nlohmann::json> pod_template;                        // whole
};

/// How a write goes out ([W] 4.4): not at all, as a merge patch that needs no reading, or as a JSON patch that does.
enum class write_shape { nothing, merge_patch, json_patch };
[[nodiscard]] write_shape shape_of(const sandbox_write& what, const holder& who);

/// The unconditioned mode write. @pre `shape_of` says merge patch
[[nodiscard]] call compose_merge_patch(std::string path, operating_mode mode, time_source::wall_clock::time_point now);

/// The conditioned write on the object that was read. Every test comes before every change, in the order of [W] 4.4 and
/// 3.6. Refused with a text when there would be no test at all, or when one needs a resourceVersion that the object does
/// not have; nothing may be sent then. @pre `admit(seen, who)`
[[nodiscard]] tl::expected<call, std::string> compose(std::string path, const sandbox_write& what, const holder& who, const reading& seen,
                                                      time_source::wall_clock::time_point now);

/// A JSON patch of `tests` and then `changes`; refused without a test ([C] 2.7).
[[nodiscard]] tl::expected<nlohmann::json, std::string> patch_of(nlohmann::json tests, nlohmann::json changes);

/// A JSON pointer token: `~` and `/` escaped.
[[nodiscard]] std::string escape_pointer(std::string_view token);

/// Requests of one fenced write or delete, at most.
inline constexpr unsigned most_attempts = 3;

/// What follows a refused request and the reading made after it.
enum class next_step {
  again,   // something moved: admit the new reading and compose anew
  give_up, // the server's error is the answer
  yielded, // the mode that was tested has changed: nothing was written, and somebody else did it
};

/// After the `sent`-th PATCH was answered 422. Nothing is read when `sent` is already `most_attempts`: that is `give_up`.
[[nodiscard]] tl::expected<next_step, refusal> after_422(const sandbox_write& what, const holder& who, const reading& tested,
                                                         const reading& now, unsigned sent);

/// The conditioned delete: `preconditions.resourceVersion` always ([W] P10), `uid` when known. Refused with a text when the
/// object has no resourceVersion. @pre `admit(seen, who)`
[[nodiscard]] tl::expected<call, std::string> compose_delete(std::string path, const holder& who, const reading& seen);

/// After the `sent`-th DELETE was answered 409. `first` is what the verb read before its first DELETE: an object that has
/// changed in mode or epoch since is not deleted ([W] P10); one with another uid is `other_object`.
[[nodiscard]] tl::expected<next_step, refusal> after_conflict(const holder& who, const reading& first, const reading& now, unsigned sent);

// -- which epoch a holder holds ([W] P1) -----------------------------------------------------------------------------

/// Epoch = base + term * 2^20 + counter.
struct epoch_term {
  std::uint64_t base = 0;
  std::uint64_t term = 0; // leaseTransitions
  friend bool operator==(const epoch_term&, const epoch_term&) = default;
};
inline constexpr std::uint64_t epochs_per_term = std::uint64_t{1} << 20;
inline constexpr std::uint64_t highest_epoch = (std::uint64_t{1} << 53) - 1;

[[nodiscard]] std::uint64_t first_of(const epoch_term& own);

/// The epoch that a starting holder holds, given what is stored: one more than the stored one when that is of its own term,
/// the first of its term when it is of an earlier one, else overtaken.
[[nodiscard]] tl::expected<std::uint64_t, epoch_overtaken> first_epoch(const epoch_term& own, const reading& stored);

/// The epoch after a write of unknown outcome. Overtaken when the term has no more.
[[nodiscard]] tl::expected<std::uint64_t, epoch_overtaken> next_epoch(const epoch_term& own, std::uint64_t held);

} // namespace paddock::k8s
