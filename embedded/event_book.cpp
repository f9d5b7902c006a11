#include "embedded/event_book.hpp"

#include "embedded/first_bytes.hpp"
#include "embedded/pod_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace paddock::embedded {

namespace {

using nlohmann::json;

constexpr std::size_t most_known = 1024;
constexpr double most_at_once = 25;
constexpr double per_second = 1.0 / 300;
constexpr std::size_t longest_message = 1024;

json reference_to(const json& subject, const std::string& field) {
  json out{{"apiVersion", text_in(subject, "/apiVersion")},
           {"kind", text_in(subject, "/kind")},
           {"name", name_of(subject)},
           {"uid", uid_of(subject)},
           {"resourceVersion", text_in(subject, "/metadata/resourceVersion")}};
  if (const auto name_space = namespace_of(subject); !name_space.empty())
    out["namespace"] = name_space;
  if (!field.empty())
    out["fieldPath"] = field;
  return out;
}

/// No two alike: the instant, and which one of this book it is.
std::string unique_suffix(event_book::instant now, std::uint64_t serial) {
  const auto ticks = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  std::array<char, 20> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), static_cast<std::uint64_t>(ticks) + serial, 16).ptr;
  return {text.data(), end};
}

} // namespace

bool event_book::allowed(const std::string& subject, instant now) {
  if (allowances_.size() >= most_known && !allowances_.contains(subject))
    allowances_.erase(
      std::min_element(allowances_.begin(), allowances_.end(), [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
  auto& mine = allowances_.try_emplace(subject, allowance{most_at_once, now}).first->second;
  const std::chrono::duration<double> passed = now - mine.at;
  mine.left = std::min(most_at_once, mine.left + std::max(0.0, passed.count()) * per_second);
  mine.at = now;
  if (mine.left < 1)
    return false;
  mine.left -= 1;
  return true;
}

std::optional<event_write> event_book::tell(const json& subject, const happening& what, instant now) {
  if (uid_of(subject).empty() || !allowed(uid_of(subject), now))
    return std::nullopt;
  const auto message = first_bytes(what.message, longest_message);
  const auto key = uid_of(subject) + "\n" + what.field + "\n" + what.reason + "\n" + message;
  const auto at = rfc3339_seconds(now);
  if (const auto known = known_.find(key); known != known_.end()) {
    ++known->second.count;
    return event_write{key, k8s::merge_patch(known->second.path, {{"count", known->second.count}, {"lastTimestamp", at}})};
  }
  const auto name_space = namespace_of(subject).empty() ? std::string{"default"} : namespace_of(subject);
  const auto name = name_of(subject) + "." + unique_suffix(now, serial_++);
  json source{{"component", from_.component}};
  if (!from_.host.empty())
    source["host"] = from_.host;
  json event{{"apiVersion", "v1"},
             {"kind", "Event"},
             {"metadata", {{"name", name}, {"namespace", name_space}}},
             {"involvedObject", reference_to(subject, what.field)},
             {"reason", what.reason},
             {"message", message},
             {"type", what.warning ? "Warning" : "Normal"},
             {"source", std::move(source)},
             {"reportingComponent", from_.component},
             {"reportingInstance", from_.host},
             {"firstTimestamp", at},
             {"lastTimestamp", at},
             {"count", 1}};
  if (!what.action.empty())
    event["action"] = what.action;
  const auto path = "/api/v1/namespaces/" + name_space + "/events";
  known_.emplace(key, known_event{path + "/" + name});
  order_.push_back(key);
  if (order_.size() > most_known) {
    known_.erase(order_.front());
    order_.pop_front();
  }
  return event_write{key, k8s::post(path, std::move(event))};
}

void event_book::forget(const std::string& key) {
  if (known_.erase(key) > 0)
    std::erase(order_, key);
}

} // namespace paddock::embedded
