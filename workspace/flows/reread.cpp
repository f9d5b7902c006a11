#include "workspace/flows/reread.hpp"

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/flows/bind.hpp"
#include "workspace/flows/fenced.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

constexpr auto look_bound = std::chrono::milliseconds{5'000};

using reread_answer = result<std::optional<found_pod>>;

/// The live pod of a Sandbox that was read. Nothing: there is none to bind, or it could not be told.
asio::awaitable<std::optional<found_pod>> find_pod(world& on, id which, ready_sandbox from, session now, deadline until) {
  const auto owner = now.sandbox ? now.sandbox : from.uid;
  auto seen = co_await look_at_pods(on, which.sandbox_name(), from, owner, until);
  if (!seen)
    co_return std::nullopt;
  auto choice = choose_pod(which.sandbox_name(), seen->by_name, seen->listed, bind_policy{false, now.retired_pod}, on.how.agent_address);
  const auto* pod = std::get_if<take_pod>(&choice);
  if (pod == nullptr)
    co_return std::nullopt;
  auto where = address_of(from, *pod, which.sandbox_name(), on.how);
  if (!where)
    co_return std::nullopt;
  co_return found_pod{pod->uid, std::move(*where)};
}

asio::awaitable<reread_answer> reread_steps(world& on, id which, session now, deadline until) {
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object && is_gone(object.error()))
    co_return tl::unexpected{failure{replaced{which.text(), which.sandbox_name(), now.sandbox, std::nullopt}}};
  if (!object)
    co_return std::optional<found_pod>{};
  const auto seen = k8s::read_sandbox(*object);
  // Whoever suspended the Sandbox of this session, it has no pod to go to: who explains the failure tells of the suspend.
  if (seen.mode == k8s::operating_mode::suspended && (!now.sandbox || seen.uid == now.sandbox))
    co_return std::optional<found_pod>{};
  auto mine = admit(write_target(which, operation::rebind, holder_of(now)), *object);
  if (!mine)
    co_return tl::unexpected{mine.error()};
  auto pod = co_await find_pod(on, which, read_for_bind(*object), now, until);
  if (pod && pod->pod == now.pod)
    pod.reset();
  co_return pod;
}

asio::awaitable<agent_health> ask_agent(world& on, std::optional<guest::endpoint> where) {
  if (!where)
    co_return agent_health::unreachable;
  auto got = co_await on.guests.look(*where, deadline{on.time, look_bound});
  if (got && got->retiring)
    co_return agent_health::retiring;
  co_return got && got->ok ? agent_health::ok : agent_health::unreachable;
}

asio::awaitable<guest_look> look_at_guest(world& on, id which, session now) {
  const auto until = deadline{on.time, look_bound};
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object)
    co_return guest_look{is_gone(object.error()) ? guest_look::found::stranger : guest_look::found::failed};
  const auto seen = k8s::read_sandbox(*object);
  if (now.sandbox && seen.uid != now.sandbox)
    co_return guest_look{guest_look::found::stranger};
  if (seen.mode == k8s::operating_mode::suspended || !seen.ready)
    co_return guest_look{guest_look::found::no_pod};
  auto pod = co_await find_pod(on, which, read_for_bind(*object), now, until);
  if (!pod)
    co_return guest_look{guest_look::found::failed};
  co_return guest_look{guest_look::found::pod, std::move(pod->pod)};
}

} // namespace

asio::awaitable<reread_answer> reread(world& on, id which, session now, deadline until) {
  return without_throwing(reread_steps(on, std::move(which), std::move(now), until));
}

asio::awaitable<transition<done>> notice(world& on, id which, session before, deadline until) {
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object)
    co_return end_with<done>(std::move(before), failure{object.error()});
  const auto seen = k8s::read_sandbox(*object);
  if (before.sandbox && seen.uid != before.sandbox) {
    auto why = replaced{which.text(), which.sandbox_name(), before.sandbox, seen.uid};
    co_return end_with<done>(std::move(before), std::move(why));
  }
  auto got = transition<done>{std::move(before), done{}};
  if (seen.mode != k8s::operating_mode::suspended)
    co_return got;
  got.events.emplace_back(suspended_elsewhere{identity_of(got.after)});
  if (on.terminals != nullptr && got.after.guest)
    on.terminals->release(*got.after.guest);
  got.after.at = state::suspending;
  retire(got.after);
  co_return got;
}

asio::awaitable<cancellation_unconfirmed> look_after(world& on, id which, session now, guest::cancellation_unknown what) {
  auto got = cancellation_unconfirmed{};
  const auto known = identity_of(now);
  got.previous = known;
  got.current = known;
  if (what.pod && what.pod != known.pod)
    got.previous.boot.reset();
  if (what.pod)
    got.previous.pod = what.pod;
  if (what.boot)
    got.previous.boot = what.boot;
  got.agent = co_await ask_agent(on, now.guest);
  if (now.at != state::running || !got.previous.pod)
    co_return got;
  auto seen = co_await look_at_guest(on, which, std::move(now));
  got.guest = weigh(seen, got.previous, known);
  if (seen.what == guest_look::found::no_pod || (seen.what == guest_look::found::pod && seen.pod != known.pod)) {
    got.current.pod = seen.pod;
    got.current.boot.reset();
  }
  co_return got;
}

} // namespace paddock::workspace
