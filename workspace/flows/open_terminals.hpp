#pragma once

#include "base/flows/sleep.hpp"
#include "guest/flows/host.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace paddock::workspace {

/// The terminals that calls hold open in guests, so that a verb can end those of one guest before it ends the guest. For one
/// strand: that of the calls and of the verbs. Outlives both.
class open_terminals {
public:
  struct terminal {
    guest::endpoint where;
    std::function<void()> end;      // asks it to end: leaves a session, kills anything else
    std::function<void()> withdraw; // gives its call up
  };

  explicit open_terminals(boost::asio::any_io_executor lane);

  /// It counts as open for as long as what this answers lives.
  [[nodiscard]] std::shared_ptr<void> enter(terminal x);

  /// Ends every terminal of the guest at `where` and waits until all have ended, however they did ([W] 3.4 step 3). The calls of
  /// those that take long, because nobody takes their output, are withdrawn. Returns earlier when `until` has come or the caller has
  /// withdrawn.
  boost::asio::awaitable<void> reap(guest::endpoint where, flow_time& time, deadline until);

  /// Asks every terminal of the guest at `where` to end, and waits for none.
  void release(const guest::endpoint& where);

private:
  boost::asio::steady_timer bell_;
  std::uint64_t entered_ = 0;
  std::map<std::uint64_t, terminal> open_;
};

} // namespace paddock::workspace
