#include "guest/agent/shell_child.hpp"

#include "guest/child_environment.hpp"
#include "guest/flush.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cerrno>
#include <csignal>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using error_code = boost::system::error_code;

namespace {

class shell_child : public std::enable_shared_from_this<shell_child> {
public:
  shell_child(std::shared_ptr<agent_core> core, process child, std::function<void(shell_end)> then) :
    core_(std::move(core)),
    pid_(child.pid),
    exit_(core_->io, child.exit.release()),
    out_(core_->io, child.out.release()),
    err_(core_->io, child.err.release()),
    bound_(core_->io),
    then_(std::move(then)) {
    core_->unreaped.insert(pid_);
  }

  ~shell_child() {
    if (!over_)
      end_group();
  }

  shell_child(const shell_child&) = delete;
  shell_child& operator=(const shell_child&) = delete;

  void start(std::chrono::milliseconds bound) {
    watch_exit();
    watch(out_);
    watch(err_);
    bound_.expires_after(bound);
    bound_.async_wait([self = shared_from_this()](error_code ec) {
      if (ec || self->over_)
        return;
      ::kill(-self->pid_, SIGKILL); // not reaped, so the number is its own
      self->answer({});
    });
  }

private:
  void watch_exit() {
    exit_.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](error_code ec) {
      if (ec)
        return;
      auto status = peek_exit(self->pid_);
      if (!status)
        return self->watch_exit();
      self->read(self->err_);
      self->over_ = true;
      reap(self->pid_);
      self->core_->unreaped.erase(self->pid_);
      auto ignored = error_code{};
      self->exit_.close(ignored);
      self->out_.close(ignored); // whoever it has left behind holds its pipes: they are not waited for
      self->err_.close(ignored);
      self->bound_.cancel();
      self->answer({status, 0, {}});
    });
  }

  void watch(asio::posix::stream_descriptor& fd) {
    fd.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this(), &fd](error_code ec) {
      if (!ec && self->read(fd))
        self->watch(fd);
    });
  }

  // False: its end.
  bool read(asio::posix::stream_descriptor& fd) {
    for (auto turn = 0; turn < 4 && fd.is_open(); ++turn) {
      auto n = ::read(fd.native_handle(), core_->scratch.data(), core_->scratch.size());
      if (n < 0)
        return errno == EAGAIN || errno == EINTR;
      if (n == 0)
        return false;
      if (&fd == &err_)
        errors_.append({core_->scratch.data(), static_cast<std::size_t>(n)});
    }
    return fd.is_open();
  }

  void end_group() {
    ::kill(-pid_, SIGKILL);
    reap(pid_);
    core_->unreaped.erase(pid_);
  }

  void answer(shell_end how) {
    auto then = std::exchange(then_, nullptr);
    if (!then || core_->destroyed)
      return;
    how.errors = errors_.text();
    then(std::move(how));
  }

  std::shared_ptr<agent_core> core_;
  pid_t pid_;
  asio::posix::stream_descriptor exit_;
  asio::posix::stream_descriptor out_;
  asio::posix::stream_descriptor err_;
  asio::steady_timer bound_;
  error_tail errors_;
  bool over_ = false;
  std::function<void(shell_end)> then_;
};

} // namespace

void run_shell(std::shared_ptr<agent_core> core, const std::string& command, std::chrono::milliseconds bound,
               std::function<void(shell_end)> then) {
  auto plan = process_plan{};
  plan.program = shell_program;
  plan.arguments = {"-c", command};
  plan.environment = child_environment(core->config.environment, {});
  plan.directory = ".";
  auto child = start_process(plan);
  if (!child) {
    // Not before this returns, as in every other case.
    auto how = shell_end{std::nullopt, child.error(), {}};
    boost::asio::post(core->io, [core, how = std::move(how), then = std::move(then)]() mutable {
      if (!core->destroyed)
        then(std::move(how));
    });
    return;
  }
  std::make_shared<shell_child>(std::move(core), std::move(*child), std::move(then))->start(bound);
}

} // namespace paddock::guest
