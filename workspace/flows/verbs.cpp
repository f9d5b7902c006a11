#include "workspace/flows/verbs.hpp"

#include "k8s/paths.hpp"
#include "workspace/flows/reread.hpp"
#include "workspace/flows/verbs_steps.hpp"

#include <utility>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

const guest::cancellation_unknown* unconfirmed_in(const failure& x) {
  const auto* of_guest = std::get_if<guest::failure>(&x);
  return of_guest == nullptr ? nullptr : std::get_if<guest::cancellation_unknown>(of_guest);
}

/// Who asks knows of the outermost cause only: a guest that is suspended goes before one that is gone.
asio::awaitable<transition<done>> explain_steps(world& on, id which, std::string operation, session before, failure original,
                                                deadline until) {
  auto told = std::vector<event>{};
  auto why = original;
  if (const auto* unconfirmed = unconfirmed_in(original)) {
    auto seen = co_await look_after(on, which, before, *unconfirmed);
    if (is_gone_for_sure(seen.guest))
      why = guest_gone{operation, which.text(), which.sandbox_name(), seen.guest, seen.previous, seen.current, *unconfirmed};
    told.emplace_back(std::move(seen));
  }
  if (before.at == state::running && !std::holds_alternative<replaced>(original)) {
    auto seen = co_await notice(on, which, std::move(before), until);
    before = std::move(seen.after);
    told.insert(told.end(), seen.events.begin(), seen.events.end());
    const auto* of_guest = std::get_if<guest::failure>(&original);
    if (!seen.answer && std::holds_alternative<replaced>(seen.answer.error()))
      why = seen.answer.error();
    else if (before.at != state::running)
      why = suspended{std::move(operation), which.text(), which.sandbox_name(), "transport",
                      of_guest == nullptr ? std::nullopt : std::optional{*of_guest}};
  }
  auto got = end_with<done>(std::move(before), std::move(why));
  got.events = std::move(told);
  co_return got;
}

asio::awaitable<transition<done>> refresh_steps(world& on, id which, session before, deadline until) {
  if (before.at == state::running)
    co_return co_await notice(on, std::move(which), std::move(before), until);
  if (before.at == state::unknown) {
    auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
    if (!object)
      co_return end_with<done>(std::move(before), failure{object.error()});
  }
  co_return transition<done>{std::move(before), done{}};
}

} // namespace

asio::awaitable<transition<done>> explain(world& on, id which, std::string operation, session before, failure original, deadline until) {
  return without_throwing(explain_steps(on, std::move(which), std::move(operation), std::move(before), std::move(original), until));
}

asio::awaitable<transition<done>> refresh(world& on, id which, session before, deadline until) {
  return without_throwing(refresh_steps(on, std::move(which), std::move(before), until));
}

} // namespace paddock::workspace
