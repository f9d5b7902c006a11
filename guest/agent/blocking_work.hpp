#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace paddock::guest {

/// Where the guest does what may block (files, directories, flushes), so that the wire never waits.
class blocking_work {
public:
  virtual ~blocking_work() = default;
  /// Runs `job` once, on a thread other than the caller's. Jobs start in order.
  virtual void run(std::function<void()> job) = 0;
};

/// At most `size` threads: one from the start, the others when they are first needed and can be had.
class worker_pool final : public blocking_work {
public:
  explicit worker_pool(std::size_t size) : size_(size) {
    start_thread();
  }
  /// Waits for the jobs that run; those that have not begun are dropped.
  ~worker_pool() override;
  void run(std::function<void()> job) override;

private:
  void start_thread();
  void work();

  std::size_t size_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

} // namespace paddock::guest
