#include "workspace/flows/bind.hpp"
#include "workspace/flows/probe.hpp"
#include "workspace/flows/tasks.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

asio::awaitable<result<done>> probe_steps(task_world& on, held_task which, deadline until) {
  auto got = co_await probe_guest(on.on, which.sandbox_name, which.guest, until);
  if (!got.answer)
    co_return tl::unexpected{got.answer.error()};
  co_return done{};
}

asio::awaitable<result<done>> release_steps(task_world& on, held_task which, deadline until) {
  if (on.on.terminals != nullptr)
    co_await on.on.terminals->reap(which.guest, on.on.time, until);
  auto got = co_await ask(on.on, k8s::remove(path_of(on.on.how, which.what)), until);
  if (!got && !is_gone(got.error()))
    co_return tl::unexpected{of_write(operation::destroy, got.error())};
  co_return done{};
}

asio::awaitable<result<done>> renew_steps(task_world& on, held_task which, deadline until) {
  const auto dies_at = rfc3339_millis(on.on.time.wall() + on.how.lease);
  auto got = co_await ask(on.on, k8s::merge_patch(path_of(on.on.how, which.what), renewal_body(which.what.kind, dies_at)), until);
  if (!got)
    co_return tl::unexpected{failure{got.error()}};
  co_return done{};
}

/// Only under `pod-ip` is a pod followed ([C] 3.7).
asio::awaitable<result<std::optional<found_pod>>> reread_steps(task_world& on, held_task which, deadline until) {
  if (on.on.how.agent_address != settings::address::pod_ip)
    co_return std::optional<found_pod>{};
  const auto facts = ready_sandbox{};
  auto seen = co_await look_at_pods(on.on, which.sandbox_name, facts, std::nullopt, until);
  if (!seen)
    co_return std::optional<found_pod>{};
  auto choice = choose_pod(which.sandbox_name, seen->by_name, seen->listed, {}, settings::address::pod_ip);
  const auto* pod = std::get_if<take_pod>(&choice);
  if (pod == nullptr || pod->uid.text() == which.guest.token.reveal())
    co_return std::optional<found_pod>{};
  auto where = address_of(facts, *pod, which.sandbox_name, on.on.how);
  if (!where)
    co_return std::optional<found_pod>{};
  co_return found_pod{pod->uid, std::move(*where)};
}

} // namespace

asio::awaitable<result<done>> probe_task(task_world& on, held_task which, deadline until) {
  return without_throwing(probe_steps(on, std::move(which), until));
}

asio::awaitable<result<done>> release_task(task_world& on, held_task which, deadline until) {
  return without_throwing(release_steps(on, std::move(which), until));
}

asio::awaitable<result<done>> renew_task(task_world& on, held_task which, deadline until) {
  return without_throwing(renew_steps(on, std::move(which), until));
}

asio::awaitable<result<std::optional<found_pod>>> reread_task(task_world& on, held_task which, deadline until) {
  return without_throwing(reread_steps(on, std::move(which), until));
}

} // namespace paddock::workspace
