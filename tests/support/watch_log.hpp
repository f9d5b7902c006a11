#pragma once

#include "k8s/watch_port.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace paddock::test {

/// Takes the news of a `watch_port` as a WATCH does, and keeps what changed.
struct watch_log {
  /// For the port to tell. It must not outlive this.
  std::function<void(k8s::watch_news)> teller() {
    return [this](const k8s::watch_news& x) { take(x); };
  }
  void take(const k8s::watch_news& news) {
    if (const auto* list = std::get_if<k8s::watch_listed>(&news)) {
      ++lists;
      note(cache.replace(list->all, list->version, list->anew));
    } else if (const auto* event = std::get_if<k8s::watch_told>(&news)) {
      note(cache.apply(event->what, event->object));
    } else if (const auto* mark = std::get_if<k8s::watch_marked>(&news)) {
      ++marks;
      cache.advance(mark->version);
    } else {
      lost.push_back(std::get<k8s::watch_lost>(news).why);
    }
  }
  /// How often something happened to `name`: `+` it came, `~` it changed, `-` it went.
  [[nodiscard]] std::string history(const std::string& name) const {
    const auto found = histories.find(name);
    return found == histories.end() ? "" : found->second;
  }

  k8s::object_cache cache;
  std::size_t lists = 0;
  std::size_t marks = 0;
  std::vector<k8s::read_failure> lost;
  std::map<std::string, std::string> histories;

private:
  void note(const std::vector<k8s::kept_change>& all) {
    for (const auto& x : all)
      histories[(x.after ? x.after : x.before)->key().name] += !x.before ? "+" : x.after ? "~" : "-";
  }
};

} // namespace paddock::test
