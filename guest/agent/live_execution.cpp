#include "guest/agent/live_execution.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto poll_interval = 25ms;
constexpr int wide_pipe = 1024 * 1024;
constexpr std::size_t little = 32 * 1024;
constexpr auto soon = 500us;
constexpr int hasty_turns = 8;
constexpr auto filling_time = 300us;
constexpr int reads_a_turn = 4; // then other connections get theirs

using clock = std::chrono::steady_clock; // bounds of real processes are real time

std::uint64_t ticks_since_boot() {
  auto now = timespec{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  auto a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * a_second + static_cast<std::uint64_t>(now.tv_nsec) * a_second / 1'000'000'000;
}

} // namespace

live_execution::live_execution(asio::io_context& io, const time_source& time, std::span<char> scratch, process child, rules x, events on) :
  io_(io),
  scratch_(scratch),
  pid_(child.pid),
  rules_(x),
  on_(std::move(on)),
  exit_(io, child.exit.release()),
  in_(io),
  out_(io, std::move(child.out), stream::out, x.max_output_bytes),
  err_(io, std::move(child.err), stream::err, x.max_output_bytes),
  timeout_(io),
  poll_(io),
  time_(time),
  started_at_(time.now()) {
  if (child.in)
    in_.assign(child.in.release());
}

live_execution::~live_execution() {
  abandon();
}

void live_execution::abandon() {
  if (!std::exchange(reaped_, true)) {
    ::kill(-pid_, SIGKILL);
    reap(pid_);
  }
  settled_ = true; // nothing is reported any more
  client_ = nullptr;
  waiting_.clear();
  auto ignored = boost::system::error_code{};
  exit_.close(ignored);
  in_.close(ignored);
  out_.fd.close(ignored);
  err_.fd.close(ignored);
  timeout_.cancel();
  poll_.cancel();
  out_.filling.cancel();
  err_.filling.cancel();
}

void live_execution::start(std::shared_ptr<execution_client> client, std::optional<std::string> input) {
  client_ = std::move(client);
  watch_exit();
  watch(out_);
  watch(err_);
  if (input) {
    feed(std::move(*input));
    end_input();
  }
  timeout_.expires_after(rules_.timeout);
  timeout_.async_wait([self = shared_from_this()](boost::system::error_code ec) {
    if (ec || self->settled_)
      return;
    // Not `self`: what waits for the end would keep what it waits for.
    self->terminate(cause::timeout, self->rules_.grace, [raw = self.get()](const std::optional<std::string>& failure) {
      if (failure)
        raw->fence("an execution could not be ended at its timeout");
    });
  });
}

// -- input -------------------------------------------------------------------------------------------------------------

void live_execution::feed(std::string bytes) {
  if (!in_.is_open() || input_ended_ || bytes.empty())
    return;
  input_.add(std::move(bytes));
  write_input();
}

void live_execution::end_input() {
  input_ended_ = true;
  write_input();
}

void live_execution::write_input() {
  if (!in_.is_open() || input_watched_)
    return;
  const auto got = input_.write_to(in_.native_handle());
  if (got.how == input_queue::end::refused)
    return close_input(); // the command has closed its stdin
  if (got.how == input_queue::end::full) {
    input_watched_ = true;
    in_.async_wait(asio::posix::descriptor_base::wait_write, [self = shared_from_this()](boost::system::error_code ec) {
      self->input_watched_ = false;
      if (!ec)
        self->write_input();
    });
  } else if (input_ended_) {
    return close_input();
  }
  if (auto client = client_; got.some && client)
    client->input_drained();
}

void live_execution::close_input() {
  auto ec = boost::system::error_code{};
  in_.close(ec);
  input_.clear();
  if (auto client = client_)
    client->input_drained();
}

// -- output ------------------------------------------------------------------------------------------------------------

void live_execution::watch(output_pipe& pipe) {
  pipe.fd.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this(), &pipe](boost::system::error_code ec) {
    if (!ec)
      self->read(pipe);
  });
}

void live_execution::read(output_pipe& pipe) {
  auto found = std::size_t{0};
  for (auto turn = 0; turn < reads_a_turn; ++turn) {
    auto client = client_;
    if (client && client->congested() && pipe.beyond == 0) {
      pipe.resting = true;
      return;
    }
    auto n = ::read(pipe.fd.native_handle(), scratch_.data(), scratch_.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      break;
    if (n <= 0) {
      auto ec = boost::system::error_code{};
      pipe.fd.close(ec);
      return check_settled();
    }
    found += static_cast<std::size_t>(n);
    pipe.beyond -= std::min(pipe.beyond, static_cast<std::size_t>(n));
    auto kept = pipe.cap.admit({scratch_.data(), static_cast<std::size_t>(n)});
    if (client && !kept.empty())
      client->take_output(pipe.which, kept);
  }
  read_again(pipe, found);
}

// A command that writes without a pause in small pieces would wake us for each: a pipe that fills meanwhile costs a fraction.
void live_execution::read_again(output_pipe& pipe, std::size_t found) {
  auto now = clock::now();
  auto goes_on = pipe.hasty == hasty_turns ? found > 0 : found < little && now - pipe.woken < soon;
  pipe.hasty = goes_on ? std::min(pipe.hasty + 1, hasty_turns) : 0;
  pipe.woken = now;
  auto flood = found >= little || pipe.hasty == hasty_turns;
  if (flood && !std::exchange(pipe.widened, true))
    ::fcntl(pipe.fd.native_handle(), F_SETPIPE_SZ, wide_pipe); // where it is refused the pipe stays as it is
  if (pipe.hasty < hasty_turns || found >= reads_a_turn * scratch_.size())
    return watch(pipe);
  pipe.filling.expires_after(filling_time);
  pipe.filling.async_wait([self = shared_from_this(), &pipe](boost::system::error_code ec) {
    if (!ec && pipe.fd.is_open())
      self->read(pipe);
  });
}

void live_execution::resume() {
  for (auto* pipe : {&out_, &err_})
    if (std::exchange(pipe->resting, false))
      watch(*pipe);
}

// A reader that is slow, or has stopped, must not keep a command that is gone from ending. What it left behind is at most what
// its pipes hold; whoever else holds them waits for the reader as before.
void live_execution::take_rest() {
  for (auto* pipe : {&out_, &err_})
    if (pipe->fd.is_open())
      if (const auto held = ::fcntl(pipe->fd.native_handle(), F_GETPIPE_SZ); held > 0)
        pipe->beyond = static_cast<std::size_t>(held) + 1; // and sees that this was all
  resume();
}

void live_execution::detach() {
  client_ = nullptr;
  resume();
}

// -- the end -----------------------------------------------------------------------------------------------------------

void live_execution::watch_exit() {
  exit_.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](boost::system::error_code ec) {
    if (ec)
      return;
    self->exited_ = peek_exit(self->pid_);
    if (!self->exited_)
      return self->watch_exit();
    auto ignored = boost::system::error_code{};
    self->exit_.close(ignored);
    self->on_.leader_exited();
    self->poll_.cancel();
    self->check_settled();
  });
}

void live_execution::check_settled() {
  if (!exited_ || out_.fd.is_open() || err_.fd.is_open() || judging_ || settled_)
    return;
  judging_ = true;
  if (!group_alive())
    return settle();
  asio::co_spawn(
    io_, [self = shared_from_this()] { return self->judge_survivors(); }, asio::detached);
}

bool live_execution::group_alive() {
  if (group_gone_)
    return false;
  if (!exited_)
    return true;
  // A zombie counts as a member of its group, so the leader has to go before the others can be seen. From here on the
  // number may become another's: it is asked about, and never signalled.
  if (!std::exchange(reaped_, true)) {
    reap(pid_);
    reaped_at_ = ticks_since_boot();
  }
  reap_members(pid_); // orphans of the command that have exited as well
  group_gone_ = ::kill(-pid_, 0) != 0 && errno == ESRCH;
  return !group_gone_;
}

void live_execution::signal_group(int number) {
  if (!reaped_)
    ::kill(-pid_, number);
}

asio::awaitable<void> live_execution::pause(clock::time_point no_later_than) {
  poll_.expires_at(std::min(clock::now() + poll_interval, no_later_than));
  [[maybe_unused]] auto [ec] = co_await poll_.async_wait(asio::as_tuple(asio::use_awaitable));
}

// The group-survival rule: the pipes are closed and the leader is gone, but the group has members.
asio::awaitable<void> live_execution::judge_survivors() {
  auto self = shared_from_this();
  auto begin = clock::now();
  auto until = [this, begin] {
    return begin + (cause_ || patient_ ? std::chrono::milliseconds{rules_.confirm} : std::chrono::milliseconds{poll_interval});
  };
  auto timer = asio::steady_timer{io_};
  while (clock::now() < until()) {
    timer.expires_at(std::min(clock::now() + poll_interval, until()));
    [[maybe_unused]] auto [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!group_alive()) {
      settle();
      co_return;
    }
  }
  severed_ = true;
  timeout_.cancel();
  fence("processes of an execution outlived it");
  if (auto client = std::exchange(client_, nullptr))
    client->sever();
}

void live_execution::settle() {
  if (settled_)
    return;
  settled_ = true;
  timeout_.cancel();
  auto ignored = boost::system::error_code{};
  in_.close(ignored);
  input_.clear();
  auto end = execution_end{};
  end.started = true;
  end.outcome = cause_ && *cause_ != cause::timeout ? execution_outcome::cancelled : execution_outcome::completed;
  auto result = execution_result{};
  result.exit_code = exited_->exit_code;
  result.signal = exited_->signal;
  result.timed_out = cause_ == cause::timeout;
  result.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(time_.now() - started_at_).count();
  result.out_truncated = out_.cap.truncated();
  result.err_truncated = err_.cap.truncated();
  end.result = result;
  end_ = end;
  on_.settled(end);
  if (auto client = std::exchange(client_, nullptr))
    client->ended(end);
  poll_.cancel();
}

void live_execution::fence(std::string_view reason) {
  on_.fence(reason);
}

void live_execution::mark_quiesced() {
  if (settled_)
    return;
  patient_ = true;
  if (!exited_ && !cause_)
    cause_ = cause::quiesced;
}

// -- termination -------------------------------------------------------------------------------------------------------

void live_execution::terminate(cause why, std::chrono::milliseconds grace, std::function<void(std::optional<std::string>)> then) {
  if (settled_)
    return then(std::nullopt);
  waiting_.push_back(std::move(then));
  if (std::exchange(terminating_, true))
    return;
  asio::co_spawn(
    io_, [self = shared_from_this(), why, grace] { return self->terminate_once(why, grace); }, asio::detached);
}

asio::awaitable<void> live_execution::terminate_once(cause why, std::chrono::milliseconds grace) {
  auto self = shared_from_this();
  auto failure = co_await run_termination(why, grace);
  terminating_ = false;
  auto waiting = std::exchange(waiting_, {});
  for (auto& then : waiting)
    then(failure);
}

asio::awaitable<std::optional<std::string>> live_execution::run_termination(cause why, std::chrono::milliseconds grace) {
  auto until = clock::now() + rules_.confirm;
  if (!exited_) {
    if (!cause_)
      cause_ = why;
    signal_group(SIGTERM);
    auto patience = std::min(clock::now() + grace, until);
    while (group_alive() && clock::now() < patience)
      co_await pause(patience);
    if (group_alive()) {
      if (exited_)
        co_return std::string{"the leader has exited while other members of its process group are alive"};
      signal_group(SIGKILL);
      while (group_alive() && clock::now() < until)
        co_await pause(until);
      if (group_alive())
        co_return std::string{"the process group outlived SIGKILL"};
    }
  }
  take_rest();
  while (!settled_ && !severed_ && clock::now() < until)
    co_await pause(until);
  if (!settled_)
    co_return std::string{"the execution did not settle in time"};
  co_return std::nullopt;
}

} // namespace paddock::guest
