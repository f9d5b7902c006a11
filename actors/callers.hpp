#pragma once

#include "messages/interfaces.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace paddock {

/// The longest that a check runs whose answer callers share: it outlives the time of whoever asked first.
inline constexpr auto shared_bound = std::chrono::minutes{2};
inline constexpr std::size_t most_callers = 4096;

/// Who waits for one answer. Each caller has a ticket, by which it may leave before the others.
class callers {
public:
  using promise = caf::typed_response_promise<void>;

  void join(std::uint64_t ticket, promise waiting);
  /// Tells the caller with this ticket why, and forgets it. A ticket of nobody is no error: the answer was faster.
  void leave(std::uint64_t ticket, const problem& why);
  void succeed();
  void fail(const problem& why);

  [[nodiscard]] std::size_t size() const noexcept {
    return waiting_.size();
  }

private:
  struct caller {
    std::uint64_t ticket = 0;
    promise waiting;
  };
  std::vector<caller> waiting_;
};

/// The caller withdrew.
[[nodiscard]] problem call_withdrawn();
/// The caller's own time is up; nothing is said of what it waited for.
[[nodiscard]] problem call_expired();
[[nodiscard]] problem too_many_callers();

} // namespace paddock
