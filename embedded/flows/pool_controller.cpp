#include "embedded/flows/pool_controller.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

pool_controller::pool_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                                 std::function<void(std::string)> log) :
  reconciler(std::move(lane),
             {&watched.of(collections::warm_pools), &watched.of(collections::sandbox_templates), &watched.of(collections::sandboxes)},
             std::move(log)),
  client_(client),
  pools_(watched.of(collections::warm_pools)),
  templates_(watched.of(collections::sandbox_templates)),
  sandboxes_(watched.of(collections::sandboxes)) {
  pools_.on_change([this](const object_change& x) { look_at(key_of(x.after ? *x.after : *x.before)); });
  templates_.on_change([this](const object_change& x) {
    const auto& changed = x.after ? *x.after : *x.before;
    for (const auto& pool : pools_.objects().all())
      if (namespace_of(*pool) == namespace_of(changed) && text_in(*pool, "/spec/sandboxTemplateRef/name") == name_of(changed))
        look_at(key_of(*pool));
  });
  sandboxes_.on_change([this](const object_change& x) {
    for (const auto& member : {x.before, x.after})
      if (member && text_in(controller_of(*member), "/kind") == "SandboxWarmPool")
        look_at(namespace_of(*member) + "/" + text_in(controller_of(*member), "/name"));
  });
}

std::optional<pool_view> pool_controller::look(const std::string& key) const {
  auto [name_space, name] = split_key(key);
  auto pool = pools_.objects().find(name_space, name);
  if (!pool)
    return std::nullopt;
  auto seen = pool_view{*pool, {}, {}};
  if (auto named = templates_.objects().find(name_space, text_in(*pool, "/spec/sandboxTemplateRef/name")))
    seen.sandbox_template = *named;
  for (const auto& x : sandboxes_.objects().owned_by(uid_of(*pool)))
    if (text_in(controller_of(*x), "/uid") == uid_of(*pool))
      seen.members.push_back(*x);
  return seen;
}

boost::asio::awaitable<reconciler::outcome> pool_controller::pass(std::string key) {
  auto seen = look(key);
  if (!seen)
    co_return outcome{};
  auto plan = plan_pool(*seen, client_.time().wall());
  auto done = plan.fault.empty();
  if (!done)
    complain(key, plan.fault);
  for (const auto& write : plan.writes) {
    auto got = co_await client_.send(write);
    if (got && write.method == "POST")
      sandboxes_.took(std::move(*got)); // or the next pass would make it once more
    else if (!got && got.error().status != 404 && got.error().status != 409)
      done = false;
  }
  if (plan.report) {
    auto got = co_await client_.send(*plan.report);
    if (got)
      pools_.took(std::move(*got));
    else if (got.error().status != 404)
      done = false;
  }
  co_return outcome{done, plan.revisit};
}

} // namespace paddock::embedded
