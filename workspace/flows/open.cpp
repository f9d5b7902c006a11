#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/disks.hpp"
#include "workspace/expected_identity.hpp"
#include "workspace/flows/adopt.hpp"
#include "workspace/flows/egress_proofs.hpp"
#include "workspace/flows/resume.hpp"
#include "workspace/flows/start.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

asio::awaitable<result<usable_template>> fetch_template(world& on, overlay wanted, deadline until) {
  auto object = co_await read(on, k8s::template_path(on.how.name_space, wanted.template_name), until);
  if (!object)
    co_return tl::unexpected{failure{object.error()}};
  auto got = read_template(*object, wanted);
  if (!got)
    co_return got;
  auto ok = check_block_disks(got->claims, got->pod_template, template_source(wanted.template_name, on.how.name_space));
  if (!ok)
    co_return tl::unexpected{ok.error()};
  co_return got;
}

/// The session of a Sandbox that this verb has just made.
session session_of_created(const session& before, const k8s::answer& made, const usable_template& from, std::string template_name) {
  auto now = session{};
  now.epoch = before.epoch;
  now.stamped = before.epoch.has_value();
  now.from = origin::created;
  if (made)
    now.sandbox = k8s::read_sandbox(*made).uid;
  now.revision = from.hash;
  now.revision_current = true;
  now.template_name = std::move(template_name);
  return now;
}

asio::awaitable<transition<opened>> open_steps(world& on, id which, open_options how, session before, deadline until) {
  auto over = co_await withdrawn();
  if (over)
    co_return end_with<opened>(std::move(before), withdrawal());
  auto usable = check(on.how);
  if (usable)
    usable = check_expected(how.expect);
  if (!usable)
    co_return end_with<opened>(std::move(before), usable.error());
  auto wanted = overlay_of(on.how, which, how.template_name.empty() ? on.how.template_name : how.template_name);
  if (wanted.template_name.empty())
    co_return end_with<opened>(std::move(before), illegal_argument{"no SandboxTemplate is named and none is configured"});
  auto ok = co_await prove_applied(on, wanted.template_name, until);
  if (!ok)
    co_return end_with<opened>(std::move(before), ok.error());
  if (before.at == state::running && !how.expect)
    co_return co_await open_running(on, which, how, before, until);
  if (before.at == state::deleted) {
    before = without_object(before);
    before.at = state::deleted;
  }
  const auto creates = how.create && !how.expect && !before.sandbox;
  auto adopting = adoption{wanted, std::nullopt, {}, how.refresh_template, how.leave_on_failure, how.expect, how.expect_claims};
  if (creates || how.refresh_template) {
    auto got = co_await fetch_template(on, wanted, until);
    if (!got)
      co_return end_with<opened>(std::move(before), got.error());
    adopting.from = std::move(*got);
  }
  if (!creates)
    co_return co_await adopt(on, which, std::move(adopting), std::move(before), until);
  adopting.proved_for = labels_of(adopting.from->pod_template);
  ok = co_await prove_selected(on, which, wanted.template_name, *adopting.proved_for, until);
  if (!ok)
    co_return end_with<opened>(std::move(before), ok.error());
  auto created = before;
  if (on.how.fenced && !created.epoch)
    created.epoch = k8s::first_of(on.how.epochs());
  auto body = create_body(which.sandbox_name(), on.how.name_space, *adopting.from, created.epoch);
  auto made = co_await ask(on, k8s::post(k8s::sandboxes_path(on.how.name_space), std::move(body)), until);
  if (!made && std::holds_alternative<k8s::conflict>(made.error())) {
    note_standing(before);
    co_return co_await adopt(on, which, std::move(adopting), std::move(before), until);
  }
  if (!made) {
    auto why = of_write(operation::create, made.error());
    if (!note_unknown(on, created, why))
      co_return end_with<opened>(std::move(before), std::move(why));
    // It may stand by now: the next verb has to look.
    created.at = state::unknown;
    co_return end_with<opened>(std::move(created), std::move(why));
  }
  auto now = session_of_created(created, *made, *adopting.from, wanted.template_name);
  auto start = start_policy{operation::create, {}, true, how.leave_on_failure};
  start.made = true;
  auto started = co_await start_session(on, which, std::move(now), std::move(start), until);
  co_return opened_as(std::move(started), origin::created);
}

} // namespace

asio::awaitable<transition<opened>> open(world& on, id which, open_options how, session before, deadline until) {
  return without_throwing(open_steps(on, std::move(which), std::move(how), std::move(before), until));
}

} // namespace paddock::workspace
