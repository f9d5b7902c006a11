#include "client/stream.hpp"

#include "messages/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace paddock::client {

namespace {

/// The thread between a call and the file descriptors.
class pump {
public:
  pump(stream_ends ends, call& what, bool takes_all, const stream_watch& watch, const std::function<void(const call_note&)>& noted) :
    ends_(ends), call_(what), takes_all_(takes_all), watch_(watch), noted_(noted) {
  }

  stream_end run() {
    for (;;) {
      while (auto x = call_.next(std::chrono::milliseconds::zero()))
        if (std::visit([this](auto& one) { return on(one); }, *x))
          return std::move(end_);
      std::array<pollfd, 3> ready = {
        {{call_.bell(), POLLIN, 0}, {watch_.fd, POLLIN, 0}, {input_open() && wanted_ > 0 ? ends_.input : -1, POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), -1);
      if (ready[1].revents != 0 && watch_.woken()) {
        end_.cancelled = true;
        call_.cancel();
      }
      if (ready[2].revents != 0)
        read_input();
    }
  }

private:
  [[nodiscard]] bool input_open() const {
    return ends_.input >= 0 && !input_ended_;
  }

  bool on(output_piece& x) {
    const auto to = x.which == 2 ? ends_.error : ends_.output;
    if (to >= 0 && !end_.output_closed && !broken_ && !write_all(to, x.content)) {
      if (errno == EPIPE) {
        end_.output_closed = true;
        call_.cancel();
      } else {
        break_off("OutputFailed", "cannot write the output");
      }
    }
    return false;
  }
  bool on(input_wanted& x) {
    wanted_ += x.bytes;
    if (ends_.input < 0 && !input_ended_)
      send_input({}, true);
    return false;
  }
  bool on(call_end& x) {
    return over(std::move(x));
  }
  bool on(problem& x) {
    return over(std::move(x));
  }
  /// A call that was broken off ends with what went wrong here, unless nobody knows what it has done.
  bool over(std::variant<call_end, problem> how) {
    end_.how = std::move(how);
    if (!broken_)
      return true;
    if (auto* why = std::get_if<problem>(&end_.how); why != nullptr && why->how == verdict::unknown)
      why->message += "; it was cancelled because of this: " + broken_->message;
    else
      end_.how = std::move(*broken_);
    return true;
  }
  bool on(call_note& x) {
    if (noted_)
      noted_(x);
    return false;
  }

  void read_input() {
    bytes content(std::min<std::uint64_t>(wanted_, chunk_limit));
    const auto n = ::read(ends_.input, content.data(), content.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
      return;
    if (n < 0 && takes_all_) {
      input_ended_ = true;
      return break_off("LocalFile", "cannot read the input");
    }
    content.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    send_input(std::move(content), n <= 0);
  }
  /// Because of `errno`.
  void break_off(const char* reason, const char* text) {
    broken_ = make_problem(verdict::failed, reason, std::string{text} + ": " + std::strerror(errno));
    call_.cancel();
  }
  void send_input(bytes content, bool last) {
    wanted_ -= std::min<std::uint64_t>(wanted_, content.size());
    input_ended_ = last;
    call_.input(std::move(content), last);
  }

  stream_ends ends_;
  call& call_;
  bool takes_all_;
  const stream_watch& watch_;
  const std::function<void(const call_note&)>& noted_;
  std::uint64_t wanted_ = 0;
  bool input_ended_ = false;
  std::optional<problem> broken_; // what went wrong here, so that the call was cancelled
  stream_end end_;
};

} // namespace

bool write_all(int fd, const bytes& content) {
  const auto* at = reinterpret_cast<const char*>(content.data());
  auto left = content.size();
  while (left > 0) {
    const auto n = ::write(fd, at, left);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (n <= 0)
      return false;
    at += n;
    left -= static_cast<std::size_t>(n);
  }
  return true;
}

stream_end run_stream(const target& at, job what, stream_ends ends, const stream_watch& watch,
                      const std::function<void(const call_note&)>& noted) {
  // A part of a file is no file.
  const auto takes_all = std::holds_alternative<write_spec>(what);
  auto started = at.start(std::move(what));
  if (!started)
    return {std::move(started.error())};
  return pump{ends, *started, takes_all, watch, noted}.run();
}

} // namespace paddock::client
