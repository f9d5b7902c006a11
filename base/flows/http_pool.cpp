#include "base/flows/http_pool.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <list>
#include <mutex>

namespace paddock {

namespace asio = boost::asio;

namespace {

using context_id = const void*;

context_id context_of(const asio::any_io_executor& lane) {
  return &asio::query(lane, asio::execution::context);
}

struct kept {
  std::uint64_t number;
  http_server_address to;
  context_id context;
  std::unique_ptr<wire> on;
  asio::steady_timer bell; // rings when it has waited too long
};

} // namespace

/// Outlives the pool for as long as a bell that has rung is not heard yet.
struct http_pool::state {
  explicit state(http_pool_limits x) : limits(x) {
  }
  const http_pool_limits limits;
  std::mutex guard;     // of what follows
  std::list<kept> idle; // the latest first
  std::uint64_t last = 0;
};

http_pool::http_pool(http_pool_limits limits) : state_(std::make_shared<state>(limits)) {
}

http_pool::~http_pool() {
  auto lock = std::lock_guard{state_->guard};
  state_->idle.clear();
}

std::unique_ptr<wire> http_pool::take(const http_server_address& to, const asio::any_io_executor& lane) {
  const auto context = context_of(lane);
  auto lock = std::lock_guard{state_->guard};
  auto& all = state_->idle;
  for (auto it = all.begin(); it != all.end();) {
    if (it->context != context || it->to != to) {
      ++it;
      continue;
    }
    auto on = std::move(it->on);
    it = all.erase(it);
    // Bytes that wait here belong to no request; over TLS they are a goodbye.
    if (!on->peer_closed(true))
      return on;
  }
  return nullptr;
}

void http_pool::keep(http_server_address to, const asio::any_io_executor& lane, std::unique_ptr<wire> on) {
  on->unbound();
  const auto context = context_of(lane);
  auto lock = std::lock_guard{state_->guard};
  auto& all = state_->idle;
  const auto number = ++state_->last;
  all.push_front(kept{number, std::move(to), context, std::move(on), asio::steady_timer{lane, state_->limits.longest_idle}});
  all.front().bell.async_wait([weak = std::weak_ptr{state_}, number](boost::system::error_code ec) {
    auto me = weak.lock();
    if (ec || !me)
      return;
    auto held = std::lock_guard{me->guard};
    std::erase_if(me->idle, [number](const kept& x) { return x.number == number; });
  });
  auto same = std::size_t{0};
  for (auto it = all.begin(); it != all.end();) {
    const auto surplus = it->context == context && it->to == all.front().to && ++same > state_->limits.idle_per_server;
    it = surplus ? all.erase(it) : std::next(it);
  }
  while (all.size() > state_->limits.idle)
    all.pop_back();
}

} // namespace paddock
