#include "k8s/epoch_reset.hpp"
#include "k8s/paths.hpp"
#include "workspace/adopt_checks.hpp"
#include "workspace/expected_identity.hpp"
#include "workspace/flows/fenced.hpp"
#include "workspace/flows/verbs_steps.hpp"
#include "workspace/holder_epoch.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

// -- replacing an unreadable one ---------------------------------------------

/// What may be named for a reset: nothing that a host could read, because such a one fences.
result<void> check_reset(const epoch_reset& what) {
  if (what.sandbox.text().empty())
    return tl::unexpected{failure{illegal_argument{"the Sandbox uid of the epoch to replace is empty"}}};
  if (k8s::parse_epoch(what.stored))
    return tl::unexpected{failure{illegal_argument{"the holder epoch " + what.stored + " can be read, so it is not replaced"}}};
  return {};
}

asio::awaitable<result<void>> replace_epoch(world& on, write_target to, k8s::named_epoch named, deadline until) {
  const auto path = k8s::sandboxes_path(on.how.name_space, to.which.sandbox_name());
  auto tested = std::optional<k8s::reading>{};
  auto refused = std::optional<failure>{}; // why the patch before this reading was not applied
  for (auto sent = 0u;; ++sent) {
    auto object = co_await read(on, path, until);
    if (!object)
      co_return tl::unexpected{failure{object.error()}};
    const auto seen = k8s::read_fence(*object);
    auto ok = k8s::may_reset(seen, named, *to.who.epoch);
    if (!ok)
      co_return tl::unexpected{to_failure(to, ok.error())};
    if (refused && (tested->version == seen.version || sent >= k8s::most_attempts))
      co_return tl::unexpected{*refused};
    auto patch = k8s::compose_reset(path, named, *to.who.epoch, seen);
    if (!patch)
      co_return tl::unexpected{cannot_compose(patch.error())};
    auto got = co_await ask(on, *patch, until);
    if (got)
      co_return result<void>{};
    if (!std::holds_alternative<k8s::patch_not_applied>(got.error()))
      co_return tl::unexpected{of_write(to.operation, got.error())};
    tested = seen;
    refused = failure{got.error()};
  }
}

asio::awaitable<transition<done>> reset_steps(world& on, id which, epoch_reset what, session before, deadline until) {
  auto usable = check(on.how);
  if (usable)
    usable = check_reset(what);
  if (!usable)
    co_return end_with<done>(std::move(before), usable.error());
  if (before.at == state::deleted)
    co_return end_with<done>(std::move(before), destroyed{operation::reset, which.sandbox_name()});
  // Above what this host has written before, so that none of its late writes passes for a current one ([W] P1).
  const auto epoch = before.epoch ? raised(on.how.epochs(), before.epoch) : std::optional{k8s::first_of(on.how.epochs())};
  auto to = write_target(which, operation::reset, {what.sandbox, epoch, false});
  auto named = k8s::named_epoch{what.sandbox, what.stored};
  auto written = co_await replace_epoch(on, std::move(to), std::move(named), until);
  if (!written) {
    auto sent = before;
    sent.epoch = epoch;
    const auto unknown = note_unknown(on, sent, written.error());
    co_return end_with<done>(unknown ? std::move(sent) : std::move(before), written.error());
  }
  if (before.epoch) {
    before.epoch = epoch;
    note_written(before);
  }
  co_return transition<done>{std::move(before), done{}};
}

// -- stamping ----------------------------------------------------------------

/// What a stamp is written over when it is lower: what this holder has written, or as the owner of a shard the first of its term. A host
/// that stands alone and holds nothing stamps nothing.
std::optional<std::uint64_t> stamps_below(const settings& how, const session& held) {
  if (!how.fenced)
    return std::nullopt;
  if (held.stamped)
    return held.epoch;
  return how.term == 0 ? std::nullopt : std::optional{k8s::first_of(how.epochs())};
}

asio::awaitable<transition<stamped>> stamp_steps(world& on, id which, session before, deadline until) {
  auto usable = check(on.how);
  if (!usable)
    co_return end_with<stamped>(std::move(before), usable.error());
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object)
    co_return end_with<stamped>(std::move(before), failure{object.error()});
  const auto stored = k8s::read_fence(*object);
  auto found = stamped{false, stored.annotation};
  const auto below = stamps_below(on.how, before);
  if (!below || !template_of(*object) || !k8s::needs_stamp(stored, *below))
    co_return transition<stamped>{std::move(before), std::move(found)};
  // Another object than the one that this host deleted is nobody's of ours, so it is stamped like one that appears ([W] P12).
  const auto again = before.at == state::deleted && before.sandbox != stored.uid;
  // A lost epoch is not taken for that of a newer holder here: to put it back is what this verb is for ([W] P11).
  auto now = again ? without_object(before) : before;
  now.stamped = false;
  auto ok = take_hold(on, which, operation::stamp, now, *object);
  if (!ok)
    co_return end_with<stamped>(std::move(before), ok.error());
  auto written = co_await write_fenced(on, write_target(which, operation::stamp, holder_of(now)), k8s::sandbox_write(), *object, until);
  if (!written) {
    const auto unknown = note_unknown(on, now, written.error());
    co_return end_with<stamped>(unknown ? std::move(now) : std::move(before), written.error());
  }
  note_written(now);
  found.written = true;
  co_return transition<stamped>{std::move(now), std::move(found)};
}

} // namespace

asio::awaitable<transition<done>> reset_epoch(world& on, id which, epoch_reset what, session before, deadline until) {
  return without_throwing(reset_steps(on, std::move(which), std::move(what), std::move(before), until));
}

asio::awaitable<transition<stamped>> stamp(world& on, id which, session before, deadline until) {
  return without_throwing(stamp_steps(on, std::move(which), std::move(before), until));
}

} // namespace paddock::workspace
