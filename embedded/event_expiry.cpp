#include "embedded/event_expiry.hpp"

#include "base/time.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace paddock::embedded {

namespace {

constexpr auto kept = std::chrono::hours{1};
constexpr std::size_t most_at_once = 100; // each is a write
constexpr std::size_t most_kept = 10'000; // of the others the oldest go

/// When it was made or last told of.
store::instant last_told(const stored_object& event) {
  auto out = read_instant(event.text_at({"metadata", "creationTimestamp"})).value_or(store::instant{});
  for (const auto& text : {event.text_at({"lastTimestamp"}), event.text_at({"series", "lastObservedTime"})})
    if (const auto at = read_instant(text))
      out = std::max(out, *at);
  return out;
}

} // namespace

bool expire_events(store& objects, store::instant now) {
  const auto& kind = *find_kind("", "v1", "events");
  std::vector<std::pair<store::instant, object_ptr>> all;
  for (auto& x : objects.list(kind, "", {}))
    all.emplace_back(last_told(*x), std::move(x));
  std::size_t too_many = all.size() > most_kept ? all.size() - most_kept : 0;
  if (too_many > 0)
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t gone = 0;
  for (const auto& [told, x] : all) {
    // An instant may be the last that the clock can tell: nothing is added to it. What is terminating already waits for its finalizers.
    const bool surplus = too_many > 0 && too_many-- > 0;
    if ((!surplus && told >= now - kept) || x->has({"metadata", "deletionTimestamp"}))
      continue;
    if (gone++ == most_at_once)
      return true;
    if (!objects.remove(kind, x->text_at({"metadata", "namespace"}), x->text_at({"metadata", "name"}), {}, now))
      return false; // a journal that refuses now is not asked again at once
  }
  return false;
}

} // namespace paddock::embedded
