#include "workspace/flows/fenced.hpp"

#include "k8s/paths.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

result<void> admit(const write_target& to, const k8s::reading& seen) {
  auto ok = k8s::admit(seen, to.who);
  if (!ok)
    return tl::unexpected{to_failure(to, ok.error())};
  return {};
}

} // namespace

failure cannot_compose(std::string text) {
  return k8s::failure{
    k8s::api_failure{k8s::api_failure::transport::status, "PATCH", "", std::nullopt, std::nullopt, false, std::move(text)}};
}

failure to_failure(const write_target& to, const k8s::refusal& x) {
  if (const auto* other = std::get_if<k8s::other_object>(&x))
    return replaced{to.which.text(), to.which.sandbox_name(), other->expected, other->actual};
  const auto& epoch = std::get<k8s::epoch_overtaken>(x);
  return precondition{to.operation, to.which.text(), to.which.sandbox_name(), epoch.ours, epoch.stored, epoch.annotation};
}

result<void> admit(const write_target& to, const nlohmann::json& object) {
  return admit(to, k8s::read_fence(object));
}

asio::awaitable<result<fenced_end>> write_fenced(world& on, write_target to, k8s::sandbox_write what, std::optional<nlohmann::json> seen,
                                                 deadline until) {
  const auto path = k8s::sandboxes_path(on.how.name_space, to.which.sandbox_name());
  const auto shape = k8s::shape_of(what, to.who);
  if (shape == k8s::write_shape::nothing)
    co_return fenced_end{};
  if (shape == k8s::write_shape::merge_patch) {
    auto got = co_await ask(on, k8s::compose_merge_patch(path, *what.mode, on.time.wall()), until);
    if (!got)
      co_return tl::unexpected{of_write(to.operation, got.error())};
    co_return fenced_end{false, got->value_or(nlohmann::json{})};
  }
  for (auto sent = 1u;; ++sent) {
    if (!seen) {
      auto object = co_await read(on, path, until);
      if (!object)
        co_return tl::unexpected{failure{object.error()}};
      seen = std::move(*object);
    }
    const auto tested = k8s::read_fence(*seen);
    auto ok = admit(to, tested);
    if (!ok)
      co_return tl::unexpected{ok.error()};
    auto patch = k8s::compose(path, what, to.who, tested, on.time.wall());
    if (!patch)
      co_return tl::unexpected{cannot_compose(patch.error())};
    auto got = co_await ask(on, *patch, until);
    if (got)
      co_return fenced_end{false, got->value_or(nlohmann::json{})};
    if (!std::holds_alternative<k8s::patch_not_applied>(got.error()) || sent >= k8s::most_attempts)
      co_return tl::unexpected{of_write(to.operation, got.error())};
    auto object = co_await read(on, path, until);
    if (!object)
      co_return tl::unexpected{failure{object.error()}};
    auto next = k8s::after_422(what, to.who, tested, k8s::read_fence(*object), sent);
    if (!next)
      co_return tl::unexpected{to_failure(to, next.error())};
    if (*next == k8s::next_step::give_up)
      co_return tl::unexpected{failure{got.error()}};
    if (*next == k8s::next_step::yielded)
      co_return fenced_end{true, std::move(*object)};
    seen = std::move(*object);
  }
}

asio::awaitable<result<void>> delete_fenced(world& on, write_target to, std::optional<nlohmann::json> seen, deadline until) {
  const auto path = k8s::sandboxes_path(on.how.name_space, to.which.sandbox_name());
  const auto conditioned = to.who.uid || to.who.epoch;
  auto first = std::optional<k8s::reading>{};
  for (auto sent = 1u;; ++sent) {
    auto what = k8s::remove(path);
    if (conditioned) {
      if (!seen) {
        auto object = co_await read(on, path, until);
        if (!object && is_gone(object.error()))
          co_return result<void>{};
        if (!object)
          co_return tl::unexpected{failure{object.error()}};
        seen = std::move(*object);
      }
      const auto now = k8s::read_fence(*seen);
      if (!first)
        first = now;
      auto ok = admit(to, now);
      if (!ok)
        co_return tl::unexpected{ok.error()};
      auto composed = k8s::compose_delete(path, to.who, now);
      if (!composed)
        co_return tl::unexpected{cannot_compose(composed.error())};
      what = *composed;
    }
    auto got = co_await ask(on, what, until);
    if (got || is_gone(got.error()))
      co_return result<void>{};
    if (!conditioned || !std::holds_alternative<k8s::conflict>(got.error()))
      co_return tl::unexpected{of_write(to.operation, got.error())};
    auto object = co_await read(on, path, until);
    if (!object && is_gone(object.error()))
      co_return result<void>{};
    if (!object)
      co_return tl::unexpected{failure{object.error()}};
    auto next = k8s::after_conflict(to.who, *first, k8s::read_fence(*object), sent);
    if (!next)
      co_return tl::unexpected{to_failure(to, next.error())};
    if (*next != k8s::next_step::again)
      co_return tl::unexpected{failure{got.error()}};
    seen = std::move(*object);
  }
}

} // namespace paddock::workspace
