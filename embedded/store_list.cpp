#include "embedded/store.hpp"

namespace paddock::embedded {

namespace {

/// The objects that were others at a version, as they were then; null: there was none.
using undone = std::map<list_key, object_ptr>;

bool within(const list_query& query, const list_key& at) {
  return (query.name_space.empty() || at.name_space == query.name_space) && (!query.after || at > *query.after);
}

/// Fills a page in the order of the keys.
class page_filler {
public:
  explicit page_filler(const list_query& query) : query_(query) {
  }
  /// False: the page is full, and this one stands behind it.
  bool take(const object_ptr& x) {
    if (!x || !query_.what.matches_text(x->text))
      return true;
    if (query_.limit != 0 && out.items.size() == query_.limit) {
      out.more = true;
      return false;
    }
    out.items.push_back(x);
    return true;
  }
  listed out;

private:
  const list_query& query_;
};

} // namespace

std::vector<object_ptr> store::list(const resource_kind& kind, const std::string& name_space, const selection& what) const {
  return page(kind, {.name_space = name_space, .what = what}).items;
}

listed store::page(const resource_kind& kind, const list_query& query) const {
  // The first write to an object after the version says how it was before.
  undone then;
  for (const auto* event = query.version ? event_after(*query.version) : nullptr; event != nullptr; event = event_after(event->version))
    if (event->now->kind == &kind)
      if (within(query, event->at))
        then.emplace(event->at, event->before);
  // Both in order, the older state first where there is one.
  page_filler page{query};
  const auto from = query.after.value_or(list_key{query.name_space, ""});
  auto it = query.after ? objects_.upper_bound({&kind, from.name_space, from.name}) : objects_.lower_bound({&kind, from.name_space, ""});
  auto old = then.begin();
  const auto here = [&] {
    return it != objects_.end() && it->first.kind == &kind && (query.name_space.empty() || it->first.name_space == query.name_space);
  };
  bool room = true;
  while (room && (here() || old != then.end())) {
    const auto at = here() ? list_key{it->first.name_space, it->first.name} : list_key{};
    if (!here() || (old != then.end() && old->first < at)) {
      room = page.take((old++)->second);
    } else if (old != then.end() && old->first == at) {
      room = page.take((old++)->second);
      ++it;
    } else {
      room = page.take((it++)->second);
    }
  }
  // The one that had no room is counted, too.
  if (page.out.more && query.what.empty()) {
    std::size_t left = 1;
    for (; here(); ++it)
      ++left;
    // What is counted as it is now counts as it was.
    for (; old != then.end(); ++old) {
      left += old->second ? 1 : 0;
      left -= objects_.contains({&kind, old->first.name_space, old->first.name}) ? 1 : 0;
    }
    page.out.remaining = left;
  }
  return std::move(page.out);
}

} // namespace paddock::embedded
