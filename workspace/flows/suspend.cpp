#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/bind_judge.hpp"
#include "workspace/expected_identity.hpp"
#include "workspace/flows/fenced.hpp"
#include "workspace/flows/rest.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

failure timed_out(const id& which, std::chrono::milliseconds bound) {
  return suspend_timeout{which.text(), which.sandbox_name(), bound};
}

/// What is wrong with the words of a suspend; nothing was sent.
result<void> check_words(const suspend_options& how) {
  if (how.by_id && (how.flush || how.quiesce))
    return tl::unexpected{failure{illegal_argument{"a suspend by id asks no guest, so it neither flushes nor quiesces"}}};
  return check_expected(how.expect);
}

/// Waits until the controller has looked at `generation`, where that is known and reported ([W] P9).
asio::awaitable<result<void>> wait_for_controller(world& on, id which, std::optional<sandbox_uid> expected,
                                                  std::optional<std::int64_t> generation, std::chrono::milliseconds bound, deadline until) {
  while (generation) {
    auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
    if (!object && until.passed(on.time))
      co_return tl::unexpected{timed_out(which, bound)};
    if (!object)
      co_return tl::unexpected{failure{object.error()}};
    const auto seen = k8s::read_sandbox(*object);
    if (expected && seen.uid != expected)
      co_return tl::unexpected{failure{replaced{which.text(), which.sandbox_name(), expected, seen.uid}}};
    if (seen.seen_by_controller(generation))
      break;
    auto goes_on = co_await pause(on, until.no_later_than(on.time.now() + on.how.ready_poll).at());
    if (!goes_on)
      co_return tl::unexpected{withdrawal()};
    if (until.passed(on.time))
      co_return tl::unexpected{timed_out(which, bound)};
  }
  co_return result<void>{};
}

/// Waits until the pod has retired: it is absent or has stopped ([W] 3.4 step 9). `first_seen` takes the uid of the first
/// pod that was read.
asio::awaitable<result<void>> wait_for_pod(world& on, id which, std::optional<pod_uid>& first_seen, std::chrono::milliseconds bound,
                                           deadline until) {
  for (;;) {
    auto object = co_await read(on, k8s::pods_path(on.how.name_space, which.sandbox_name()), until);
    if (!object && is_gone(object.error()))
      co_return result<void>{};
    if (!object && until.passed(on.time))
      co_return tl::unexpected{timed_out(which, bound)};
    if (!object)
      co_return tl::unexpected{failure{object.error()}};
    const auto pod = k8s::read_pod(*object);
    if (!first_seen && pod.uid)
      first_seen = pod_uid{pod.uid->reveal()};
    if (pod.retired())
      co_return result<void>{};
    auto goes_on = co_await pause(on, until.no_later_than(on.time.now() + on.how.ready_poll).at());
    if (!goes_on)
      co_return tl::unexpected{withdrawal()};
    if (until.passed(on.time))
      co_return tl::unexpected{timed_out(which, bound)};
  }
}

/// A landed suspend, or one that was read: waits for it to be over. `now` is `suspended` after it, and `suspending` when the
/// wait failed.
asio::awaitable<transition<done>> finish(world& on, id which, session now, std::optional<std::int64_t> generation, deadline until) {
  const auto wait = until.no_later_than(on.time.now() + on.how.ready_timeout);
  const auto bound = std::chrono::ceil<std::chrono::milliseconds>(wait.left(on.time));
  now.at = state::suspending;
  auto ok = co_await wait_for_controller(on, which, now.sandbox, generation, bound, wait);
  if (!ok)
    co_return end_with<done>(std::move(now), ok.error());
  auto seen = now.retired_pod;
  ok = co_await wait_for_pod(on, which, seen, bound, wait);
  now.retired_pod = seen;
  if (!ok)
    co_return end_with<done>(std::move(now), ok.error());
  now.at = state::suspended;
  co_return transition<done>{std::move(now), done{}};
}

/// Whether no write of an older holder is accepted any more; so it is too where writes carry no epoch.
bool carries_epoch_of(const world& on, const session& now, const nlohmann::json& object) {
  return !on.how.fenced || !now.epoch || !k8s::needs_stamp(k8s::read_fence(object), *now.epoch);
}

asio::awaitable<transition<done>> suspend_steps(world& on, id which, suspend_options how, session before, deadline until) {
  auto over = co_await withdrawn();
  if (over)
    co_return end_with<done>(std::move(before), withdrawal());
  auto usable = check(on.how);
  if (usable)
    usable = check_words(how);
  if (!usable)
    co_return end_with<done>(std::move(before), usable.error());
  const auto* name = how.by_id || before.at == state::unknown ? operation::suspend_by_id : operation::suspend;
  if (before.at == state::deleted)
    co_return end_with<done>(std::move(before), destroyed{name, which.sandbox_name()});
  if (before.at == state::suspended && !before.sandbox && !how.expect)
    co_return transition<done>{std::move(before), done{}};
  auto now = of_expected(before, how.expect);
  auto seen = std::optional<nlohmann::json>{};
  auto told = std::vector<event>{};
  if (on.how.fenced || now.epoch || how.expect || now.at == state::suspended || now.at == state::unknown) {
    auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
    if (!object)
      co_return end_with<done>(std::move(before), failure{object.error()});
    auto ok = take_hold(on, which, name, now, *object);
    if (!ok)
      co_return end_with<done>(std::move(before), ok.error());
    // What was suspended when we looked last may have been resumed and suspended again: its pod is looked for once more. Without our
    // epoch on it a wake-up of an older holder could still land after this verb had succeeded, so then it is written.
    const auto found = k8s::read_sandbox(*object);
    if (now.at == state::suspended && found.mode == k8s::operating_mode::suspended && carries_epoch_of(on, now, *object)) {
      const auto unseen = found.seen_by_controller(found.generation) ? std::nullopt : found.generation;
      co_return co_await finish(on, which, std::move(now), unseen, until);
    }
    seen = std::move(*object);
  }
  if (on.terminals != nullptr && before.guest && !how.by_id)
    co_await on.terminals->reap(*before.guest, on.time, until);
  if (now.at == state::running) {
    auto rested = co_await bring_to_rest(on, which, now, how, until);
    if (!rested.answer)
      co_return end_with<done>(std::move(before), rested.answer.error());
    now = std::move(rested.after);
    told = std::move(rested.events);
  }
  auto what = k8s::sandbox_write{};
  what.mode = k8s::operating_mode::suspended;
  auto written = co_await write_fenced(on, write_target(which, name, holder_of(now)), std::move(what), std::move(seen), until);
  if (!written) {
    const auto unknown = note_unknown(on, now, written.error());
    if (unknown ? now.sandbox.has_value() : now.at == state::suspended)
      now.at = state::suspending;
    auto failed = end_with<done>(std::move(now), written.error());
    failed.events = std::move(told);
    co_return failed;
  }
  note_written(now);
  retire(now);
  auto generation = k8s::read_sandbox(written->object).generation;
  auto got = co_await finish(on, which, std::move(now), generation, until);
  got.events = std::move(told);
  co_return got;
}

} // namespace

asio::awaitable<transition<done>> suspend(world& on, id which, suspend_options how, session before, deadline until) {
  return without_throwing(suspend_steps(on, std::move(which), std::move(how), std::move(before), until));
}

} // namespace paddock::workspace
