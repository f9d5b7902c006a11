#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <thread>

namespace paddock {

/// One io_context on one thread: where the flows of a program run.
class io_lane {
public:
  io_lane() : work_(boost::asio::make_work_guard(context_)), thread_([this] { context_.run(); }) {
  }
  /// Ends the thread. What runs on it must have been closed before; what has not is dropped.
  ~io_lane() {
    work_.reset();
    context_.stop();
    thread_.join();
  }
  io_lane(const io_lane&) = delete;
  io_lane& operator=(const io_lane&) = delete;
  [[nodiscard]] boost::asio::io_context& context() noexcept {
    return context_;
  }
  /// Runs `what`, which does not throw, on the thread and waits until it has returned, and with it every handler before it. Not
  /// from the thread itself.
  template <class What>
  void run(What what) {
    auto done = std::promise<void>{};
    auto over = done.get_future();
    boost::asio::post(context_, [&what, done = std::move(done)]() mutable {
      what();
      done.set_value();
    });
    over.wait();
  }

private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

} // namespace paddock
