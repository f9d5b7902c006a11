#pragma once

#include "k8s/flows/watch.hpp"
#include "k8s/objects.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace paddock::test {

/// One collection of an API server with all that ever happened to it: it lists in pages whose tokens hold to their version, and
/// watches from any version that is not forgotten. Everything that a connection may do to an answer is asked of `fate`. When a watch
/// has told everything, `quiet` says what comes next. For one thread.
class watch_history final : public k8s::watch_source {
public:
  explicit watch_history(flow_time& time) : time_(time) {
  }

  // -- what happens ------------------------------------------------------------

  void put(const std::string& name) {
    auto& x = state_[name];
    const auto added = x.is_null();
    if (added)
      x = {{"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", "uid-" + std::to_string(version_ + 1)}}}};
    x["metadata"]["resourceVersion"] = std::to_string(++version_);
    events_.push_back({version_, added ? "ADDED" : "MODIFIED", x});
  }
  void remove(const std::string& name) {
    auto gone = state_.extract(name);
    if (!gone)
      return;
    gone.mapped()["metadata"]["resourceVersion"] = std::to_string(++version_);
    events_.push_back({version_, "DELETED", gone.mapped()});
  }
  /// Watches and tokens of versions before the present one are answered 410 from now on.
  void compact() {
    forgotten_ = version_;
  }

  // -- what becomes of an answer -------------------------------------------------

  struct fate_of_page {
    unsigned status = 200; // 0: no answer
  };
  struct fate_of_stream {
    unsigned status = 200;
    std::size_t cut_after = SIZE_MAX; // bytes of the body
    std::size_t piece = 7;
    std::size_t repeats = 0; // so many events from before the version asked for come again
    bool bookmarks = true;
  };
  std::function<fate_of_page()> page_fate = [] { return fate_of_page{}; };
  std::function<fate_of_stream()> stream_fate = [] { return fate_of_stream{}; };
  /// Everything was told. True: more has happened, or may. False: the server ends the watch.
  std::function<bool()> quiet = [] { return false; };

  boost::asio::awaitable<tl::expected<nlohmann::json, k8s::read_failure>> page(k8s::call what, deadline) override {
    asked.push_back(what.path);
    const auto fate = page_fate();
    if (fate.status != 200)
      co_return tl::unexpected{failed(fate.status)};
    co_return list(what.path);
  }

  boost::asio::awaitable<tl::expected<void, k8s::read_failure>> stream(k8s::call what, std::function<bool(std::string_view)> on_bytes,
                                                                       time_source::clock::duration, deadline until) override {
    asked.push_back(what.path);
    auto fate = stream_fate();
    if (fate.status != 200)
      co_return tl::unexpected{failed(fate.status)};
    auto from = std::stoull(parameter(what.path, "resourceVersion"));
    if (from < forgotten_) {
      on_bytes(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
               "\n");
      co_return tl::expected<void, k8s::read_failure>{};
    }
    for (auto left = fate.cut_after;;) {
      const auto text = lines_after(from, std::exchange(fate.repeats, 0), fate.bookmarks);
      from = version_;
      for (auto at = std::size_t{0}; at < text.size() && left > 0;) {
        const auto n = std::min({fate.piece, left, text.size() - at});
        if (!on_bytes(std::string_view{text}.substr(at, n)))
          co_return tl::expected<void, k8s::read_failure>{};
        at += n;
        left -= n;
      }
      if (left == 0)
        co_return tl::unexpected{failed(0)};
      if (!quiet())
        break;
    }
    co_await time_.sleep_until(until.at() - std::chrono::seconds{30}); // when the server ends it by itself
    co_return tl::expected<void, k8s::read_failure>{};
  }

  /// Name and version of everything that stands.
  [[nodiscard]] std::map<std::string, std::string> standing() const {
    auto got = std::map<std::string, std::string>{};
    for (const auto& [name, x] : state_)
      got.emplace(name, k8s::text_at(x, "/metadata/resourceVersion").value_or(""));
    return got;
  }
  [[nodiscard]] std::uint64_t version() const {
    return version_;
  }

  std::vector<std::string> asked; // the paths, in order

private:
  struct event {
    std::uint64_t version = 0;
    std::string type;
    nlohmann::json object;
  };

  static k8s::read_failure failed(unsigned status) {
    return {status, std::nullopt, "scripted"};
  }
  static std::string parameter(const std::string& path, const std::string& name) {
    const auto at = path.find(name + "=");
    return at == std::string::npos ? "" : path.substr(at + name.size() + 1, path.find('&', at) - at - name.size() - 1);
  }

  tl::expected<nlohmann::json, k8s::read_failure> list(const std::string& path) const {
    auto version = version_;
    auto after = std::string{};
    if (const auto token = parameter(path, "continue"); !token.empty()) {
      version = std::stoull(token);
      after = token.substr(token.find('-') + 1);
    }
    if (version < forgotten_)
      return tl::unexpected{failed(410)};
    const auto limit = parameter(path, "limit");
    auto left = limit.empty() ? SIZE_MAX : std::stoull(limit);
    auto answer = nlohmann::json{{"kind", "ThingList"}, {"apiVersion", "v1"}, {"items", nlohmann::json::array()}};
    answer["metadata"]["resourceVersion"] = std::to_string(version);
    for (const auto& [name, x] : state_at(version)) {
      if (name <= after && !after.empty())
        continue;
      if (left-- == 0) {
        const auto last = k8s::text_at(answer["items"].back(), "/metadata/name").value_or("");
        answer["metadata"]["continue"] = std::to_string(version) + "-" + last;
        break;
      }
      answer["items"].push_back(x);
    }
    return answer;
  }

  std::map<std::string, nlohmann::json> state_at(std::uint64_t version) const {
    auto got = std::map<std::string, nlohmann::json>{};
    for (const auto& x : events_) {
      if (x.version > version)
        break;
      const auto name = k8s::text_at(x.object, "/metadata/name").value_or("");
      if (x.type == "DELETED")
        got.erase(name);
      else
        got[name] = x.object;
    }
    return got;
  }

  std::string lines_after(std::uint64_t version, std::size_t repeats, bool bookmark) const {
    auto text = std::string{};
    for (const auto& x : events_)
      if (x.version + repeats > version)
        text += nlohmann::json{{"type", x.type}, {"object", x.object}}.dump() + "\n";
    if (bookmark)
      text +=
        nlohmann::json{{"type", "BOOKMARK"}, {"object", {{"metadata", {{"resourceVersion", std::to_string(version_)}}}}}}.dump() + "\n";
    return text;
  }

  flow_time& time_;
  std::map<std::string, nlohmann::json> state_;
  std::vector<event> events_;
  std::uint64_t version_ = 1;
  std::uint64_t forgotten_ = 0;
};

/// Hears a list+watch as a WATCH does, and holds every telling against what must be so: what is added was not there, what changes
/// or goes was, what has gone stays gone, and no object goes back in its versions.
class checking_listener final : public k8s::watch_listener {
public:
  k8s::kept keep(nlohmann::json object) override {
    return std::make_shared<const k8s::kept_object>(std::move(object), k8s::kept_object::form::packed);
  }
  void listed(std::vector<k8s::kept> all, const std::string& version, bool anew) override {
    ++lists;
    take(cache.replace(std::move(all), version, anew));
  }
  void told(k8s::watch_event::kind what, k8s::kept object) override {
    const auto made = cache.apply(what, std::move(object));
    void_events += made.empty() ? 1u : 0u;
    take(made);
  }
  void marked(const std::string& version) override {
    cache.advance(version);
  }
  void lost(const k8s::read_failure& why) override {
    failures.push_back(why);
  }
  [[nodiscard]] std::map<std::string, std::string> known() const {
    auto got = std::map<std::string, std::string>{};
    for (const auto& x : cache.all())
      got.emplace(x->key().name, x->version());
    return got;
  }

  /// How many objects came and did not go, by what was told.
  [[nodiscard]] std::size_t told_to_stand() const {
    return static_cast<std::size_t>(std::ranges::count_if(versions_, [](const auto& x) { return x.second != 0; }));
  }

  k8s::object_cache cache;
  std::size_t lists = 0;
  std::size_t void_events = 0;      // that changed nothing
  std::vector<std::string> changes; // `uid version`, or `uid gone`, in order
  std::vector<std::string> broken;  // what must not be
  std::vector<k8s::read_failure> failures;

private:
  void take(const std::vector<k8s::kept_change>& all) {
    for (const auto& x : all) {
      const auto& uid = x.after ? x.after->uid() : x.before->uid();
      auto& last = versions_[uid];
      const auto version = x.after ? std::stoull(x.after->version()) : 0;
      if (x.before.operator bool() != (last != 0))
        broken.push_back("told as " + std::string{x.before ? "known" : "new"} + " and is not: " + uid);
      if (x.after && gone_.contains(uid))
        broken.push_back("came back after it had gone: " + uid);
      if (!x.after)
        gone_.insert(uid);
      if (x.after && version <= last)
        broken.push_back("went back or came again: " + uid);
      last = version;
      changes.push_back(uid + " " + (x.after ? x.after->version() : "gone"));
    }
  }
  std::map<std::string, std::uint64_t> versions_; // by uid; 0: not there
  std::set<std::string> gone_;
};

} // namespace paddock::test
