#include "workspace/flows/start.hpp"

#include "guest/rebind_judge.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/flows/bind.hpp"
#include "workspace/flows/egress_proofs.hpp"
#include "workspace/flows/fenced.hpp"
#include "workspace/flows/probe.hpp"
#include "workspace/flows/verbs_steps.hpp"

#include <algorithm>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

constexpr auto clean_up_bound = std::chrono::milliseconds{1'000};

/// The uids of the disks that can be read. One that cannot is left out.
asio::awaitable<std::map<std::string, claim_uid>> read_claims(world& on, id which, std::vector<std::string> names, deadline until) {
  auto got = std::map<std::string, claim_uid>{};
  for (const auto& name : names) {
    auto claim = co_await read(on, k8s::volume_claim_path(on.how.name_space, name, which.sandbox_name()), until);
    auto uid = claim ? k8s::read_volume_claim(*claim).uid : std::nullopt;
    if (uid)
      got.emplace(name, *uid);
  }
  co_return got;
}

/// Suspends again what this verb has woken. What that came to; its own failure is never more than that word.
asio::awaitable<std::string> clean_up(world& on, id which, session& now) {
  co_await keep_going();
  auto to = write_target(which, operation::clean_up, holder_of(now));
  auto what = k8s::sandbox_write{};
  what.mode = k8s::operating_mode::suspended;
  auto put_back = co_await write_fenced(on, std::move(to), std::move(what), std::nullopt, deadline{on.time, clean_up_bound});
  if (!put_back)
    co_return note_unknown(on, now, put_back.error()) ? "unknown" : "failed";
  note_written(now);
  retire(now);
  co_return "done";
}

asio::awaitable<transition<done>> fail_start(world& on, id which, session now, start_policy how, failure why) {
  now.at = state::suspending;
  const auto elsewhere = std::holds_alternative<suspended>(why);
  if (!how.woke || elsewhere || std::holds_alternative<replaced>(why)) {
    if (elsewhere)
      retire(now);
    drop(now);
    co_return end_with<done>(std::move(now), std::move(why));
  }
  auto became = std::string{"none"};
  if (!how.leave)
    became = co_await clean_up(on, which, now);
  drop(now);
  co_return end_with<done>(std::move(now), std::make_shared<const start_failed>(start_failed{std::move(became), std::move(why)}));
}

} // namespace

asio::awaitable<transition<done>> start_session(world& on, id which, session now, start_policy how, deadline until) {
  drop(now);
  if (how.made && now.sandbox) {
    auto ok = co_await drop_predecessors(on, which, now.sandbox, fence::proved, until);
    if (!ok)
      co_return co_await fail_start(on, which, std::move(now), std::move(how), ok.error());
  }
  auto got = co_await bind(on, which, how.operation, now.sandbox, how.bind, until.no_later_than(on.time.now() + on.how.ready_timeout));
  if (!got)
    co_return co_await fail_start(on, which, std::move(now), std::move(how), got.error());
  if (!now.sandbox)
    now.sandbox = got->sandbox.uid;
  now.pod = got->pod;
  now.guest = got->guest;
  if (now.sandbox) {
    auto ok = co_await drop_predecessors(on, which, now.sandbox, fence::proved, until);
    if (!ok)
      co_return co_await fail_start(on, which, std::move(now), std::move(how), ok.error());
  }
  now.at = state::running;
  auto told = std::vector<event>{};
  auto proved = co_await probe_guest(on, which.sandbox_name(), *now.guest, until);
  if (proved.not_run
      && guest::judge_rebind(*proved.not_run, {guest::is_host_name(now.guest->host), false}) == guest::rebind_verdict::reread) {
    // Somebody else may have replaced the pod since it was bound.
    auto next = co_await reread(on, which, now, until.no_later_than(on.time.now() + reread_bound));
    if (!next)
      co_return co_await fail_start(on, which, std::move(now), std::move(how), next.error());
    if (*next) {
      if (auto restart = move_to(now, **next))
        told.emplace_back(std::move(*restart));
      proved = co_await probe_guest(on, which.sandbox_name(), *now.guest, until);
    }
  }
  if (!proved.answer) {
    auto failed = co_await fail_start(on, which, std::move(now), std::move(how), proved.answer.error());
    failed.events = std::move(told);
    co_return failed;
  }
  now.boot = *proved.answer;
  if (!now.claims_read) {
    now.claims = co_await read_claims(on, which, got->sandbox.claims, until);
    // A caller that withdrew while they were read has a session all the same; the next start reads them again.
    auto over = co_await withdrawn();
    now.claims_read = !over;
  }
  now.retired_pod.reset();
  co_return transition<done>{std::move(now), done{}, std::move(told)};
}

} // namespace paddock::workspace
