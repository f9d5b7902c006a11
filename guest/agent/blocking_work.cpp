#include "guest/agent/blocking_work.hpp"

#include <system_error>
#include <utility>

namespace paddock::guest {

worker_pool::~worker_pool() {
  {
    auto lock = std::lock_guard{mutex_};
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (auto& thread : threads_)
    thread.join();
}

void worker_pool::run(std::function<void()> job) {
  {
    auto lock = std::lock_guard{mutex_};
    jobs_.push_back(std::move(job));
    if (jobs_.size() > idle_ && threads_.size() < size_)
      start_thread();
  }
  wake_.notify_one();
}

// At the process limit there is no thread to be had. The first one is therefore started with the pool; a job waits for it.
void worker_pool::start_thread() {
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    if (threads_.empty())
      throw;
  }
}

void worker_pool::work() {
  auto lock = std::unique_lock{mutex_};
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (stopping_)
      return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr; // what it holds is not destroyed under the lock
    lock.lock();
  }
}

} // namespace paddock::guest
