#include "guest/agent/shutdown.hpp"

#include "guest/agent/connection.hpp"
#include "guest/agent/flusher.hpp"
#include "guest/agent/quiescing.hpp"
#include "guest/flush.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using error_code = boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr auto poll_interval = 25ms;
constexpr auto delivery_bound = 1s; // for what is already queued to hosts when everything else is over

} // namespace

shutdown_run::shutdown_run(std::shared_ptr<agent_core> core, std::function<void()> done) :
  core_(std::move(core)),
  done_(std::move(done)),
  watchdog_(core_->io),
  step_(core_->io),
  deadline_(clock::now() + core_->config.shutdown_deadline) {
}

void shutdown_run::start() {
  core_->terminating = true;
  core_->quiescing = true;
  watchdog_.expires_at(deadline_);
  watchdog_.async_wait([self = shared_from_this()](error_code ec) {
    if (ec || !self->done_)
      return;
    self->core_->log("shutdown: the deadline has passed");
    self->finish();
  });
  asio::co_spawn(
    core_->io, [self = shared_from_this()] { return self->stop_what_runs(); }, asio::detached);
}

void shutdown_run::abandon() {
  done_ = nullptr;
  watchdog_.cancel();
  step_.cancel();
}

std::chrono::milliseconds shutdown_run::left() const {
  return std::max(0ms, std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - clock::now()));
}

asio::awaitable<void> shutdown_run::stop_what_runs() {
  auto self = shared_from_this();
  const auto& config = core_->config;
  auto until = deadline_ - flush_reserve(config.flush_timeout, config.shutdown_deadline);
  auto report = co_await stop_everything(core_, config.quiesce_grace, until);
  if (!done_)
    co_return;
  if (!report)
    core_->log("shutdown: quiesce: " + report.error());
  flush();
}

void shutdown_run::flush() {
  auto bound = shutdown_flush_bound(core_->config.flush_timeout, left());
  core_->flushing->flush(core_, bound, [self = shared_from_this()](const flush_end& how) {
    if (!self->done_)
      return;
    if (!how.code.empty())
      self->core_->log("shutdown: " + how.code + ": " + how.log_line);
    self->deliver(clock::now() + delivery_bound);
  });
}

void shutdown_run::deliver(clock::time_point until) {
  auto unsent = false;
  for (const auto& [id, each] : core_->connections)
    if (auto x = each.lock())
      unsent = unsent || x->unsent() > 0;
  if (!unsent || clock::now() >= until)
    return finish();
  step_.expires_after(poll_interval);
  step_.async_wait([self = shared_from_this(), until](error_code ec) {
    if (!ec && self->done_)
      self->deliver(until);
  });
}

void shutdown_run::finish() {
  watchdog_.cancel();
  step_.cancel();
  if (auto call = std::exchange(done_, nullptr))
    call();
}

} // namespace paddock::guest
