#pragma once

#include "k8s/fenced_write.hpp"
#include "workspace/flows/verbs.hpp"

#include <optional>
#include <string>
#include <utility>

namespace paddock::workspace {

/// Which object a write is for, on whose behalf, and what failures call it. Made by its constructor: gcc 12 moves a braced
/// aggregate into a coroutine's frame byte by byte, which breaks the strings in it.
struct write_target {
  write_target(id of, const char* in, k8s::holder by) : which(std::move(of)), operation(in), who(std::move(by)) {
  }
  id which;
  const char* operation = "";
  k8s::holder who;
};

/// The object after a write, or the one that was read instead of it.
struct fenced_end {
  bool yielded = false;  // the mode that was tested has changed: nothing was written, and somebody else did it
  nlohmann::json object; // yielded: as read again; else the answer of the write, null where it had no body
};

/// One write to a Sandbox ([W] 4.4, 4.5): at most three PATCHes, each on a reading that admits it. `seen` saves the first
/// read. Over by `until`. A refusal by uid is `replaced`, by epoch `precondition`; `write_unknown` says that the write may
/// have been applied, and every other failure that nothing was.
boost::asio::awaitable<result<fenced_end>> write_fenced(world& on, write_target to, k8s::sandbox_write what,
                                                        std::optional<nlohmann::json> seen, deadline until);

/// The DELETE of a Sandbox ([W] 4.6, P3, P10): conditioned on the uid and version of `seen`, or without condition where the
/// API reports no uid and there is no epoch. Success: it is gone. At most three DELETEs, and none on an object that has
/// changed in mode, epoch or uid.
boost::asio::awaitable<result<void>> delete_fenced(world& on, write_target to, std::optional<nlohmann::json> seen, deadline until);

/// Whether `who` may write to `object`, said as a failure of the workspace.
[[nodiscard]] result<void> admit(const write_target& to, const nlohmann::json& object);

[[nodiscard]] failure to_failure(const write_target& to, const k8s::refusal& x);

/// A write could not be conditioned as it has to be, so it was not sent.
[[nodiscard]] failure cannot_compose(std::string text);

} // namespace paddock::workspace
