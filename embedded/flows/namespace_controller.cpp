#include "embedded/flows/namespace_controller.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t deletions_at_once = 5000; // of one collection: other namespaces wait meanwhile

} // namespace

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

/// Deletes what stands in the collection, page after page. One list has an end: nothing is made in a namespace that ends.
boost::asio::awaitable<tl::expected<namespace_controller::emptied, call_failure>> namespace_controller::empty(std::string path) {
  emptied result;
  for (std::string next;;) {
    auto page = k8s::get(path + "?limit=500" + (next.empty() ? "" : "&continue=" + next));
    auto listed = co_await client_.send(std::move(page));
    if (!listed && (listed.error().status == 404 || listed.error().status == 405))
      co_return result;
    if (!listed && listed.error().status == 410 && !next.empty()) // the deletions have made the list an old one
      co_return result;
    if (!listed)
      co_return tl::unexpected{listed.error()};
    const auto items = value_in(*listed, "/items");
    result.found += items.size();
    for (const auto& x : items)
      if (!terminating(x)) {
        auto got = co_await client_.send(remove_content(path, x));
        if (!got && got.error().status != 404 && got.error().status != 409)
          co_return tl::unexpected{got.error()};
        result.deleted += got ? 1u : 0u;
      }
    next = text_in(*listed, "/metadata/continue");
    if (next.empty() || result.deleted >= deletions_at_once)
      co_return result;
  }
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
  emptied all;
  for (const auto& path : *paths) {
    auto there = co_await empty(path);
    if (!there) {
      complain(key, path + ": " + there.error().message);
      co_return outcome{false};
    }
    all.found += there->found;
    all.deleted += there->deleted;
  }
  // What was deleted may be gone. What goes slowly is not asked about all the time: it is looked at again under the back-off.
  if (all.deleted > 0)
    co_return outcome{true, 0s};
  if (all.found > 0)
    co_return outcome{false};
  auto got = co_await client_.send(finalize_namespace(*seen));
  co_return outcome{got || got.error().status == 404 || got.error().status == 409};
}

} // namespace paddock::embedded
