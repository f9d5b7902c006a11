#include "guest/agent/input_queue.hpp"

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

void input_queue::add(std::string bytes) {
  if (bytes.empty())
    return;
  waiting_ += bytes.size();
  pieces_.push_back(std::move(bytes));
}

void input_queue::clear() {
  pieces_.clear();
  taken_ = 0;
  waiting_ = 0;
}

input_queue::outcome input_queue::write_to(int descriptor) {
  auto some = false;
  while (!pieces_.empty()) {
    const auto& piece = pieces_.front();
    const auto n = ::write(descriptor, piece.data() + taken_, piece.size() - taken_);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return {errno == EAGAIN ? end::full : end::refused, some};
    some = true;
    taken_ += static_cast<std::size_t>(n);
    waiting_ -= static_cast<std::size_t>(n);
    if (taken_ == piece.size()) {
      pieces_.pop_front();
      taken_ = 0;
    }
  }
  return {end::taken, some};
}

} // namespace paddock::guest
