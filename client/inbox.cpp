#include "client/inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace paddock::client {

inbox::inbox() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
}

inbox::~inbox() {
  ::close(bell_);
}

void inbox::put(call_news x) {
  {
    const std::lock_guard hold{lock_};
    all_.push_back(std::move(x));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(bell_, &one, sizeof one);
}

std::deque<call_news> inbox::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(bell_, &count, sizeof count);
  const std::lock_guard hold{lock_};
  return std::exchange(all_, {});
}

} // namespace paddock::client
