#pragma once

#include "guest/agent/unique_fd.hpp"
#include "guest/session_request.hpp"

#include <tl/expected.hpp>

#include <string>

namespace paddock::guest {

/// A pseudo-terminal of the kernel. While the master is open, the terminal exists; once it is closed, whoever still uses the
/// terminal is hung up.
struct pty {
  unique_fd master;  // non-blocking, closes on exec
  std::string slave; // its path
};

/// Makes one of this size, whose slave may be opened. A failure is the whole text for the wire.
[[nodiscard]] tl::expected<pty, std::string> open_pty(terminal_size size);

/// The kernel tells the program in the foreground (SIGWINCH), if the size is another.
void resize_pty(int master, terminal_size size);

} // namespace paddock::guest
