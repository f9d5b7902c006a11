#include "guest/agent/flusher.hpp"

#include "guest/agent/core.hpp"
#include "guest/agent/process.hpp"
#include "guest/agent/shell_child.hpp"
#include "guest/agent/unique_fd.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

using clock = std::chrono::steady_clock;

int sync_folder(const std::string& folder) {
  auto fd = unique_fd{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd)
    return errno;
  return ::syncfs(fd.get()) == 0 ? 0 : errno;
}

std::chrono::milliseconds since(clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
}

flush_end unconfirmed(const std::string& message) {
  return {"flush_unconfirmed", message, message, {}};
}

} // namespace

struct flusher::waiter {
  explicit waiter(asio::io_context& io, std::function<void(flush_end)> x) : bound(io), then(std::move(x)) {
  }

  void answer(flush_end how) {
    bound.cancel();
    how.took = since(begin);
    if (auto call = std::exchange(then, nullptr))
      call(std::move(how));
  }

  asio::steady_timer bound;
  clock::time_point begin = clock::now();
  std::function<void(flush_end)> then;
};

struct flusher::state : std::enable_shared_from_this<flusher::state> {
  state(asio::io_context& context, std::string folder, sync_call call) : io(context), workspace(std::move(folder)), sync(std::move(call)) {
  }

  // A call that began before a flush was asked for proves nothing for it, so those who come meanwhile get the next one.
  void run() {
    if (busy || next.empty())
      return;
    current = std::exchange(next, {});
    try {
      thread = std::thread{[self = shared_from_this(), guard = asio::make_work_guard(io)] {
        auto error = self->sync(self->workspace);
        auto& context = self->io;
        asio::post(context, [self, error] { self->finished(error); });
      }};
      busy = true;
    } catch (const std::system_error& e) {
      answer(unconfirmed(std::string{"no thread for the flush: "} + e.what()));
    }
  }

  void finished(int error) {
    if (thread.joinable())
      thread.join();
    busy = false;
    if (closed)
      return;
    if (error == 0)
      answer({});
    else if (error == ENOSYS)
      answer({"flush_unsupported", system_message(error, "syncfs", workspace), system_message(error, "syncfs", workspace), {}});
    else
      answer(unconfirmed(system_message(error, "syncfs", workspace)));
    run();
  }

  void answer(const flush_end& how) {
    for (const auto& each : std::exchange(current, {}))
      each->answer(how);
  }

  asio::io_context& io;
  std::string workspace;
  sync_call sync;
  bool busy = false;
  bool closed = false;
  std::thread thread;
  std::vector<std::shared_ptr<waiter>> current;
  std::vector<std::shared_ptr<waiter>> next;
};

flusher::flusher(asio::io_context& io, std::string workspace, sync_call sync) :
  state_(std::make_shared<state>(io, std::move(workspace), sync ? std::move(sync) : sync_call{sync_folder})) {
}

flusher::~flusher() {
  state_->closed = true;
  for (auto* list : {&state_->current, &state_->next})
    for (const auto& each : std::exchange(*list, {})) {
      each->then = nullptr;
      each->bound.cancel();
    }
  if (state_->thread.joinable())
    state_->thread.join();
}

void flusher::by_call(flush_bound bound, std::function<void(flush_end)> then) {
  auto made = std::make_shared<waiter>(state_->io, std::move(then));
  made->bound.expires_after(bound.limit);
  made->bound.async_wait([made, bound, weak = std::weak_ptr{state_}](boost::system::error_code ec) {
    if (ec)
      return;
    if (auto owner = weak.lock())
      std::erase(owner->next, made);
    made->answer(unconfirmed(flush_timeout_message(bound)));
  });
  state_->next.push_back(std::move(made));
  state_->run();
}

void flusher::flush(const std::shared_ptr<agent_core>& core, flush_bound bound, std::function<void(flush_end)> then) {
  const auto& command = core->config.flush_command;
  if (!command)
    return by_call(bound, std::move(then));
  if (::access(shell_program, X_OK) != 0)
    return then(
      {"flush_unsupported", std::string{shell_program} + " cannot be executed", std::string{shell_program} + " cannot be executed", {}});
  run_shell(core, *command, bound.limit, [bound, begin = clock::now(), then = std::move(then)](const shell_end& how) {
    auto end = flush_end{};
    if (how.not_started != 0)
      end = unconfirmed(system_message(how.not_started, "spawn", shell_program));
    else if (!how.status)
      end = unconfirmed(flush_timeout_message(bound));
    else if (how.status->exit_code != 0) {
      end = unconfirmed(flush_command_message(how.status->exit_code, how.status->signal, how.errors));
      end.log_line = flush_command_message(how.status->exit_code, how.status->signal, {});
    }
    end.took = since(begin);
    then(std::move(end));
  });
}

bool can_flush(const agent_core& core) {
  return !core.config.flush_command || ::access(shell_program, X_OK) == 0;
}

} // namespace paddock::guest
