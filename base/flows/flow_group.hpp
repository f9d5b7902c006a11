#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace paddock {

/// The running flows of one owner, each under a ticket. Stopping is a protocol with an end: `close` refuses new flows,
/// cancels the live ones and reports after the last has ended; only then may what they use be destroyed. Thread-safe;
/// flows run on one strand of `lane`. Within them `throw_if_cancelled` is off: a withdrawn flow sees its operations fail
/// and says so. A flow that throws ends the process: flows answer with values, so that is a bug; only
/// `operation_aborted` of a withdrawn flow is let pass. Once the group is gone its flows are cancelled and nobody is told;
/// it goes before its io_context does.
class flow_group {
public:
  explicit flow_group(boost::asio::any_io_executor lane);
  ~flow_group();
  flow_group(const flow_group&) = delete;
  flow_group& operator=(const flow_group&) = delete;

  using ticket = std::uint64_t;

  /// Starts `flow`, or drops it unstarted once closed (it then answers 0; the caller answers for it).
  ticket start(std::function<boost::asio::awaitable<void>()> flow);
  /// Starts `flow` under a ticket of the caller's own. False: closed, or the ticket is in use.
  bool start(ticket name, std::function<boost::asio::awaitable<void>()> flow);
  /// Cancels one flow (terminal cancellation); a ticket that has ended is no error.
  void cancel(ticket name);
  /// Refuses new flows, cancels the live ones, calls `empty` exactly once after the last.
  void close(std::function<void()> empty);
  [[nodiscard]] boost::asio::any_io_executor executor() const;

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace paddock
