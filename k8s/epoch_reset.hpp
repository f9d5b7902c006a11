#pragma once

#include "k8s/fenced_write.hpp"

namespace paddock::k8s {

// Mending a holder epoch that nobody can read, on purpose only ([W] P11).

/// Which text on which object is to be replaced.
struct named_epoch {
  sandbox_uid uid;
  std::string stored;
};

/// Whether what was read is what was named: the uid first, then the text, to the letter. `ours` is for the refusal.
[[nodiscard]] tl::expected<void, refusal> may_reset(const reading& seen, const named_epoch& named, std::uint64_t ours);

/// The patch that writes `epoch` instead: it tests the uid, the version that was read and the text. Refused with a text when the object
/// has no resourceVersion. @pre `may_reset(seen, named, epoch)`
[[nodiscard]] tl::expected<call, std::string> compose_reset(std::string path, const named_epoch& named, std::uint64_t epoch,
                                                            const reading& seen);

} // namespace paddock::k8s
