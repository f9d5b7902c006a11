#include "workspace/flows/verbs.hpp"

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

/// The notice of [W] 3.8, and the stranger that outranks it. One read, and only for a session that is believed to run; a read
/// that fails explains nothing.
asio::awaitable<transition<done>> explain_steps(world& on, id which, std::string operation, session before, failure original,
                                                deadline until) {
  if (before.at != state::running || std::holds_alternative<replaced>(original))
    co_return end_with<done>(std::move(before), std::move(original));
  auto object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
  if (!object)
    co_return end_with<done>(std::move(before), std::move(original));
  const auto seen = k8s::read_sandbox(*object);
  if (before.sandbox && seen.uid != before.sandbox) {
    auto why = replaced{which.text(), which.sandbox_name(), before.sandbox, seen.uid};
    co_return end_with<done>(std::move(before), std::move(why));
  }
  if (seen.mode != k8s::operating_mode::suspended)
    co_return end_with<done>(std::move(before), std::move(original));
  before.at = state::suspending;
  retire(before);
  co_return end_with<done>(std::move(before), suspended{std::move(operation), which.text(), which.sandbox_name(), "transport"});
}

} // namespace

asio::awaitable<transition<done>> explain(world& on, id which, std::string operation, session before, failure original, deadline until) {
  return without_throwing(explain_steps(on, std::move(which), std::move(operation), std::move(before), std::move(original), until));
}

} // namespace paddock::workspace
