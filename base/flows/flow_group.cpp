#include "base/flows/flow_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace paddock {

namespace {

/// One flow. `stop` and the flags are touched on the strand only.
struct running {
  boost::asio::cancellation_signal stop;
  bool begun = false;
  bool withdrawn = false;

  void cancel() {
    withdrawn = true;
    if (begun)
      stop.emit(boost::asio::cancellation_type::terminal);
  }
};

using starter = std::function<boost::asio::awaitable<void>()>;

boost::asio::awaitable<void> carry(std::shared_ptr<running> me, starter flow) {
  // A withdrawn flow sees failed operations and not exceptions between them.
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  me->begun = true;
  if (me->withdrawn)
    me->cancel();
  co_await flow();
}

/// Ends the process when `error` is not what a withdrawal looks like.
void judge(std::exception_ptr error, bool withdrawn) {
  if (!error)
    return;
  auto text = std::string{"not a std::exception"};
  try {
    std::rethrow_exception(error);
  } catch (const boost::system::system_error& x) {
    if (withdrawn && x.code() == boost::asio::error::operation_aborted)
      return;
    text = x.what();
  } catch (const std::exception& x) {
    text = x.what();
  } catch (...) {
  }
  std::fprintf(stderr, "paddock: a flow threw: %s\n", text.c_str());
  std::terminate();
}

} // namespace

struct flow_group::state {
  explicit state(boost::asio::any_io_executor lane) : strand(boost::asio::make_strand(std::move(lane))) {
  }
  boost::asio::strand<boost::asio::any_io_executor> strand;
  std::mutex guard; // of what follows
  std::map<ticket, std::shared_ptr<running>> live;
  ticket next = ticket{1} << 63; // apart from the callers' own
  bool closed = false;
  std::vector<std::function<void()>> waiting;

  void ended(ticket name) {
    auto tell = std::vector<std::function<void()>>{};
    {
      auto lock = std::lock_guard{guard};
      live.erase(name);
      if (closed && live.empty())
        tell = std::exchange(waiting, {});
    }
    for (auto& x : tell)
      x();
  }

  static bool launch(const std::shared_ptr<state>& self, ticket name, starter flow) {
    auto me = std::make_shared<running>();
    {
      auto lock = std::lock_guard{self->guard};
      if (self->closed || !self->live.emplace(name, me).second)
        return false;
    }
    boost::asio::post(self->strand, [self, name, me, flow = std::move(flow)]() mutable {
      auto done = [self, name, me](std::exception_ptr error) {
        judge(error, me->withdrawn);
        self->ended(name);
      };
      boost::asio::co_spawn(self->strand, carry(me, std::move(flow)),
                            boost::asio::bind_cancellation_slot(me->stop.slot(), std::move(done)));
    });
    return true;
  }

  static void shut(const std::shared_ptr<state>& self, std::function<void()> empty) {
    auto still = std::vector<std::shared_ptr<running>>{};
    {
      auto lock = std::lock_guard{self->guard};
      self->closed = true;
      for (const auto& [name, flow] : self->live)
        still.push_back(flow);
      if (empty && !still.empty())
        self->waiting.push_back(std::exchange(empty, nullptr));
    }
    if (still.empty() && !empty)
      return;
    boost::asio::post(self->strand, [self, still = std::move(still), empty = std::move(empty)] {
      for (const auto& flow : still)
        flow->cancel();
      if (empty)
        empty();
    });
  }
};

flow_group::flow_group(boost::asio::any_io_executor lane) : state_(std::make_shared<state>(std::move(lane))) {
}

flow_group::~flow_group() {
  state::shut(state_, nullptr);
}

flow_group::ticket flow_group::start(starter flow) {
  auto name = ticket{0};
  {
    auto lock = std::lock_guard{state_->guard};
    name = state_->next++;
  }
  return state::launch(state_, name, std::move(flow)) ? name : 0;
}

bool flow_group::start(ticket name, starter flow) {
  return state::launch(state_, name, std::move(flow));
}

void flow_group::cancel(ticket name) {
  auto found = std::shared_ptr<running>{};
  {
    auto lock = std::lock_guard{state_->guard};
    if (auto it = state_->live.find(name); it != state_->live.end())
      found = it->second;
  }
  if (found)
    boost::asio::post(state_->strand, [found] { found->cancel(); });
}

void flow_group::close(std::function<void()> empty) {
  state::shut(state_, std::move(empty));
}

boost::asio::any_io_executor flow_group::executor() const {
  return state_->strand;
}

} // namespace paddock
