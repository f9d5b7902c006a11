#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace paddock {

/// Opens /dev/null on whichever of the descriptors 0, 1 and 2 is closed. First thing in a program: otherwise the next socket or
/// lock file gets that number, and output meant for a person is written into it.
inline void hold_standard_descriptors() {
  for (;;) {
    const auto fd = ::open("/dev/null", O_RDWR);
    if (fd < 0)
      return;
    if (fd > 2) {
      ::close(fd);
      return;
    }
  }
}

} // namespace paddock
