#pragma once

#include <cstdio>
#include <cstdlib>

namespace paddock {

/// What must hold whatever the input is. The fuzzer and the replay of the seeds both take an abort for a finding.
inline void require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (holds)
    return;
  std::fprintf(stderr, "%s:%d: does not hold\n", file, line);
  std::abort();
}

} // namespace paddock
