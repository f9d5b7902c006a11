#include "base/time.hpp"
#include "embedded/store.hpp"
#include "embedded/store_facts.hpp"

namespace paddock::embedded {

namespace {

constexpr std::int64_t longest_grace = 100LL * 365 * 86400;

/// How long the pod may take to end; 0: nothing runs, or nothing is to be waited for.
std::int64_t grace_of(const resource_kind& kind, const json& object, const delete_request& how) {
  if (kind.kind != "Pod")
    return 0;
  const auto phase = text_at(object, {"status", "phase"});
  if (text_at(object, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed")
    return 0;
  const auto wanted = how.grace_seconds.value_or(number_at(object, {"spec", "terminationGracePeriodSeconds"}, 30));
  return wanted < 0 ? 1 : std::min(wanted, longest_grace);
}

/// Those without which no cluster is.
bool is_immortal(const resource_kind& kind, const std::string& name) {
  return kind.kind == "Namespace" && (name == "default" || name == "kube-system" || name == "kube-public");
}

bool has_finalizer(const json& object, std::string_view what) {
  const auto all = texts_of(object.value("metadata", json::object()), "finalizers");
  return std::find(all.begin(), all.end(), what) != all.end();
}

/// The finalizers by which the garbage collector is told what becomes of the children. A kind that it does not look after goes in
/// the background: nobody would take them away again.
void set_propagation(const resource_kind& kind, json& object, std::optional<propagation> wanted) {
  if (!kind.collected)
    wanted = propagation::background;
  else if (!wanted && has_finalizer(object, orphan_finalizer))
    wanted = propagation::orphan;
  else if (!wanted && has_finalizer(object, foreground_finalizer))
    wanted = propagation::foreground;
  auto all = texts_of(object["metadata"], "finalizers");
  std::erase(all, orphan_finalizer);
  std::erase(all, foreground_finalizer);
  if (wanted == propagation::orphan)
    all.emplace_back(orphan_finalizer);
  else if (wanted == propagation::foreground)
    all.emplace_back(foreground_finalizer);
  if (all.empty())
    object["metadata"].erase("finalizers");
  else
    object["metadata"]["finalizers"] = std::move(all);
}

/// Marks an object that goes later; false: it is marked as well as it can be.
bool mark(const resource_kind& kind, json& object, std::int64_t grace, store::instant now) {
  auto& metadata = object_at(object, "metadata");
  if (!is_terminating(object)) {
    metadata["deletionTimestamp"] = rfc3339_seconds(now + std::chrono::seconds{grace});
    raise_generation(kind, object);
    if (kind.kind == "Namespace")
      object_at(object, "status")["phase"] = "Terminating";
    else
      object_at(object, "metadata")["deletionGracePeriodSeconds"] = grace;
    return true;
  }
  // A second request can only make it earlier.
  const auto had = number_at(object, {"metadata", "deletionGracePeriodSeconds"}, 0);
  if (grace >= had)
    return false;
  const auto asked = read_instant(text_at(metadata, {"deletionTimestamp"})).value_or(now) - std::chrono::seconds{had};
  metadata["deletionTimestamp"] = rfc3339_seconds(asked + std::chrono::seconds{grace});
  metadata["deletionGracePeriodSeconds"] = grace;
  return true;
}

/// Whether the garbage collector is to say what becomes of its children.
bool awaits_collector(const json& object) {
  return has_finalizer(object, orphan_finalizer) || has_finalizer(object, foreground_finalizer);
}

} // namespace

api_result<void> store::finish_deletions(instant now) {
  std::vector<key> left;
  for (const auto& [at, object] : objects_)
    if (!at.kind->collected && is_terminating(*object) && awaits_collector(object->value()))
      left.push_back(at);
  for (const auto& at : left)
    if (auto done = remove(*at.kind, at.name_space, at.name, {}, now); !done)
      return tl::unexpected{done.error()};
  return {};
}

api_result<deleted> store::remove(const resource_kind& kind, const std::string& name_space, const std::string& name,
                                  const delete_request& how, instant now) {
  if (is_immortal(kind, name))
    return tl::unexpected{forbidden(kind, name, "this namespace may not be deleted")};
  key at{&kind, name_space, name};
  auto found = objects_.find(at);
  if (found == objects_.end())
    return tl::unexpected{not_found(kind, name)};
  const auto stored = found->second;
  const auto before = stored->value();
  auto object = before;
  if (const auto uid = text_at(object, {"metadata", "uid"}); how.uid && *how.uid != uid)
    return tl::unexpected{failed_uid_precondition(kind, name, *how.uid, uid)};
  if (const auto version = std::to_string(stored->version); how.version && *how.version != version)
    return tl::unexpected{failed_version_precondition(kind, name, *how.version, version)};
  if (how.admit)
    if (auto admitted = how.admit(nullptr, &object); !admitted)
      return tl::unexpected{admitted.error()};
  const auto grace = grace_of(kind, object, how);
  set_propagation(kind, object, how.children);
  if (grace == 0 && !is_held(kind, object)) {
    auto done = commit(at, before, stored->managed(), true, how.dry_run);
    if (!done)
      return tl::unexpected{done.error()};
    return deleted{std::move(*done), true};
  }
  const bool marked = mark(kind, object, grace, now);
  if (!marked && object == before)
    return deleted{stored, false};
  auto done = commit(at, std::move(object), stored->managed(), false, how.dry_run);
  if (!done)
    return tl::unexpected{done.error()};
  return deleted{std::move(*done), false};
}

} // namespace paddock::embedded
