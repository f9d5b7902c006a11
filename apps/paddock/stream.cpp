#include "apps/paddock/stream.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace paddock::cli {

namespace {

constexpr std::uint64_t window = 256 * 1024;

/// The thread between a call and the file descriptors.
class pump {
public:
  pump(stream_ends ends, std::shared_ptr<inbox> in, running_call& call, std::function<void(const call_note&)> noted) :
    ends_(ends), in_(std::move(in)), call_(call), noted_(std::move(noted)) {
    if (!ends_.signals)
      return;
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    signals_ = ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~pump() {
    if (signals_ >= 0)
      ::close(signals_);
  }
  pump(const pump&) = delete;
  pump& operator=(const pump&) = delete;

  stream_end run() {
    for (;;) {
      for (auto& x : in_->take())
        if (auto over = std::visit([this](auto& one) { return on(one); }, x); over)
          return std::move(end_);
      std::array<pollfd, 3> ready = {
        {{in_->bell(), POLLIN, 0}, {signals_, POLLIN, 0}, {input_open() && wanted_ > 0 ? ends_.input : -1, POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), -1);
      if (ready[1].revents != 0)
        on_signal();
      if (ready[2].revents != 0)
        read_input();
    }
  }

private:
  [[nodiscard]] bool input_open() const {
    return ends_.input >= 0 && !input_ended_;
  }

  bool on(output_piece& x) {
    const auto n = x.content.size();
    const auto to = x.which == 2 ? ends_.error : ends_.output;
    if (to >= 0 && !end_.output_closed && unwritable_ == 0 && !write_all(to, x.content)) {
      if (errno == EPIPE)
        end_.output_closed = true;
      else
        unwritable_ = errno;
      cancel();
    }
    call_.grant(n);
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
  /// The call was cancelled because its output could not be written: that is what went wrong, not how the cancel ended.
  bool over(std::variant<call_end, problem> how) {
    end_.how = std::move(how);
    if (unwritable_ != 0)
      end_.how = make_problem(verdict::failed, "OutputFailed", std::string{"cannot write the output: "} + std::strerror(unwritable_));
    return true;
  }
  bool on(call_note& x) {
    if (noted_)
      noted_(x);
    return false;
  }
  bool on(call_gone&) {
    // Who watches may run before who takes the output, and the end may still lie there.
    call_.drain();
    return false;
  }
  bool on(call_silent&) {
    end_.how = client::node_gone(effect::changes);
    return true;
  }

  void on_signal() {
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info)
      return;
    const auto which = static_cast<int>(info.ssi_signo);
    if (end_.signal != 0)
      ::_exit(128 + which);
    end_.signal = which;
    cancel();
  }
  void read_input() {
    bytes content(std::min<std::uint64_t>(wanted_, chunk_limit));
    const auto n = ::read(ends_.input, content.data(), content.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
      return;
    content.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    send_input(std::move(content), n <= 0);
  }
  void send_input(bytes content, bool last) {
    wanted_ -= std::min<std::uint64_t>(wanted_, content.size());
    input_ended_ = last;
    call_.input(std::move(content), last);
  }
  void cancel() {
    call_.cancel();
  }

  stream_ends ends_;
  std::shared_ptr<inbox> in_;
  running_call& call_;
  std::function<void(const call_note&)> noted_;
  int signals_ = -1;
  std::uint64_t wanted_ = 0;
  bool input_ended_ = false;
  int unwritable_ = 0;
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

stream_end run_stream(target& at, call_spec spec, stream_ends ends, std::function<void(const call_note&)> noted) {
  auto in = std::make_shared<inbox>();
  spec.credit = window;
  auto started = at.start(std::move(spec), in);
  if (!started)
    return {std::move(started.error()), 0, false};
  return pump{ends, in, **started, std::move(noted)}.run();
}

} // namespace paddock::cli
