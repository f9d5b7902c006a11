#include "workspace/flows/verbs_steps.hpp"

#include "workspace/flows/fenced.hpp"
#include "workspace/holder_epoch.hpp"

#include <boost/system/system_error.hpp>

namespace paddock::workspace {

namespace asio = boost::asio;

asio::awaitable<k8s::result<k8s::answer>> ask(world& on, k8s::call what, deadline until) {
  return k8s::ask(on.api, on.time, std::move(what), until);
}

asio::awaitable<k8s::result<nlohmann::json>> read(world& on, std::string path, deadline until) {
  return k8s::read(on.api, on.time, std::move(path), until);
}

asio::awaitable<bool> pause(world& on, time_source::clock::time_point at) {
  auto over = co_await withdrawn();
  if (over)
    co_return false;
  try {
    co_await on.time.sleep_until(at);
    co_return true;
  } catch (const boost::system::system_error&) {
    // The sleep ended because the caller withdrew.
  }
  co_return false;
}

failure withdrawal() {
  return k8s::failure{k8s::cancelled{}};
}

failure of_write(const char* operation, const k8s::failure& x) {
  if (k8s::outcome_unknown(x))
    return write_unknown{operation, x};
  return x;
}

bool note_unknown(const world& on, session& now, const failure& why) {
  if (!std::holds_alternative<write_unknown>(why))
    return false;
  now.epoch = raised(on.how.epochs(), now.epoch);
  return true;
}

k8s::holder holder_of(const session& now) {
  return {now.sandbox, now.epoch, now.stamped};
}

result<void> take_hold(const world& on, const id& which, const char* operation, session& now, const nlohmann::json& object) {
  const auto seen = k8s::read_fence(object);
  auto mine = holder_of(now);
  const auto without_epoch = write_target(which, operation, {mine.uid, std::nullopt, false});
  auto ok = admit(without_epoch, object);
  if (!ok)
    return ok;
  if (!mine.epoch && on.how.fenced) {
    auto first = k8s::first_epoch(on.how.epochs(), seen);
    if (!first)
      return tl::unexpected{to_failure(without_epoch, first.error())};
    mine.epoch = *first;
  }
  ok = admit(write_target(which, operation, mine), object);
  if (!ok)
    return ok;
  now.epoch = mine.epoch;
  if (!now.sandbox)
    now.sandbox = seen.uid;
  return {};
}

result<void> check_expected(const std::optional<sandbox_uid>& expect) {
  if (expect && expect->text().empty())
    return tl::unexpected{failure{illegal_argument{"the expected Sandbox uid is empty"}}};
  return {};
}

void note_standing(session& now) {
  if (now.at == state::deleted)
    now.at = state::unknown;
}

void note_running(session& now) {
  if (now.at == state::suspended)
    now.at = state::suspending;
}

void note_written(session& now) {
  now.stamped = now.epoch.has_value();
}

void drop(session& now) {
  now.pod.reset();
  now.boot.reset();
  now.guest.reset();
}

void retire(session& now) {
  if (now.pod)
    now.retired_pod = now.pod;
  drop(now);
}

transition<opened> opened_as(transition<done> started, origin from) {
  auto got = transition<opened>{std::move(started.after), opened{from}, std::move(started.events)};
  if (!started.answer)
    got.answer = tl::unexpected{std::move(started.answer.error())};
  return got;
}

} // namespace paddock::workspace
