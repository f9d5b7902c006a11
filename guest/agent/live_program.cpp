#include "guest/agent/live_program.hpp"

#include "guest/agent/session_table.hpp"
#include "guest/child_environment.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using error_code = boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr auto poll_interval = 25ms;
constexpr auto reopen_interval = 100ms; // a terminal that nobody has open may be opened again
constexpr int reads_a_turn = 4;         // then other connections get theirs
constexpr int ending_rounds = 8;

// A terminal or a pipe holds less than this. What others go on printing after the program is not its output.
constexpr std::size_t drain_bound = 256 * 1024;

std::optional<session_exit> peek_session_exit(pid_t child) {
  auto info = siginfo_t{};
  if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return std::nullopt;
  if (info.si_code == CLD_EXITED)
    return session_exit{info.si_status, std::nullopt};
  return session_exit{-1, info.si_status};
}

bool holds_nul(const session_program& run, const std::vector<std::string>& environment) {
  auto nul = [](const std::string& x) { return x.find('\0') != std::string::npos; };
  return nul(run.program) || std::any_of(run.arguments.begin(), run.arguments.end(), nul)
         || std::any_of(environment.begin(), environment.end(), nul);
}

} // namespace

tl::expected<std::shared_ptr<live_program>, std::string> live_program::start(std::shared_ptr<agent_core> core, const session_program& run,
                                                                             std::optional<terminal_size> size) {
  auto plan = process_plan{};
  plan.program = run.program;
  plan.arguments = run.arguments;
  plan.environment = child_environment(core->config.environment, run.environment);
  plan.directory = run.directory;
  if (holds_nul(run, plan.environment))
    return tl::unexpected{std::string{"spawn: a string holds a NUL byte"}};
  auto terminal = pty{};
  if (size) {
    auto made = open_pty(*size);
    if (!made)
      return tl::unexpected{made.error()};
    terminal = std::move(*made);
    plan.terminal = terminal.slave;
  }
  auto child = start_process(plan);
  if (!child)
    return tl::unexpected{"spawn " + run.program + " " + errno_name(child.error())};
  core->owned_sessions.insert(child->pid);
  core->unreaped.insert(child->pid);
  auto& table = *core->sessions;
  auto result = std::make_shared<live_program>(std::move(core), std::move(*child), std::move(terminal.master));
  table.programs.insert(result);
  return result;
}

live_program::live_program(std::shared_ptr<agent_core> core, process child, unique_fd master) :
  core_(std::move(core)),
  pid_(child.pid),
  on_terminal_(master),
  exit_(core_->io, child.exit.release()),
  out_(core_->io, on_terminal_ ? std::move(master) : std::move(child.out), stream::out),
  err_(core_->io, std::move(child.err), stream::err),
  retry_(core_->io),
  left_to_drain_(drain_bound) {
}

live_program::~live_program() {
  if (auto left = abandon()) {
    ::kill(-*left, SIGKILL);
    reap(*left);
  }
}

std::optional<pid_t> live_program::abandon() {
  close_all();
  auto ignored = error_code{};
  exit_.close(ignored);
  owner_.reset();
  core_->unreaped.erase(pid_);
  core_->owned_sessions.erase(pid_);
  return std::exchange(reaped_, true) ? std::nullopt : std::optional{pid_};
}

void live_program::close_all() {
  auto ignored = error_code{};
  out_.fd.close(ignored);
  err_.fd.close(ignored);
  retry_.cancel();
}

void live_program::watch(std::weak_ptr<program_owner> owner) {
  owner_ = std::move(owner);
  watch_exit();
  watch_output(out_);
  watch_output(err_);
}

// -- output ------------------------------------------------------------------------------------------------------------

void live_program::watch_output(output& x) {
  if (!x.fd.is_open())
    return;
  x.fd.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this(), &x](error_code ec) {
    if (!ec)
      self->read(x);
  });
}

void live_program::read(output& x) {
  if (exited_ && !ended_)
    return drain();
  for (auto turn = 0; turn < reads_a_turn && x.fd.is_open(); ++turn) {
    if (auto owner = owner_.lock(); owner && !ended_ && owner->congested()) {
      x.resting = true;
      return;
    }
    auto got = read_once(x);
    if (got == found::end)
      return at_end(x);
    if (got == found::nothing_yet)
      break;
  }
  watch_output(x);
}

live_program::found live_program::read_once(output& x) {
  // A terminal gives 4 KiB at a time: several make one frame.
  auto& scratch = core_->scratch;
  auto size = std::size_t{0};
  auto result = found::more;
  while (size < scratch.size()) {
    auto n = ::read(x.fd.native_handle(), scratch.data() + size, scratch.size() - size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      result = n < 0 && errno == EAGAIN ? found::nothing_yet : found::end;
      break;
    }
    size += static_cast<std::size_t>(n);
  }
  if (exited_)
    left_to_drain_ -= std::min(left_to_drain_, size);
  if (auto owner = owner_.lock(); owner && size > 0 && !ended_)
    owner->take_output(x.which, {scratch.data(), size});
  return result;
}

void live_program::at_end(output& x) {
  auto ignored = error_code{};
  if (!on_terminal_ || exited_) {
    x.fd.close(ignored);
    return;
  }
  // Closing the master would hang the program up, and it may open its terminal again.
  retry_.expires_after(reopen_interval);
  retry_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec && self->out_.fd.is_open())
      self->read(self->out_);
  });
}

void live_program::resume() {
  for (auto* x : {&out_, &err_}) {
    if (!std::exchange(x->resting, false))
      continue;
    if (exited_ && !ended_)
      drain();
    else
      watch_output(*x);
  }
}

// -- input -------------------------------------------------------------------------------------------------------------

void live_program::feed(std::string bytes) {
  if (!on_terminal_ || exited_ || !out_.fd.is_open() || bytes.empty())
    return;
  input_.add(std::move(bytes));
  write_input();
}

void live_program::write_input() {
  if (input_watched_ || !out_.fd.is_open())
    return;
  const auto got = input_.write_to(out_.fd.native_handle());
  if (got.how == input_queue::end::refused)
    return drop_input();
  if (got.how == input_queue::end::full) {
    input_watched_ = true;
    out_.fd.async_wait(asio::posix::descriptor_base::wait_write, [self = shared_from_this()](error_code ec) {
      self->input_watched_ = false;
      if (!ec)
        self->write_input();
    });
  }
  if (auto owner = owner_.lock(); owner && got.some)
    owner->input_drained();
}

void live_program::drop_input() {
  input_.clear();
  if (auto owner = owner_.lock())
    owner->input_drained();
}

void live_program::resize(terminal_size size) {
  if (on_terminal_ && out_.fd.is_open())
    resize_pty(out_.fd.native_handle(), size);
}

// -- the end -----------------------------------------------------------------------------------------------------------

void live_program::watch_exit() {
  exit_.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](error_code ec) {
    if (ec)
      return;
    self->exited_ = peek_session_exit(self->pid_);
    if (!self->exited_)
      return self->watch_exit();
    auto ignored = error_code{};
    self->exit_.close(ignored);
    self->retry_.cancel();
    self->drop_input();
    self->drain();
    self->reap_unwanted();
  });
}

// All that the program had printed is in the terminal or the pipes by now.
void live_program::drain() {
  for (auto* x : {&out_, &err_})
    while (x->fd.is_open() && left_to_drain_ > 0) {
      if (auto owner = owner_.lock(); owner && owner->congested()) {
        x->resting = true;
        return;
      }
      auto got = read_once(*x);
      if (got == found::end)
        at_end(*x);
      if (got != found::more)
        break;
    }
  if (std::exchange(ended_, true))
    return;
  if (on_terminal_) {
    close_all();
  } else {
    // Who was left behind with the pipes is neither blocked nor broken by them.
    out_.resting = false;
    err_.resting = false;
    watch_output(out_);
    watch_output(err_);
  }
  if (auto owner = owner_.lock())
    owner->ended(*exited_);
}

void live_program::signal(int number, std::function<void(std::size_t)> then) {
  if (reaped_) {
    if (then)
      then(0);
    return;
  }
  ++pins_;
  asio::co_spawn(
    core_->io, [self = shared_from_this(), number, then = std::move(then)] { return self->signal_once(number, then); }, asio::detached);
}

asio::awaitable<void> live_program::signal_once(int number, std::function<void(std::size_t)> then) {
  auto self = shared_from_this();
  auto reached = co_await signal_session(core_->sessions->scanner, pid_, number);
  unpin();
  if (then && !core_->destroyed)
    then(reached.signalled);
}

void live_program::rest() {
  if (reaped_)
    return;
  ++pins_;
  asio::co_spawn(
    core_->io, [self = shared_from_this()] { return self->rest_when_alone(); }, asio::detached);
}

asio::awaitable<void> live_program::rest_when_alone() {
  auto self = shared_from_this();
  if (co_await count_members(core_->sessions->scanner, pid_) == 0)
    unwanted_ = true;
  unpin();
}

void live_program::let_go() {
  unwanted_ = true;
  reap_unwanted();
}

void live_program::unpin() {
  --pins_;
  reap_unwanted();
}

void live_program::reap_unwanted() {
  if (!unwanted_ || pins_ > 0 || !exited_ || reaped_)
    return;
  reaped_ = true;
  reap(pid_);
  core_->unreaped.erase(pid_);
  core_->owned_sessions.erase(pid_);
  core_->sessions->programs.erase(shared_from_this());
}

void live_program::end_all() {
  owner_.reset();
  resume();
  if (exited_ || ending_all_)
    return let_go();
  ending_all_ = true;
  ++pins_;
  asio::co_spawn(
    core_->io, [self = shared_from_this()] { return self->end_rounds(); }, asio::detached);
}

asio::awaitable<void> live_program::end_rounds() {
  auto self = shared_from_this();
  auto timer = asio::steady_timer{core_->io};
  for (auto round = 0; round < ending_rounds && !reaped_; ++round) {
    auto leaderless = exited_.has_value();
    auto reached = co_await signal_session(core_->sessions->scanner, pid_, SIGKILL);
    if (leaderless && reached.all_over)
      break;
    timer.expires_after(poll_interval);
    [[maybe_unused]] auto [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  unwanted_ = true;
  unpin();
}

} // namespace paddock::guest
