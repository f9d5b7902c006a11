#include "embedded/object_cache.hpp"

#include "embedded/pod_facts.hpp"

#include <set>

namespace paddock::embedded {

namespace {

std::set<std::string> owner_uids(const nlohmann::json& object) {
  std::set<std::string> result;
  if (const auto& owners = value_in(object, "/metadata/ownerReferences"); owners.is_array())
    for (const auto& x : owners)
      if (auto uid = text_in(x, "/uid"); !uid.empty())
        result.insert(std::move(uid));
  return result;
}

} // namespace

k8s::kept object_cache::keep(nlohmann::json what) {
  // Of no use here, and often the larger part.
  if (auto metadata = what.is_object() ? what.find("metadata") : what.end(); metadata != what.end() && metadata->is_object())
    metadata->erase("managedFields");
  return std::make_shared<const k8s::kept_object>(std::move(what), k8s::kept_object::form::whole);
}

std::vector<object_change> object_cache::index(const std::vector<k8s::kept_change>& changes) {
  std::vector<object_change> result;
  for (const auto& x : changes) {
    auto change = object_change{x.before ? x.before->open() : nullptr, x.after ? x.after->open() : nullptr};
    if (change.before) {
      uids_.erase(x.before->uid());
      for (const auto& uid : owner_uids(*change.before)) {
        auto [first, last] = owners_.equal_range(uid);
        for (auto i = first; i != last;)
          i = i->second == change.before ? owners_.erase(i) : std::next(i);
      }
    }
    if (change.after) {
      uids_[x.after->uid()] = change.after;
      for (const auto& uid : owner_uids(*change.after))
        owners_.emplace(uid, change.after);
    }
    result.push_back(std::move(change));
  }
  return result;
}

std::vector<object_change> object_cache::replace(std::vector<k8s::kept> all, const std::string& version, bool anew) {
  return index(known_.replace(std::move(all), version, anew));
}

std::vector<object_change> object_cache::apply(k8s::watch_event::kind how, k8s::kept what) {
  return index(known_.apply(how, std::move(what)));
}

std::vector<object_change> object_cache::took(nlohmann::json answer) {
  // The answer to a write that ended an object, for one, is no object.
  if (uid_of(answer).empty() || text_in(answer, "/metadata/resourceVersion").empty())
    return {};
  return index(known_.took(keep(std::move(answer))));
}

void object_cache::advance(const std::string& version) {
  known_.advance(version);
}

object_cache::object object_cache::find(const std::string& name_space, const std::string& name) const {
  auto there = known_.find({name_space, name});
  return there ? there->open() : nullptr;
}

object_cache::object object_cache::find_uid(const std::string& uid) const {
  auto there = uids_.find(uid);
  return there == uids_.end() ? nullptr : there->second;
}

std::vector<object_cache::object> object_cache::owned_by(const std::string& uid) const {
  std::vector<object> result;
  auto [first, last] = owners_.equal_range(uid);
  for (auto i = first; i != last; ++i)
    result.push_back(i->second);
  return result;
}

std::vector<object_cache::object> object_cache::all() const {
  std::vector<object> result;
  for (const auto& x : known_.all())
    result.push_back(x->open());
  return result;
}

} // namespace paddock::embedded
