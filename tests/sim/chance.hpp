#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace paddock::sim {

/// Every choice of a run, from one seed. The same on every machine: the engine's numbers are fixed by the standard, those of
/// the distributions are not.
class chance {
public:
  explicit chance(std::uint64_t seed) : engine_(seed) {
  }
  /// One of 0 … n - 1. @pre `n > 0`
  std::size_t pick(std::size_t n) {
    return static_cast<std::size_t>(engine_() % n);
  }
  /// True in `of_thousand` of a thousand cases.
  bool once_in(std::size_t of_thousand) {
    return pick(1000) < of_thousand;
  }

private:
  std::mt19937_64 engine_;
};

} // namespace paddock::sim
