#include "apps/paddock/exit_code.hpp"

#include <csignal>
#include <cstring>

namespace paddock::cli {

int exit_code(verdict x) {
  switch (x) {
    case verdict::failed: return 1;
    case verdict::usage: return 2;
    case verdict::refused: return 3;
    case verdict::unknown: return 4;
    case verdict::not_found: return 5;
    case verdict::overtaken: return 6;
    case verdict::unreachable: return 7;
  }
  return 1;
}

int signal_number(std::string_view name) {
  if (!name.starts_with("SIG"))
    return 0;
  name.remove_prefix(3);
  for (int i = 1; i < NSIG; ++i)
    if (const auto* known = ::sigabbrev_np(i); known && name == known)
      return i;
  return 0;
}

int exit_code(const call_end& x) {
  if (x.signal)
    return 128 + signal_number(*x.signal);
  return x.exit_code & 0xff;
}

int exec_exit_code(const problem& x) {
  // A terminal says so before it is one, a command as its end.
  const auto not_started = x.reason == "RemoteCommand" || x.message.find("spawn ") != std::string::npos;
  if (not_started && x.message.find("ENOENT") != std::string::npos)
    return 127;
  if (not_started && (x.message.find("EACCES") != std::string::npos || x.message.find("ENOEXEC") != std::string::npos))
    return 126;
  return 125;
}

} // namespace paddock::cli
