#pragma once

#include "guest/proc.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace paddock::guest {

/// Finds the processes of kernel sessions. One scan of the process table runs at a time, in slices, and serves all who had
/// asked when it began: so however many sessions end at once, the thread that serves the wire is held up by one slice. Wire thread
/// only.
class session_scanner : public std::enable_shared_from_this<session_scanner> {
public:
  explicit session_scanner(boost::asio::io_context& io) : io_(io) {
  }

  /// The processes whose kernel session is `session`, as one scan finds them that begins after this is asked; those that
  /// are over are left out. Absent: the table, or one of them, cannot be read.
  [[nodiscard]] boost::asio::awaitable<std::optional<std::vector<proc_stat>>> members_of(pid_t session);

private:
  struct question {
    question(boost::asio::io_context& io, pid_t x) : session(x), answered(io, boost::asio::steady_timer::time_point::max()) {
    }
    pid_t session;
    boost::asio::steady_timer answered; // cancelled then
    std::optional<std::vector<proc_stat>> found = std::vector<proc_stat>{};
    bool done = false;
  };
  using questions = std::vector<std::shared_ptr<question>>;

  boost::asio::awaitable<void> run();
  static boost::asio::awaitable<void> scan(questions all);

  boost::asio::io_context& io_;
  questions waiting_;
  bool running_ = false;
};

} // namespace paddock::guest
