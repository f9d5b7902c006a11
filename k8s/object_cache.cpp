#include "k8s/object_cache.hpp"

#include "k8s/list_request.hpp"
#include "k8s/objects.hpp"

namespace paddock::k8s {

using nlohmann::json;

kept_object::kept_object(json object, form how) :
  key_{text_at(object, "/metadata/namespace").value_or(""), text_at(object, "/metadata/name").value_or("")},
  uid_(text_at(object, "/metadata/uid").value_or("")),
  version_(text_at(object, "/metadata/resourceVersion").value_or("")) {
  if (how == form::packed) {
    packed_ = object.dump(-1, ' ', false, json::error_handler_t::replace);
    packed_.shrink_to_fit();
  } else {
    whole_ = std::make_shared<const json>(std::move(object));
  }
}

std::shared_ptr<const json> kept_object::open() const {
  return whole_ ? whole_ : std::make_shared<const json>(json::parse(packed_));
}

void object_cache::put(kept what, bool anew, std::vector<kept_change>& to) {
  const auto known = objects_.find(what);
  if (known == objects_.end()) {
    to.push_back({nullptr, what});
    objects_.insert(std::move(what));
    return;
  }
  auto before = *known;
  const auto same = before->uid() == what->uid();
  if ((same && before->version() == what->version()) || (!anew && older_version(what->version(), before->version())))
    return;
  auto hint = objects_.erase(known);
  if (same) {
    to.push_back({before, what});
  } else {
    to.push_back({before, nullptr});
    to.push_back({nullptr, what});
  }
  objects_.insert(hint, std::move(what));
}

std::vector<kept_change> object_cache::replace(std::vector<kept> all, const std::string& version, bool anew) {
  auto listed = std::set<object_key>{};
  for (const auto& x : all)
    listed.insert(x->key());
  auto changes = std::vector<kept_change>{};
  for (auto it = objects_.begin(); it != objects_.end();) {
    const auto ours = !anew && older_version(version, (*it)->version());
    if (ours || listed.contains((*it)->key())) {
      ++it;
      continue;
    }
    changes.push_back({*it, nullptr});
    it = objects_.erase(it);
  }
  for (auto& x : all)
    put(std::move(x), anew, changes);
  version_ = version;
  return changes;
}

std::vector<kept_change> object_cache::apply(watch_event::kind what, kept object) {
  auto changes = std::vector<kept_change>{};
  advance(object->version());
  if (what != watch_event::kind::deleted) {
    put(std::move(object), false, changes);
    return changes;
  }
  const auto known = objects_.find(object);
  if (known != objects_.end() && (*known)->uid() == object->uid()) {
    changes.push_back({*known, nullptr});
    objects_.erase(known);
  }
  return changes;
}

std::vector<kept_change> object_cache::took(kept answer) {
  auto changes = std::vector<kept_change>{};
  if (older_version(version_, answer->version()))
    put(std::move(answer), false, changes);
  return changes;
}

void object_cache::advance(const std::string& version) {
  if (!older_version(version, version_))
    version_ = version;
}

kept object_cache::find(const object_key& which) const {
  const auto known = objects_.find(which);
  return known == objects_.end() ? nullptr : *known;
}

std::vector<kept> object_cache::all() const {
  return {objects_.begin(), objects_.end()};
}

} // namespace paddock::k8s
