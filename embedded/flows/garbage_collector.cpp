#include "embedded/flows/garbage_collector.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

garbage_collector::garbage_collector(control_client& client, std::vector<informer*> kinds, boost::asio::any_io_executor lane,
                                     std::function<void(std::string)> log) :
  reconciler(std::move(lane), kinds, std::move(log)), client_(client), all_(std::move(kinds)) {
  for (auto* x : all_)
    x->on_change([this](const object_change& change) { changed(change); });
}

void garbage_collector::changed(const object_change& change) {
  // What is there is looked at itself; what has gone lets its dependants be looked at.
  if (change.after) {
    const auto& owners = value_in(*change.after, "/metadata/ownerReferences");
    if (terminating(*change.after) || (owners.is_array() && !owners.empty()))
      look_at(uid_of(*change.after));
    if (terminating(*change.after))
      for (const auto& x : dependants(uid_of(*change.after)))
        look_at(uid_of(*x));
  } else {
    for (const auto& x : dependants(uid_of(*change.before)))
      look_at(uid_of(*x));
  }
  // Whom it no longer belongs to may have waited for it.
  if (!change.before)
    return;
  const auto& had = value_in(*change.before, "/metadata/ownerReferences");
  if (had.is_array() && (!change.after || value_in(*change.after, "/metadata/ownerReferences") != had))
    for (const auto& x : had)
      look_at(text_in(x, "/uid"));
}

object_cache::object garbage_collector::find(const std::string& uid) const {
  for (auto* x : all_)
    if (auto found = x->objects().find_uid(uid))
      return found;
  return nullptr;
}

std::vector<object_cache::object> garbage_collector::dependants(const std::string& uid) const {
  std::vector<object_cache::object> result;
  for (auto* x : all_)
    for (auto& found : x->objects().owned_by(uid))
      result.push_back(std::move(found));
  return result;
}

/// The server's word on an owner that no list knows.
boost::asio::awaitable<owner_state> garbage_collector::ask(nlohmann::json reference, std::string name_space) {
  auto path = path_of(reference, name_space);
  if (!path)
    co_return owner_state::unknown;
  auto got = co_await client_.send(k8s::get(*path));
  if (got)
    co_return uid_of(*got) == text_in(reference, "/uid") ? owner_state::stands : owner_state::gone;
  co_return says_gone(reference, got.error().status, got.error().message) ? owner_state::gone : owner_state::unknown;
}

boost::asio::awaitable<reconciler::outcome> garbage_collector::pass(std::string uid) {
  auto object = find(uid);
  if (!object)
    co_return outcome{};
  if (terminating(*object)) {
    std::vector<nlohmann::json> children;
    for (const auto& x : dependants(uid))
      children.push_back(*x);
    for (auto& write : orphan(*object, children)) {
      auto got = co_await client_.send(std::move(write));
      if (!got && got.error().status != 404)
        co_return outcome{false};
    }
    auto patch = end_foreground(*object, children);
    if (!patch)
      co_return outcome{};
    auto got = co_await client_.send(*patch);
    co_return outcome{got || got.error().status == 404 || got.error().status == 422};
  }
  // The owners: from the lists, and from the server where they do not know one.
  std::map<std::string, owner_state> states;
  auto unsure = false;
  if (const auto& owners = value_in(*object, "/metadata/ownerReferences"); owners.is_array())
    for (const auto& reference : owners) {
      auto owner = find(text_in(reference, "/uid"));
      auto state = owner_state::stands;
      if (!owner)
        state = co_await ask(reference, namespace_of(*object));
      else if (terminating(*owner) && value_in(*owner, "/metadata/finalizers").is_array()) {
        // Foreground: the owner waits for those who block it.
        for (const auto& finalizer : value_in(*owner, "/metadata/finalizers"))
          if (finalizer == "foregroundDeletion")
            state = owner_state::waits;
      }
      states[text_in(reference, "/uid")] = state;
      unsure = unsure || (state == owner_state::unknown && path_of(reference, namespace_of(*object)));
    }
  const auto look = [&](const nlohmann::json& reference, const std::string&) { return states[text_in(reference, "/uid")]; };
  auto call = collect(*object, look, !dependants(uid).empty());
  if (!call)
    call = let_go(*object, look);
  if (!call)
    co_return outcome{!unsure};
  auto got = co_await client_.send(*call);
  co_return outcome{got || got.error().status == 404 || got.error().status == 409};
}

} // namespace paddock::embedded
