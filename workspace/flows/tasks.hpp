#pragma once

#include "workspace/flows/verbs.hpp"
#include "workspace/task.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace paddock::workspace {

/// What the steps of a task sandbox act on. Lives as long as the program.
struct task_world {
  world& on;
  task_settings how;
};

// The steps of a task sandbox's life ([C] 3): `workspace/task_ports.hpp` says what each promises. Cancelling the coroutine is the
// caller's withdrawal. They never throw.

boost::asio::awaitable<result<task_plan>> plan_task(task_world& on, task_request what, deadline until);
boost::asio::awaitable<result<held_task>> make_task(task_world& on, task_plan what);
boost::asio::awaitable<result<done>> probe_task(task_world& on, held_task which, deadline until);
boost::asio::awaitable<result<done>> release_task(task_world& on, held_task which, deadline until);
boost::asio::awaitable<result<done>> renew_task(task_world& on, held_task which, deadline until);
boost::asio::awaitable<result<std::optional<found_pod>>> reread_task(task_world& on, held_task which, deadline until);
boost::asio::awaitable<result<released_tasks>> release_selected_tasks(task_world& on, std::string selector, deadline until);
boost::asio::awaitable<result<task_capacity>> read_task_capacity(task_world& on, std::optional<std::string> pool, deadline until);

} // namespace paddock::workspace
