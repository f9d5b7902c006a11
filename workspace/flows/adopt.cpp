#include "workspace/flows/adopt.hpp"

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/adopt_checks.hpp"
#include "workspace/bind_judge.hpp"
#include "workspace/disks.hpp"
#include "workspace/expected_identity.hpp"
#include "workspace/flows/authenticate.hpp"
#include "workspace/flows/egress_proofs.hpp"
#include "workspace/flows/fenced.hpp"
#include "workspace/flows/start.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

bool refreshes(const adoption& how, const k8s::sandbox& seen) {
  return how.refresh && seen.mode == k8s::operating_mode::suspended;
}

/// The checks of [W] 3.1.3 steps 2, 4 and 5, and the uid before them. On success `now` may write to the object.
result<void> check_standing(const world& on, const id& which, const adoption& how, session& now, const nlohmann::json& object) {
  const auto seen = k8s::read_sandbox(object);
  if (now.sandbox && seen.uid != now.sandbox)
    return tl::unexpected{failure{replaced{which.text(), which.sandbox_name(), now.sandbox, seen.uid}}};
  auto ok = check_block_disks(seen.volume_claim_templates, seen.pod_template, sandbox_source(which.sandbox_name(), on.how.name_space));
  if (!ok)
    return ok;
  ok = check_configuration(object, which.sandbox_name(), how.wanted, refreshes(how, seen));
  if (!ok)
    return ok;
  return take_hold(on, which, operation::create, now, object);
}

/// The checks of step 7.
result<void> check_refresh(const world& on, const id& which, const adoption& how, const k8s::sandbox& seen) {
  if (!refreshes(how, seen))
    return {};
  const auto source = refresh_source(how.wanted.template_name, on.how.name_space, which.sandbox_name());
  return check_refreshed_disks(how.from->claims, how.from->pod_template, seen.volume_claim_templates, source);
}

} // namespace

k8s::sandbox_write waking_write(const session& now, const std::optional<usable_template>& refresh) {
  auto what = k8s::sandbox_write{};
  what.mode = k8s::operating_mode::running;
  what.only_if_suspended = refresh || now.sandbox;
  if (refresh) {
    what.more_annotations.emplace_back(k8s::template_hash_annotation, refresh->hash);
    what.pod_template = refresh->pod_template;
  }
  return what;
}

asio::awaitable<result<std::optional<pod_uid>>> look_for_draining_pod(world& on, id which, deadline until) {
  auto got = co_await read(on, k8s::pods_path(on.how.name_space, which.sandbox_name()), until);
  if (got)
    co_return draining_uid(*got);
  if (is_gone(got.error()))
    co_return std::optional<pod_uid>{};
  co_return tl::unexpected{failure{got.error()}};
}

asio::awaitable<transition<opened>> adopt(world& on, id which, adoption how, session before, deadline until) {
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object) {
    auto why = failure{object.error()};
    if (is_gone(object.error()) && how.expect)
      why = sandbox_absent(which, *how.expect);
    if (is_gone(object.error()) && before.sandbox) {
      before.at = state::deleted;
      drop(before);
    }
    co_return end_with<opened>(std::move(before), std::move(why));
  }
  note_standing(before);
  auto ok = result<void>{};
  if (how.expect)
    ok = co_await authenticate(on, which, *how.expect, how.expect_claims, *object, until);
  auto now = before;
  const auto seen = k8s::read_sandbox(*object);
  if (ok)
    ok = check_standing(on, which, how, now, *object);
  const auto is_suspended = seen.mode == k8s::operating_mode::suspended;
  if (ok && !is_suspended) {
    note_running(before);
    note_running(now);
  }
  auto labels = labels_of(refreshes(how, seen) ? how.from->pod_template : seen.pod_template);
  if (ok)
    ok = co_await prove_labels(on, which, how.wanted.template_name, std::move(labels), how.proved_for, until);
  if (ok)
    ok = co_await drop_predecessors(on, which, now.sandbox, fence::proved, until);
  if (ok)
    ok = check_refresh(on, which, how, seen);
  if (!ok)
    co_return end_with<opened>(std::move(before), ok.error());
  auto draining = co_await look_for_draining_pod(on, which, until);
  if (!draining)
    co_return end_with<opened>(std::move(before), draining.error());
  now.fence_proved = false;
  now.template_name = how.wanted.template_name;
  auto what = is_suspended ? waking_write(now, how.refresh ? how.from : std::nullopt) : k8s::sandbox_write();
  auto written = co_await write_fenced(on, write_target(which, operation::create, holder_of(now)), std::move(what), *object, until);
  if (!written) {
    if (!note_unknown(on, now, written.error()))
      co_return end_with<opened>(std::move(before), written.error());
    if (is_suspended && now.sandbox)
      now.at = state::resuming;
    co_return end_with<opened>(std::move(now), written.error());
  }
  auto woke = is_suspended && !written->yielded;
  auto revision = seen.template_hash;
  if (written->yielded) {
    // Somebody else woke it in between: what stands now is adopted as a running object is.
    note_running(before);
    note_running(now);
    object = std::move(written->object);
    revision = k8s::read_sandbox(*object).template_hash;
    ok = check_configuration(*object, which.sandbox_name(), how.wanted, false);
    if (ok)
      ok = co_await prove_labels(on, which, how.wanted.template_name, labels_of(k8s::read_sandbox(*object).pod_template), how.proved_for,
                                 until);
    if (!ok)
      co_return end_with<opened>(std::move(before), ok.error());
    written = co_await write_fenced(on, write_target(which, operation::create, holder_of(now)), k8s::sandbox_write(), *object, until);
    if (!written) {
      const auto unknown = note_unknown(on, now, written.error());
      co_return end_with<opened>(unknown ? std::move(now) : std::move(before), written.error());
    }
  } else if (woke && how.refresh)
    revision = how.from->hash;
  note_written(now);
  now.from = woke ? origin::resumed : origin::adopted_running;
  now.revision = revision;
  now.revision_current = how.from && revision == how.from->hash;
  auto start = start_policy{operation::create, {}, woke, how.leave_on_failure};
  start.bind.retiring = *draining ? *draining : now.retired_pod;
  start.bind.await_replacement = is_suspended || start.bind.retiring;
  const auto from = now.from;
  auto started = co_await start_session(on, which, std::move(now), std::move(start), until);
  co_return opened_as(std::move(started), from);
}

// -- taking up ---------------------------------------------------------------

namespace {

asio::awaitable<transition<done>> take_up_steps(world& on, id which, session before, deadline until) {
  auto usable = check(on.how);
  if (!usable)
    co_return end_with<done>(std::move(before), usable.error());
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object) {
    if (is_gone(object.error()) && before.sandbox) {
      before.at = state::deleted;
      drop(before);
    }
    co_return end_with<done>(std::move(before), failure{object.error()});
  }
  // The object says which template it was built from; a host that has just started cannot know better.
  auto how = adoption{};
  auto built_from = before.template_name;
  if (built_from.empty())
    built_from = template_of(*object).value_or(on.how.template_name);
  how.wanted = overlay_of(on.how, which, std::move(built_from));
  auto now = before;
  auto ok = check_standing(on, which, how, now, *object);
  if (!ok)
    co_return end_with<done>(std::move(before), ok.error());
  const auto seen = k8s::read_sandbox(*object);
  now.fence_proved = false;
  now.template_name = how.wanted.template_name;
  now.revision_current = now.revision_current && now.revision && now.revision == seen.template_hash;
  now.revision = seen.template_hash;
  auto pod = co_await read(on, k8s::pods_path(on.how.name_space, which.sandbox_name()), until);
  if (!pod && !is_gone(pod.error()))
    co_return end_with<done>(std::move(before), failure{pod.error()});
  if (seen.mode == k8s::operating_mode::suspended) {
    const auto standing = pod ? see_pod(*pod, now.sandbox) : pod_seen{};
    retire(now);
    if (standing.uid)
      now.retired_pod = standing.uid;
    // While its controller has not seen the mode it may still start a pod ([W] P9).
    const auto rests = seen.seen_by_controller(seen.generation) && (!pod || standing.what == pod_seen::kind::stopped);
    now.at = rests ? state::suspended : state::suspending;
    co_return transition<done>{std::move(now), done{}};
  }
  ok = co_await prove_applied(on, now.template_name, until);
  if (ok)
    ok = co_await prove_selected(on, which, now.template_name, labels_of(seen.pod_template), until);
  if (ok)
    ok = co_await drop_predecessors(on, which, now.sandbox, fence::proved, until);
  if (!ok)
    co_return end_with<done>(std::move(before), ok.error());
  auto written = co_await write_fenced(on, write_target(which, operation::create, holder_of(now)), k8s::sandbox_write(), *object, until);
  if (!written) {
    const auto unknown = note_unknown(on, now, written.error());
    co_return end_with<done>(unknown ? std::move(now) : std::move(before), written.error());
  }
  note_written(now);
  auto start = start_policy{operation::create, {}, false, false};
  start.bind.retiring = pod ? draining_uid(*pod) : std::nullopt;
  start.bind.await_replacement = start.bind.retiring.has_value();
  co_return co_await start_session(on, which, std::move(now), std::move(start), until);
}

} // namespace

asio::awaitable<transition<done>> take_up(world& on, id which, session before, deadline until) {
  return without_throwing(take_up_steps(on, std::move(which), std::move(before), until));
}

} // namespace paddock::workspace
