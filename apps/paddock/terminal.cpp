#include "apps/paddock/terminal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace paddock::cli {

namespace {

constexpr char ctrl_z = 0x1a;

// For a signal handler: plain data that is whole before `raw` says so.
termios usual;
std::atomic<bool> raw{false};

void restore_usual() {
  if (raw.exchange(false))
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
}

// The signals that would end the process with the terminal still raw. Those that a stream takes are blocked and never come here.
constexpr std::array ending = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPIPE};

void restore_and_die(int number) {
  restore_usual();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

} // namespace

escape_reader::taken escape_reader::take(std::string_view keys) {
  auto out = taken{};
  for (const auto key : keys) {
    if (std::exchange(tilde_, false)) {
      line_began_ = false;
      if (key == '.') {
        out.orders.push_back(order::leave);
        line_began_ = true;
        continue;
      }
      if (key == ctrl_z || key == '?') {
        out.orders.push_back(key == '?' ? order::help : order::stop);
        line_began_ = true;
        continue;
      }
      out.input += '~';
      if (key == '~')
        continue;
    } else if (line_began_ && key == '~') {
      tilde_ = true;
      continue;
    }
    out.input += key;
    line_began_ = key == '\r' || key == '\n';
  }
  return out;
}

std::string_view escape_help() {
  return "\r\n~.  leave: a session goes on without you, any other terminal ends\r\n~^Z stop this client (fg brings it back)\r\n"
         "~~  a tilde\r\n~?  this\r\n(at the beginning of a line)\r\n";
}

std::pair<int, int> window_of(int fd) {
  auto size = winsize{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {80, 24};
  return {std::clamp<int>(size.ws_col, 1, 1000), std::clamp<int>(size.ws_row, 1, 1000)};
}

raw_mode::raw_mode() : terminal_(::isatty(STDIN_FILENO) != 0) {
}

raw_mode::~raw_mode() {
  restore();
}

void raw_mode::enter() {
  if (!terminal_ || raw.load() || ::tcgetattr(STDIN_FILENO, &usual) != 0)
    return;
  [[maybe_unused]] static const auto once = [] {
    std::atexit(restore_usual);
    for (const auto number : ending)
      if (std::signal(number, restore_and_die) == SIG_IGN)
        std::signal(number, SIG_IGN);
    return true;
  }();
  auto wanted = usual;
  ::cfmakeraw(&wanted);
  raw.store(true);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &wanted);
}

void raw_mode::restore() {
  restore_usual();
}

} // namespace paddock::cli
