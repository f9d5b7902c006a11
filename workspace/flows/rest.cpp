#include "workspace/flows/rest.hpp"

#include "workspace/flows/reread.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

struct shown {
  std::string operator()(const quiesce_not_supported& x) const {
    return "the guest cannot be quiesced (it does not advertise '" + x.feature + "'); the suspend went on without";
  }
  std::string operator()(const quiesce_narrowed& x) const {
    return "the quiesce reached only what the guest itself had started (" + std::to_string(x.report.stopped.size()) + " stopped)";
  }
  std::string operator()(const flush_not_supported& x) const {
    return "the guest cannot flush (it does not advertise '" + x.feature + "'); the suspend went on without";
  }
  std::string operator()(const flush_unreachable& x) const {
    return "the guest could not be asked to flush (" + guest::to_string(x.cause) + "); the suspend went on without";
  }
};

/// Whoever listens and throws changes nothing.
void tell(const world& on, const id& which, rest_note x) {
  if (!on.told)
    return;
  try {
    on.told(which, x);
  } catch (...) {
  }
}

asio::awaitable<result<void>> quiesce(world& on, id which, guest::endpoint where, suspend_options how, deadline until) {
  auto asked = guest::quiesce_request{how.quiesce_grace, false};
  auto got = co_await on.work->quiesce(std::move(where), asked, until);
  if (got) {
    if (got->scope != "pid-namespace")
      tell(on, which, quiesce_narrowed{std::move(*got)});
    co_return result<void>{};
  }
  if (const auto* no = std::get_if<guest::unsupported>(&got.error())) {
    tell(on, which, quiesce_not_supported{no->feature});
    co_return result<void>{};
  }
  co_return tl::unexpected{failure{std::move(got.error())}};
}

asio::awaitable<transition<done>> flush(world& on, id which, session now, suspend_options how, deadline until) {
  auto got = co_await on.work->flush(*now.guest, how.flush_bound, until);
  if (got)
    co_return transition<done>{std::move(now), done{}};
  if (std::holds_alternative<guest::flush_unconfirmed>(got.error()))
    co_return end_with<done>(std::move(now), failure{std::move(got.error())});
  // The caller's own word goes before what it did to the request.
  const auto over = co_await withdrawn();
  if (over)
    co_return end_with<done>(std::move(now), withdrawal());
  if (const auto* no = std::get_if<guest::unsupported>(&got.error())) {
    tell(on, which, flush_not_supported{no->feature});
    co_return transition<done>{std::move(now), done{}};
  }
  tell(on, which, flush_unreachable{std::move(got.error())});
  auto seen = co_await notice(on, std::move(which), std::move(now), until);
  seen.answer = done{};
  co_return seen;
}

} // namespace

std::string to_string(const rest_note& x) {
  return std::visit(shown{}, x);
}

asio::awaitable<transition<done>> bring_to_rest(world& on, id which, session now, suspend_options how, deadline until) {
  if (on.work != nullptr && now.guest && how.quiesce) {
    auto ok = co_await quiesce(on, which, *now.guest, how, until);
    if (!ok)
      co_return end_with<done>(std::move(now), ok.error());
  }
  if (on.work != nullptr && now.guest && how.flush)
    co_return co_await flush(on, std::move(which), std::move(now), how, until);
  co_return transition<done>{std::move(now), done{}};
}

} // namespace paddock::workspace
