#include "guest/agent/walk_output.hpp"

#include "guest/envelope.hpp"

#include <cerrno>
#include <ctime>
#include <poll.h>
#include <unistd.h>

namespace paddock::guest {

namespace {

constexpr std::int64_t patience_ms = 20;

std::int64_t milliseconds() {
  auto now = timespec{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::string quoted(std::string_view text) {
  return to_text(nlohmann::ordered_json(text));
}

} // namespace

void walk_output::entry(std::string_view path, std::uint64_t size) {
  if (held_.empty())
    since_ = milliseconds();
  held_ += R"({"type":"entry","path":)";
  held_ += quoted(path);
  held_ += R"(,"size":)";
  held_ += std::to_string(size);
  held_ += "}\n";
  if (held_.size() >= capacity_)
    send();
}

void walk_output::done() {
  held_ += "{\"type\":\"done\"}\n";
  send();
}

void walk_output::error(std::string_view message, std::string_view code) {
  held_ += R"({"type":"error","message":)";
  held_ += quoted(message);
  if (!code.empty()) {
    held_ += R"(,"code":)";
    held_ += quoted(code);
  }
  held_ += "}\n";
  send();
}

void walk_output::breathe() {
  if (!held_.empty() && milliseconds() - since_ >= patience_ms)
    send();
}

void walk_output::send() {
  auto rest = std::string_view{held_};
  while (!rest.empty() && !broken_) {
    auto n = ::write(fd_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      // Somebody shares the pipe with us and has made it non-blocking.
      auto writable = pollfd{fd_, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  held_.clear();
}

} // namespace paddock::guest
