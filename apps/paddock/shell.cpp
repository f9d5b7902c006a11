#include "apps/paddock/shell.hpp"

#include "apps/paddock/terminal.hpp"
#include "client/stream.hpp"
#include "messages/error.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace paddock::cli {

namespace {

constexpr std::uint64_t escape_room = 2; // a `~` that was held back comes with the next key

class joined_terminals {
public:
  joined_terminals(client::call& call, raw_mode& mode, std::uint64_t from) : call_(call), mode_(mode) {
    end_.next_offset = from;
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const auto number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT})
      sigaddset(&wanted, number);
    signals_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~joined_terminals() {
    ::close(signals_);
  }
  joined_terminals(const joined_terminals&) = delete;
  joined_terminals& operator=(const joined_terminals&) = delete;

  shell_end run() {
    for (;;) {
      while (auto x = call_.next(std::chrono::milliseconds::zero()))
        if (std::visit([this](auto& one) { return on(one); }, *x))
          return std::move(end_);
      const auto may_read = !input_ended_ && wanted_ >= escape_room + 1;
      std::array<pollfd, 3> ready = {{{call_.bell(), POLLIN, 0}, {signals_, POLLIN, 0}, {may_read ? STDIN_FILENO : -1, POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), -1);
      if (ready[1].revents != 0)
        on_signal();
      if (ready[2].revents != 0)
        read_keys();
    }
  }

private:
  bool on(client::output_piece& x) {
    if (!client::write_all(STDOUT_FILENO, x.content))
      leave(); // nobody sees it any more
    return false;
  }
  bool on(client::input_wanted& x) {
    wanted_ += x.bytes;
    return false;
  }
  bool on(call_note& x) {
    if (x.what == "gap" || x.dropped_bytes > 0)
      say("\r\n[" + std::to_string(x.dropped_bytes) + " bytes of output are gone]\r\n");
    return false;
  }
  bool on(call_end& x) {
    end_.next_offset = std::max(end_.next_offset, x.next_offset);
    end_.how = std::move(x);
    return true;
  }
  bool on(problem& x) {
    end_.how = std::move(x);
    return true;
  }

  void on_signal() {
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof info) == sizeof info) {
      const auto which = static_cast<int>(info.ssi_signo);
      if (which == SIGWINCH || which == SIGCONT) {
        if (which == SIGCONT)
          mode_.enter();
        const auto [columns, rows] = window_of(STDIN_FILENO);
        call_.resize(columns, rows);
        continue;
      }
      if (end_.signal != 0) {
        mode_.restore();
        ::_exit(128 + which);
      }
      end_.signal = which;
      leave();
    }
  }

  void read_keys() {
    std::array<char, 16 * 1024> keys;
    const auto n = ::read(STDIN_FILENO, keys.data(), std::min<std::size_t>(keys.size(), wanted_ - escape_room));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
      return;
    if (n <= 0) {
      input_ended_ = true;
      call_.input({}, true);
      return;
    }
    const auto read = std::string_view{keys.data(), static_cast<std::size_t>(n)};
    if (!mode_.is_terminal()) {
      send(read);
      return;
    }
    const auto got = escapes_.take(read);
    send(got.input);
    for (const auto order : got.orders)
      obey(order);
  }
  void send(std::string_view input) {
    if (input.empty())
      return;
    wanted_ -= std::min<std::uint64_t>(wanted_, input.size());
    const auto* first = reinterpret_cast<const std::byte*>(input.data());
    call_.input(bytes(first, first + input.size()), false);
  }
  void obey(escape_reader::order x) {
    switch (x) {
      case escape_reader::order::leave:
        end_.left = true;
        leave();
        break;
      case escape_reader::order::stop:
        mode_.restore();
        std::raise(SIGSTOP);
        mode_.enter();
        break;
      case escape_reader::order::help: say(escape_help()); break;
    }
  }
  void leave() {
    call_.leave();
  }
  static void say(std::string_view text) {
    [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text.data(), text.size());
  }

  client::call& call_;
  raw_mode& mode_;
  escape_reader escapes_;
  int signals_ = -1;
  std::uint64_t wanted_ = 0;
  bool input_ended_ = false;
  shell_end end_;
};

} // namespace

shell_end run_shell(const client::target& at, shell_spec what) {
  const auto [columns, rows] = window_of(STDIN_FILENO);
  what.columns = columns;
  what.rows = rows;
  const auto from = what.from;
  auto started = at.start(std::move(what));
  if (!started)
    return {std::move(started.error()), false, 0, 0};
  raw_mode mode;
  mode.enter();
  return joined_terminals{*started, mode, from}.run();
}

} // namespace paddock::cli
