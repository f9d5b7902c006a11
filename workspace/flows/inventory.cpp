#include "workspace/flows/inventory.hpp"

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/inventory.hpp"

namespace paddock::workspace {

namespace {

tl::unexpected<failure> unreadable(const k8s::call& what, std::string why) {
  auto got = k8s::api_failure{};
  got.how = k8s::api_failure::transport::status;
  got.method = what.method;
  got.path = what.path;
  got.sent = true;
  got.cause = std::move(why);
  return tl::unexpected{failure{k8s::failure{std::move(got)}}};
}

} // namespace

boost::asio::awaitable<result<std::vector<summary>>> list(world& on, deadline until) {
  auto what = k8s::get(k8s::sandboxes_path(on.how.name_space));
  auto got = co_await on.api.send(what, until);
  if (!got)
    co_return tl::unexpected{failure{got.error()}};
  if (*got && k8s::text_at(**got, "/metadata/continue"))
    co_return unreadable(what, "the server answered a part of the list only");
  co_return summarise_all(*got);
}

boost::asio::awaitable<result<summary>> get(world& on, id which, deadline until) {
  auto what = k8s::get(k8s::sandboxes_path(on.how.name_space, which.sandbox_name()));
  auto got = co_await on.api.send(what, until);
  if (!got)
    co_return tl::unexpected{failure{got.error()}};
  if (!*got || !(*got)->is_object())
    co_return unreadable(what, "the answer is not an object");
  auto row = summarise(**got);
  if (!row)
    co_return tl::unexpected{failure{mismatch{which.sandbox_name(), "spec.podTemplate.metadata.labels[sandbox.namzu.ai/template]",
                                              "the name of a SandboxTemplate", std::nullopt}}};
  co_return std::move(*row);
}

} // namespace paddock::workspace
