#pragma once

#include "guest/flush.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace paddock::guest {

struct agent_core;

/// How a flush ended.
struct flush_end {
  std::string code; // of [G] 13; empty: everything that was written before it began is on the device
  std::string message;
  std::string log_line; // the message without what a command has printed
  std::chrono::milliseconds took{0};
};

/// Flushes the file system of the workspace ([G] 13): by the kernel's `syncfs`, or by the command that the agent's variable
/// names. The call cannot be interrupted, so it has a thread of its own, one at a time: while it hangs, later flushes wait
/// for their bound, and nothing else waits. Wire thread only.
class flusher {
public:
  /// Flushes the file system of a folder, and may block. 0, or an errno value.
  using sync_call = std::function<int(const std::string& folder)>;

  flusher(boost::asio::io_context& io, std::string workspace, sync_call sync = {});
  /// Waits for the call that runs.
  ~flusher();
  flusher(const flusher&) = delete;
  flusher& operator=(const flusher&) = delete;

  /// Calls `then` once, on the wire thread, at the bound at the latest; not once this is destroyed.
  void flush(const std::shared_ptr<agent_core>& core, flush_bound bound, std::function<void(flush_end)> then);

private:
  struct waiter;
  struct state;

  void by_call(flush_bound bound, std::function<void(flush_end)> then);

  std::shared_ptr<state> state_;
};

/// Whether what flushes is there, to be advertised ([G] 3.2). Looked up once: an image does not change under its agent.
[[nodiscard]] bool can_flush(const agent_core& core);

} // namespace paddock::guest
