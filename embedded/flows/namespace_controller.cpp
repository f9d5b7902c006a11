#include "embedded/flows/namespace_controller.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

namespace_controller::namespace_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                                           std::function<void(std::string)> log) :
  reconciler(std::move(lane), {&watched.of(collections::namespaces)}, std::move(log)),
  client_(client),
  namespaces_(watched.of(collections::namespaces)) {
  namespaces_.on_change([this](const object_change& x) {
    if (x.after && waits_for_content(*x.after))
      look_at(name_of(*x.after));
  });
}

/// The paths of every collection in the namespace.
boost::asio::awaitable<tl::expected<std::vector<std::string>, call_failure>> namespace_controller::collections_of(std::string name_space) {
  auto groups = co_await client_.send(k8s::get("/apis"));
  if (!groups)
    co_return tl::unexpected{groups.error()};
  std::vector<std::string> result;
  auto paths = group_paths(*groups);
  for (const auto& path : paths) {
    auto resources = co_await client_.send(k8s::get(path));
    if (!resources)
      co_return tl::unexpected{resources.error()};
    for (const auto& x : removable_resources(*resources))
      result.push_back(path + "/namespaces/" + name_space + "/" + x);
  }
  co_return result;
}

/// Deletes what stands in the collection, a page at most; answers how much was there.
boost::asio::awaitable<tl::expected<std::size_t, call_failure>> namespace_controller::empty(std::string path) {
  auto listed = co_await client_.send(k8s::get(path + "?limit=500"));
  if (!listed && (listed.error().status == 404 || listed.error().status == 405))
    co_return std::size_t{0};
  if (!listed)
    co_return tl::unexpected{listed.error()};
  const auto items = value_in(*listed, "/items");
  for (const auto& x : items)
    if (!terminating(x)) {
      auto got = co_await client_.send(remove_content(path, x));
      if (!got && got.error().status != 404 && got.error().status != 409)
        co_return tl::unexpected{got.error()};
    }
  co_return items.size();
}

boost::asio::awaitable<reconciler::outcome> namespace_controller::pass(std::string key) {
  auto seen = namespaces_.objects().find("", key);
  if (!seen || !waits_for_content(*seen))
    co_return outcome{};
  auto paths = co_await collections_of(key);
  if (!paths) {
    complain(key, paths.error().message);
    co_return outcome{false};
  }
  std::size_t left = 0;
  for (const auto& path : *paths) {
    auto there = co_await empty(path);
    if (!there) {
      complain(key, path + ": " + there.error().message);
      co_return outcome{false};
    }
    left += *there;
  }
  // Looked at again under the back-off: what goes slowly is not asked about all the time.
  if (left > 0)
    co_return outcome{false};
  auto got = co_await client_.send(finalize_namespace(*seen));
  co_return outcome{got || got.error().status == 404 || got.error().status == 409};
}

} // namespace paddock::embedded
