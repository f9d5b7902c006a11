#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/flows/tasks.hpp"
#include "workspace/flows/verbs_steps.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

constexpr auto most_at_once = std::size_t{64};

/// Sends all of it, so many requests at once, and waits until each was answered.
asio::awaitable<std::vector<k8s::result<k8s::answer>>> ask_all(world& on, std::vector<k8s::call> all, deadline until) {
  auto lane = co_await asio::this_coro::executor;
  const auto start = [&](const k8s::call& x) { return asio::co_spawn(lane, without_throwing(ask(on, x, until)), asio::deferred); };
  const auto wait = asio::experimental::wait_for_all{};
  auto got = std::vector<k8s::result<k8s::answer>>{};
  while (got.size() < all.size()) {
    auto running = std::vector<decltype(start(all.front()))>{};
    for (auto next = got.size(); next < all.size() && running.size() < most_at_once; ++next)
      running.push_back(start(all[next]));
    auto group = asio::experimental::make_parallel_group(std::move(running));
    auto [order, broken, answers] = co_await group.async_wait(wait, asio::use_awaitable);
    for (const auto& x : broken)
      if (x)
        std::rethrow_exception(x);
    std::ranges::move(answers, std::back_inserter(got));
  }
  co_return got;
}

asio::awaitable<result<released_tasks>> release_steps(task_world& on, std::string selector, deadline until) {
  if (selector.empty())
    co_return tl::unexpected{failure{illegal_argument{"the selector of the claims to release is empty: that would be all of them"}}};
  const auto& name_space = on.on.how.name_space;
  auto listed = co_await read(on.on, k8s::with_selector(k8s::claims_path(name_space), selector), until);
  if (!listed)
    co_return tl::unexpected{failure{listed.error()}};
  auto got = released_tasks{};
  auto deletes = std::vector<k8s::call>{};
  for (const auto& x : k8s::items_of(*listed))
    if (auto name = k8s::text_at(x, "/metadata/name")) {
      deletes.push_back(k8s::remove(k8s::claims_path(name_space, *name)));
      got.names.push_back(std::move(*name));
    }
  auto answers = co_await ask_all(on.on, std::move(deletes), until);
  for (const auto& x : answers)
    if (!x && !is_gone(x.error()))
      co_return tl::unexpected{of_write("releaseTasks", x.error())};
  co_return got;
}

asio::awaitable<result<task_capacity>> capacity_steps(task_world& on, std::optional<std::string> pool, deadline until) {
  if (!pool)
    pool = on.how.pool;
  if (!pool)
    co_return tl::unexpected{failure{illegal_argument{"no pool is named and none is configured"}}};
  const auto& name_space = on.on.how.name_space;
  auto reads = std::vector<k8s::call>{};
  for (auto& path : {k8s::warm_pool_path(name_space, *pool), k8s::claims_path(name_space), k8s::pods_path(name_space)})
    reads.push_back(k8s::get(path));
  auto answers = co_await ask_all(on.on, std::move(reads), until);
  auto objects = std::vector<nlohmann::json>{};
  for (auto& x : answers) {
    if (!x)
      co_return tl::unexpected{failure{x.error()}};
    objects.push_back(x->value_or(nlohmann::json::object()));
  }
  co_return capacity_of(*pool, objects[0], objects[1], objects[2]);
}

} // namespace

asio::awaitable<result<released_tasks>> release_selected_tasks(task_world& on, std::string selector, deadline until) {
  return without_throwing(release_steps(on, std::move(selector), until));
}

asio::awaitable<result<task_capacity>> read_task_capacity(task_world& on, std::optional<std::string> pool, deadline until) {
  return without_throwing(capacity_steps(on, std::move(pool), until));
}

} // namespace paddock::workspace
