#include "workspace/flows/resume.hpp"

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/adopt_checks.hpp"
#include "workspace/disks.hpp"
#include "workspace/flows/adopt.hpp"
#include "workspace/flows/authenticate.hpp"
#include "workspace/flows/egress_proofs.hpp"
#include "workspace/flows/fenced.hpp"
#include "workspace/flows/start.hpp"
#include "workspace/flows/verbs_steps.hpp"
#include "workspace/pod_template.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

/// The template of a refresh, checked against the disks of the Sandbox ([W] 3.5 step 7).
asio::awaitable<result<usable_template>> fetch_refresh(world& on, id which, overlay wanted, nlohmann::json claims, deadline until) {
  auto object = co_await read(on, k8s::template_path(on.how.name_space, wanted.template_name), until);
  if (!object)
    co_return tl::unexpected{failure{object.error()}};
  auto got = read_template(*object, wanted);
  if (!got)
    co_return got;
  const auto source = refresh_source(wanted.template_name, on.how.name_space, which.sandbox_name());
  auto ok = check_refreshed_disks(got->claims, got->pod_template, claims, source);
  if (!ok)
    co_return tl::unexpected{ok.error()};
  co_return got;
}

/// What is proved of the network when a resume begins: nothing; by the verb that resumes, what `prove_applied` does; or all of it, when
/// this host opened the workspace. Having suspended one, or looked at one, proves nothing.
enum class proved_before { nothing, applied, opened };

/// What is proved of the network before anything is written ([W] 3.5 step 6): the fence anew, and what former Sandboxes were granted. For
/// a workspace that this host has not opened it is what an open proves.
asio::awaitable<result<void>> prove_network(world& on, id which, session now, proved_before proved, deadline until) {
  if (proved == proved_before::nothing) {
    auto ok = co_await prove_applied(on, now.template_name, until);
    if (!ok)
      co_return ok;
  }
  co_return co_await drop_predecessors(on, which, now.sandbox, proved == proved_before::opened ? fence::to_prove : fence::proved, until);
}

/// What runs, of a session that does, is stamped, and that is all.
asio::awaitable<transition<opened>> stamp_running(world& on, id which, session now, nlohmann::json object, deadline until) {
  auto written =
    co_await write_fenced(on, write_target(which, operation::resume, holder_of(now)), k8s::sandbox_write(), std::move(object), until);
  if (!written) {
    note_unknown(on, now, written.error());
    co_return end_with<opened>(std::move(now), written.error());
  }
  note_written(now);
  co_return transition<opened>{std::move(now), opened{origin::adopted_running}};
}

asio::awaitable<transition<opened>> resume_steps(world& on, id which, open_options how, session before, proved_before proved,
                                                 deadline until) {
  auto over = co_await withdrawn();
  if (over)
    co_return end_with<opened>(std::move(before), withdrawal());
  auto usable = check(on.how);
  if (usable)
    usable = check_expected(how.expect);
  if (!usable)
    co_return end_with<opened>(std::move(before), usable.error());
  if (before.at == state::deleted)
    co_return end_with<opened>(std::move(before), destroyed{operation::resume, which.sandbox_name()});
  if (before.at == state::running && !before.sandbox && !before.epoch && !how.expect) {
    co_return transition<opened>{std::move(before), opened{origin::adopted_running}};
  }
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object)
    co_return end_with<opened>(std::move(before), failure{object.error()});
  const auto seen = k8s::read_sandbox(*object);
  auto ok = result<void>{};
  if (how.expect)
    ok = co_await authenticate(on, which, *how.expect, how.expect_claims, *object, until);
  auto now = before;
  if (ok)
    ok = take_hold(on, which, operation::resume, now, *object);
  if (!ok)
    co_return end_with<opened>(std::move(before), ok.error());
  const auto is_suspended = seen.mode == k8s::operating_mode::suspended;
  const auto refreshes = is_suspended && how.refresh_template;
  if (!is_suspended) {
    note_running(before);
    note_running(now);
  }
  if (now.template_name.empty())
    now.template_name = template_of(*object).value_or(how.template_name.empty() ? on.how.template_name : how.template_name);
  if (proved == proved_before::nothing && before.claims_read)
    proved = proved_before::opened;
  auto proved_for = std::optional<egress::label_map>{};
  if (proved == proved_before::opened)
    proved_for = labels_of(seen.pod_template);
  ok = co_await prove_network(on, which, now, proved, until);
  if (ok && !refreshes)
    ok = co_await prove_labels(on, which, now.template_name, labels_of(seen.pod_template), proved_for, until);
  if (!ok)
    co_return end_with<opened>(std::move(before), ok.error());
  now.fence_proved = on.how.egress && on.how.egress->per_sandbox;
  if (before.at == state::running && !is_suspended)
    co_return co_await stamp_running(on, which, std::move(now), std::move(*object), until);
  if (is_suspended) {
    // Also when we believed it to run, or did not know whether our suspend had landed: that pod is on its way out.
    retire(now);
    if (now.at == state::running)
      now.at = state::suspending;
  }
  now.revision_current = now.revision_current && now.revision && now.revision == seen.template_hash;
  now.revision = seen.template_hash;
  auto refreshed = std::optional<usable_template>{};
  if (refreshes) {
    auto wanted = overlay_of(on.how, which, now.template_name);
    auto got = co_await fetch_refresh(on, which, std::move(wanted), seen.volume_claim_templates, until);
    if (!got)
      co_return end_with<opened>(std::move(now), got.error());
    refreshed = std::move(*got);
    now.revision_current = now.revision == refreshed->hash;
    ok = co_await prove_labels(on, which, now.template_name, labels_of(refreshed->pod_template), proved_for, until);
    if (!ok)
      co_return end_with<opened>(std::move(now), ok.error());
  }
  auto retiring = now.retired_pod;
  if (before.at == state::unknown && is_suspended) {
    auto draining = co_await look_for_draining_pod(on, which, until);
    if (!draining)
      co_return end_with<opened>(std::move(now), draining.error());
    retiring = *draining;
  }
  auto what = is_suspended ? waking_write(now, refreshed) : k8s::sandbox_write();
  auto written = co_await write_fenced(on, write_target(which, operation::resume, holder_of(now)), std::move(what), *object, until);
  auto woke = is_suspended;
  if (written && written->yielded) {
    woke = false;
    note_running(now);
    now.revision = k8s::read_sandbox(written->object).template_hash;
    now.revision_current = refreshed && now.revision == refreshed->hash;
    auto again = std::move(written->object);
    ok = co_await prove_labels(on, which, now.template_name, labels_of(k8s::read_sandbox(again).pod_template), proved_for, until);
    if (!ok)
      co_return end_with<opened>(std::move(now), ok.error());
    written = co_await write_fenced(on, write_target(which, operation::resume, holder_of(now)), k8s::sandbox_write(), again, until);
  } else if (written && refreshed) {
    now.revision = refreshed->hash;
    now.revision_current = true;
  }
  if (!written) {
    if (note_unknown(on, now, written.error()) && woke && now.sandbox)
      now.at = state::resuming;
    co_return end_with<opened>(std::move(now), written.error());
  }
  note_written(now);
  if (before.at == state::unknown)
    now.from = woke ? origin::resumed : origin::adopted_running;
  auto start = start_policy{operation::resume, {}, woke, how.leave_on_failure};
  start.bind.retiring = retiring;
  // A session whose pod is still named ended in an unanswered write, so its pod may or may not be the one to bind.
  start.bind.await_replacement = is_suspended || retiring || now.pod;
  auto started = co_await start_session(on, which, std::move(now), std::move(start), until);
  co_return opened_as(std::move(started), woke ? origin::resumed : origin::adopted_running);
}

} // namespace

asio::awaitable<transition<opened>> resume(world& on, id which, open_options how, session before, deadline until) {
  return without_throwing(resume_steps(on, std::move(which), std::move(how), std::move(before), proved_before::nothing, until));
}

asio::awaitable<transition<opened>> open_running(world& on, id which, open_options how, session before, deadline until) {
  return resume_steps(on, std::move(which), std::move(how), std::move(before), proved_before::applied, until);
}

} // namespace paddock::workspace
