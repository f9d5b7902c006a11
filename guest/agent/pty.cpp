#include "guest/agent/pty.hpp"

#include "guest/agent/process.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace paddock::guest {

tl::expected<pty, std::string> open_pty(terminal_size size) {
  auto result = pty{};
  result.master.reset(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!result.master)
    return tl::unexpected{system_message(errno, "open", "/dev/ptmx")};
  auto number = 0U;
  auto locked = 0;
  if (::ioctl(result.master.get(), TIOCGPTN, &number) != 0 || ::ioctl(result.master.get(), TIOCSPTLCK, &locked) != 0)
    return tl::unexpected{system_message(errno, "ioctl", "/dev/ptmx")};
  result.slave = "/dev/pts/" + std::to_string(number);
  // Another mount of the terminals would show here, and not as a program that is not found.
  if (::access(result.slave.c_str(), R_OK | W_OK) != 0)
    return tl::unexpected{"terminal PTY slave did not appear (" + system_message(errno, "access", result.slave) + ")"};
  // Erasing a character in a line takes all of its bytes.
  auto modes = termios{};
  if (::tcgetattr(result.master.get(), &modes) == 0) {
    modes.c_iflag |= IUTF8;
    ::tcsetattr(result.master.get(), TCSANOW, &modes);
  }
  resize_pty(result.master.get(), size);
  return result;
}

void resize_pty(int master, terminal_size size) {
  auto wanted = winsize{};
  wanted.ws_col = size.columns;
  wanted.ws_row = size.rows;
  ::ioctl(master, TIOCSWINSZ, &wanted);
}

} // namespace paddock::guest
