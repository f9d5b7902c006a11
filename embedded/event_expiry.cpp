#include "embedded/event_expiry.hpp"

#include "base/time.hpp"

namespace paddock::embedded {

namespace {

constexpr auto kept = std::chrono::hours{1};

/// When it was made or last told of.
store::instant last_told(const json& event) {
  auto out = read_instant(text_at(event, {"metadata", "creationTimestamp"})).value_or(store::instant{});
  for (const auto& text : {text_at(event, {"lastTimestamp"}), text_at(event, {"series", "lastObservedTime"})})
    if (const auto at = read_instant(text))
      out = std::max(out, *at);
  return out;
}

} // namespace

void expire_events(store& objects, store::instant now) {
  const auto& kind = *find_kind("", "v1", "events");
  for (const auto& x : objects.list(kind, "", {}))
    if (last_told(x->value) + kept < now)
      (void)objects.remove(kind, text_at(x->value, {"metadata", "namespace"}), text_at(x->value, {"metadata", "name"}), {}, now);
}

} // namespace paddock::embedded
