#include "k8s/paths.hpp"
#include "workspace/expected_identity.hpp"
#include "workspace/flows/fenced.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

transition<done> deleted(session now) {
  drop(now);
  now.at = state::deleted;
  return {std::move(now), done{}};
}

asio::awaitable<transition<done>> remove_steps(world& on, id which, remove_options how, session before, deadline until) {
  auto over = co_await withdrawn();
  if (over)
    co_return end_with<done>(std::move(before), withdrawal());
  auto usable = check(on.how);
  if (usable)
    usable = check_expected(how.expect);
  if (!usable)
    co_return end_with<done>(std::move(before), usable.error());
  // That another Sandbox was deleted says nothing of the one that is named.
  if (before.at == state::deleted && (!how.expect || how.expect == before.sandbox))
    co_return transition<done>{std::move(before), done{}};
  const auto* name = before.at == state::unknown ? operation::remove_by_id : operation::destroy;
  auto now = of_expected(before, how.expect);
  auto seen = std::optional<nlohmann::json>{};
  // Only a session that was told no uid, by a host without epochs, deletes what it has not read ([W] P3, P10).
  if (on.how.fenced || now.epoch || now.sandbox || now.at == state::unknown) {
    auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
    if (!object && is_gone(object.error()))
      co_return deleted(std::move(now));
    if (!object)
      co_return end_with<done>(std::move(before), failure{object.error()});
    auto ok = take_hold(on, which, name, now, *object);
    if (!ok)
      co_return end_with<done>(std::move(before), ok.error());
    seen = std::move(*object);
  }
  if (on.terminals != nullptr && before.guest)
    co_await on.terminals->reap(*before.guest, on.time, until);
  drop(now);
  if (now.at == state::running)
    now.at = state::suspending;
  auto gone = co_await delete_fenced(on, write_target(which, name, holder_of(now)), std::move(seen), until);
  if (gone)
    co_return deleted(std::move(now));
  if (note_unknown(on, now, gone.error()))
    now.at = state::suspending;
  co_return end_with<done>(std::move(now), gone.error());
}

} // namespace

asio::awaitable<transition<done>> remove(world& on, id which, remove_options how, session before, deadline until) {
  return without_throwing(remove_steps(on, std::move(which), std::move(how), std::move(before), until));
}

} // namespace paddock::workspace
