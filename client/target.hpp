#pragma once

#include "client/call.hpp"

#include <string>
#include <vector>

namespace paddock::client {

/// What can be started in a guest.
using job = decltype(call_spec::what);

/// Whether a lost connection leaves open what it did.
[[nodiscard]] effect effect_of(const job& what);

/// A guest that is spoken to: of a workspace, a pinned one, or another program's way to one. May be used from any thread.
class target {
public:
  virtual ~target() = default;

  /// Starts a call; its answer, and not yet its end, is awaited. Any number may run at once.
  [[nodiscard]] result<call> start(job what) const;
  /// One answer, no stream.
  [[nodiscard]] virtual result<guest_answer> ask(guest_question what) const = 0;

  /// The terminals and programs that go on by themselves.
  [[nodiscard]] result<std::vector<session_view>> sessions() const;
  [[nodiscard]] result<session_view> start_session(session_start_question what) const;
  /// Kills the session and all that it started. The answer says whether it is gone (`state`).
  [[nodiscard]] result<session_view> kill_session(std::string session, std::string signal = {}) const;
  /// Stops every process of the guest; the answer proves that they are gone. With `only_if_idle` nothing is stopped, and it is
  /// refused when something runs.
  [[nodiscard]] result<quiesce_answer> quiesce(quiesce_question what = {}) const;
  /// The answer proves that what was written before is on the disk.
  [[nodiscard]] result<flush_answer> flush(flush_question what = {}) const;
  /// Ends a detached execution; the answer proves that it is gone.
  [[nodiscard]] result<void> cancel_execution(std::string execution) const;

protected:
  target() = default;
  target(const target&) = default;
  target(target&&) = default;
  target& operator=(const target&) = default;
  target& operator=(target&&) = default;

private:
  /// Starts a call; what it says goes into `to`, and its end comes last.
  virtual result<std::unique_ptr<running_call>> begin(call_spec what, std::shared_ptr<inbox> to) const = 0;
};

} // namespace paddock::client
