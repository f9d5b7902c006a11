#include "workspace/flows/bind.hpp"

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/flows/verbs_steps.hpp"

#include <utility>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

asio::awaitable<k8s::result<std::optional<pod_seen>>> look_at_pod(world& on, std::string sandbox_name, std::optional<sandbox_uid> owner,
                                                                  deadline until) {
  auto got = co_await read(on, k8s::pods_path(on.how.name_space, sandbox_name), until);
  if (got)
    co_return std::optional{see_pod(*got, owner)};
  if (is_gone(got.error()))
    co_return std::optional<pod_seen>{};
  co_return tl::unexpected{got.error()};
}

asio::awaitable<k8s::result<std::vector<pod_seen>>> list_pods(world& on, std::string selector, std::optional<sandbox_uid> owner,
                                                              deadline until) {
  auto got = co_await read(on, k8s::with_selector(k8s::pods_path(on.how.name_space), selector), until);
  if (!got)
    co_return tl::unexpected{got.error()};
  auto all = std::vector<pod_seen>{};
  for (const auto& x : k8s::items_of(*got))
    all.push_back(see_pod(x, owner));
  co_return all;
}

} // namespace

asio::awaitable<k8s::result<pods_seen>> look_at_pods(world& on, std::string sandbox_name, ready_sandbox from,
                                                     std::optional<sandbox_uid> owner, deadline until) {
  auto seen = pods_seen{};
  auto by_name = co_await look_at_pod(on, sandbox_name, owner, until);
  if (!by_name)
    co_return tl::unexpected{by_name.error()};
  seen.by_name = *by_name;
  if (!needs_list(seen.by_name))
    co_return seen;
  auto selector = from.selector;
  if (!selector) {
    auto again = co_await read(on, k8s::sandboxes_path(on.how.name_space, sandbox_name), until);
    if (!again)
      co_return tl::unexpected{again.error()};
    selector = k8s::text_at(*again, "/status/selector");
  }
  if (!selector)
    co_return seen;
  auto listed = co_await list_pods(on, *selector, owner, until);
  if (!listed)
    co_return tl::unexpected{listed.error()};
  seen.listed = std::move(*listed);
  co_return seen;
}

namespace {

/// A Running Sandbox whose controller says that the pod has ended: the pod itself decides ([W] P11).
asio::awaitable<std::optional<failure>> look_for_ended_pod(world& on, id which, std::optional<sandbox_uid> owner, bind_policy policy,
                                                           deadline until) {
  auto seen = co_await look_at_pod(on, which.sandbox_name(), owner, until);
  if (!seen || !*seen || (*seen)->what != pod_seen::kind::stopped)
    co_return std::nullopt;
  policy.await_replacement = true;
  auto choice = choose_pod(which.sandbox_name(), *seen, {}, policy, on.how.agent_address);
  const auto* none = std::get_if<nothing_yet>(&choice);
  if (none != nullptr && none->fatal)
    co_return failure{no_pod{which.sandbox_name(), none->why}};
  co_return std::nullopt;
}

/// Waits for the next look at a Sandbox that was `seen` not Ready. What a WATCH shows meanwhile is that look, unless it would end the
/// wait with a failure; nothing: it is to be read.
asio::awaitable<std::optional<nlohmann::json>> next_look(world& on, id which, std::string operation, std::optional<sandbox_uid> expected,
                                                         nlohmann::json seen, deadline until) {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(until.left(on.time));
  const auto after = [&](watching how_far) { return until.no_later_than(on.time.now() + pause_between_reads(how_far, left, on.how)).at(); };
  if (on.seen == nullptr) {
    co_await pause(on, after(watching::nothing));
    co_return std::nullopt;
  }
  const auto tells = on.seen->live();
  const auto behind = after(tells ? watching::behind : watching::nothing);
  const auto latest = after(tells ? watching::caught_up : watching::nothing);
  auto shown = co_await on.seen->later_than(std::move(seen), on.time, behind, latest);
  if (shown && !judge_readiness(*shown, which, operation, expected))
    co_return std::nullopt;
  co_return shown;
}

} // namespace

asio::awaitable<result<bound>> bind(world& on, id which, std::string operation, std::optional<sandbox_uid> expected, bind_policy policy,
                                    deadline until) {
  const auto bound_of = std::chrono::ceil<std::chrono::milliseconds>(until.left(on.time));
  auto was_ready = false;
  auto last = nothing_yet{"it was Ready and its pod was not read"};
  auto shown = std::optional<nlohmann::json>{};
  while (!until.passed(on.time)) {
    const auto hinted = shown.has_value(); // what was shown may be over: nothing ends the wait with a failure before it was read
    auto object = k8s::result<nlohmann::json>{std::exchange(shown, std::nullopt).value_or(nullptr)};
    if (object->is_null())
      object = co_await read(on, k8s::sandboxes_path(on.how.name_space, which.sandbox_name()), until);
    if (!object && until.passed(on.time))
      break;
    if (!object)
      co_return tl::unexpected{failure{object.error()}};
    auto judged = judge_readiness(*object, which, operation, expected);
    if (!judged)
      co_return tl::unexpected{judged.error()};
    if (const auto* waits = std::get_if<not_ready>(&*judged)) {
      if (waits->pod_ended) {
        auto ended = co_await look_for_ended_pod(on, which, expected, policy, until);
        if (ended && hinted)
          continue;
        if (ended)
          co_return tl::unexpected{*ended};
      } else {
        shown = co_await next_look(on, which, operation, expected, *object, until);
        auto over = co_await withdrawn();
        if (over)
          co_return tl::unexpected{withdrawal()};
        continue;
      }
    } else {
      was_ready = true;
      auto ready = std::get<ready_sandbox>(*judged);
      if (!expected)
        expected = ready.uid;
      auto seen = co_await look_at_pods(on, which.sandbox_name(), ready, expected, until);
      if (!seen && until.passed(on.time))
        break;
      if (!seen)
        co_return tl::unexpected{failure{seen.error()}};
      auto choice = choose_pod(which.sandbox_name(), seen->by_name, seen->listed, policy, on.how.agent_address);
      const auto* nothing = std::get_if<nothing_yet>(&choice);
      if (hinted && (std::holds_alternative<ambiguous_pod>(choice) || (nothing != nullptr && nothing->fatal)))
        continue;
      if (const auto* many = std::get_if<ambiguous_pod>(&choice))
        co_return tl::unexpected{failure{*many}};
      if (const auto* pod = std::get_if<take_pod>(&choice)) {
        auto where = address_of(ready, *pod, which.sandbox_name(), on.how);
        if (!where)
          co_return tl::unexpected{where.error()};
        co_return bound{std::move(ready), pod->uid, *where};
      }
      if (nothing->fatal)
        co_return tl::unexpected{failure{no_pod{which.sandbox_name(), nothing->why}}};
      last = *nothing;
    }
    auto goes_on = co_await pause(on, until.no_later_than(on.time.now() + on.how.ready_poll).at());
    if (!goes_on)
      co_return tl::unexpected{withdrawal()};
  }
  auto over = co_await withdrawn();
  if (over)
    co_return tl::unexpected{withdrawal()};
  if (!was_ready)
    co_return tl::unexpected{failure{readiness_timeout{which.sandbox_name(), bound_of}}};
  co_return tl::unexpected{failure{out_of_time(which.sandbox_name(), policy, last, bound_of)}};
}

} // namespace paddock::workspace
