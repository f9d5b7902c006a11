#define CAF_SUITE watch

#include "k8s/flows/watch.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/text_file.hpp"
#include "tests/support/watch_history.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <random>

using namespace paddock;
using namespace paddock::k8s;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

using strings = std::vector<std::string>;

// A sanitizer is slow: it sees a part, the ordinary build sees all.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr auto slowness = std::size_t{13};
#else
constexpr auto slowness = std::size_t{1};
#endif

struct world {
  boost::asio::io_context on;
  manual_time time;
  watch_history server{time};
  checking_listener heard;
  std::mt19937_64 chance;

  explicit world(std::uint64_t seed = 1) : chance(seed) {
  }
  static list_watch_options options() {
    auto how = list_watch_options{};
    how.what.collection = "/things";
    how.page = 2;
    return how;
  }
  std::size_t pick(std::size_t n) {
    return static_cast<std::size_t>(chance() % n);
  }
  /// Follows until `enough`.
  void run(const std::function<bool()>& enough) {
    auto random = [this] { return static_cast<double>(pick(1000)) / 1000; };
    auto it = start_flow(on, follow(server, heard, list_watch{options(), random}, time));
    run_until(on, time, [&] { return enough() || it.done(); });
    it.cancel();
    try {
      run_until(on, [&] { return it.done(); });
      it.get();
    } catch (const boost::system::system_error&) {
      // A sleep that was cancelled.
    }
  }
};

} // namespace

SCENARIO("a collection is listed in pages and then watched") {
  auto x = world{};
  for (const auto* name : {"a", "b", "c", "d", "e"})
    x.server.put(name);
  auto rounds = 0;
  x.server.quiet = [&] {
    if (++rounds == 1)
      x.server.put("f");
    return rounds < 3;
  };
  x.run([&] { return rounds == 3; });
  CHECK_EQ(x.heard.known(), x.server.standing());
  CHECK_EQ(x.heard.changes.size(), 6u);
  CHECK_EQ(x.heard.lists, 1u);
  CHECK_EQ(x.server.asked.size(), 4u);
  CHECK_EQ(x.server.asked.at(0), "/things?limit=2");
  CHECK_EQ(x.server.asked.at(1), "/things?limit=2&continue=6-b");
  CHECK_EQ(x.server.asked.at(2), "/things?limit=2&continue=6-d");
  CHECK(x.server.asked.at(3).starts_with("/things?watch=true&resourceVersion=6&allowWatchBookmarks=true&timeoutSeconds="));
  CHECK(x.heard.failures.empty());
}

SCENARIO("a watch that the server ends is taken up at the last version, and nothing is listed again") {
  auto x = world{};
  x.server.put("a");
  auto ends = 0;
  x.server.quiet = [&] {
    x.server.put("a");
    return ++ends % 2 == 1;
  };
  x.run([&] { return ends == 10; });
  CHECK_EQ(x.heard.lists, 1u);
  CHECK(x.heard.failures.empty());
  CHECK(x.heard.broken.empty());
  // The last put was not told before the end.
  CHECK_EQ(x.heard.changes.size(), 10u);
  CHECK_EQ(x.heard.void_events, 0u);
}

SCENARIO("no cut of a recorded session loses or doubles an event") {
  // The recorded session: an object that stands, another that comes, changes twice and goes, and a bookmark.
  const auto stands = text_of(PADDOCK_TEST_RECORDINGS "/watch-initial-events-bookmark.ndjson");
  const auto first = stands.substr(0, stands.find('\n') + 1);
  const auto mark = stands.substr(first.size());
  const auto session = first + text_of(PADDOCK_TEST_RECORDINGS "/watch-events.ndjson") + mark;

  /// Serves the session from any version, each connection cut after so many bytes.
  struct recorded final : watch_source {
    std::string session;
    std::size_t cut = 0;
    bool cleanly = false;
    std::vector<std::string> versions; // that watches went on from
    boost::asio::awaitable<tl::expected<nlohmann::json, read_failure>> page(call, deadline) override {
      co_return nlohmann::json::parse(R"({"kind":"SandboxList","items":[],"metadata":{"resourceVersion":"239"}})");
    }
    boost::asio::awaitable<tl::expected<void, read_failure>> stream(call what, std::function<bool(std::string_view)> on_bytes,
                                                                    time_source::clock::duration, deadline) override {
      const auto at = what.path.find("resourceVersion=") + 16;
      versions.push_back(what.path.substr(at, what.path.find('&', at) - at));
      auto text = std::string{};
      for (auto from = std::size_t{0}; from < session.size();) {
        const auto line = session.substr(from, session.find('\n', from) + 1 - from);
        from += line.size();
        if (older_version(versions.back(), *text_at(nlohmann::json::parse(line), "/object/metadata/resourceVersion")))
          text += line;
      }
      if (versions.size() == 1)
        text.resize(cut);
      on_bytes(text);
      if (cleanly)
        co_return tl::expected<void, read_failure>{};
      co_return tl::unexpected{read_failure{0, std::nullopt, "reset"}};
    }
  };

  const auto whole = strings{"528fbefa-3f4a-4a0f-b836-a0103f062cc0 240", "6ff43a72-d0ab-4514-bfe9-8039cd71d430 260",
                             "6ff43a72-d0ab-4514-bfe9-8039cd71d430 261", "6ff43a72-d0ab-4514-bfe9-8039cd71d430 262",
                             "6ff43a72-d0ab-4514-bfe9-8039cd71d430 gone"};
  for (auto cleanly : {false, true})
    for (auto cut = std::size_t{0}; cut <= session.size(); cut += slowness) {
      auto x = world{cut};
      auto server = recorded{};
      server.session = session;
      server.cut = cut;
      server.cleanly = cleanly;
      auto it = start_flow(x.on, follow(server, x.heard, list_watch{world::options(), [] { return 0.5; }}, x.time));
      run_until(x.on, x.time, [&] { return server.versions.size() == 3; });
      it.cancel();
      run_ready(x.on);
      REQUIRE(it.done());
      REQUIRE(x.heard.broken.empty());
      REQUIRE(x.heard.changes == whole);
      REQUIRE_EQ(x.heard.void_events, 0u);
      REQUIRE_EQ(x.heard.lists, 1u);
      REQUIRE_EQ(server.versions.at(2), "264");
    }
}

SCENARIO("whatever becomes of connections, every change is told once and in order") {
  for (auto seed = std::uint64_t{1}; seed <= 1500 / slowness; ++seed) {
    auto x = world{seed};
    const auto names = strings{"a", "b", "c", "d", "e", "f", "g"};
    const auto happen = [&](std::size_t times) {
      for (auto n = std::size_t{0}; n < times; ++n) {
        const auto& name = names[x.pick(names.size())];
        if (x.pick(3) == 0)
          x.server.remove(name);
        else
          x.server.put(name);
      }
    };
    auto calm = false;
    auto steps = 0;
    const auto trouble = [&] {
      if (++steps > 60)
        calm = true;
      if (calm)
        return 200u;
      happen(x.pick(3));
      if (x.pick(12) == 0)
        x.server.compact();
      const unsigned all[] = {200, 200, 200, 200, 0, 429, 500, 504, 403, 410};
      return all[x.pick(std::size(all))];
    };
    auto settled = false;
    x.server.page_fate = [&] { return watch_history::fate_of_page{trouble()}; };
    x.server.stream_fate = [&] {
      auto got = watch_history::fate_of_stream{};
      got.status = trouble();
      got.piece = 1 + x.pick(300);
      got.bookmarks = x.pick(2) == 0;
      if (!calm) {
        got.cut_after = x.pick(1200);
        got.repeats = x.pick(3);
      }
      return got;
    };
    x.server.quiet = [&] {
      settled = settled || calm;
      if (!calm)
        happen(x.pick(4));
      return !calm && x.pick(3) != 0;
    };
    happen(5);
    x.run([&] { return settled; });
    if (!x.heard.broken.empty() || x.heard.known() != x.server.standing())
      CAF_FAIL("seed " << seed << ": " << (x.heard.broken.empty() ? "what is known is not what stands" : x.heard.broken.front()));
    REQUIRE(settled);
    REQUIRE_EQ(x.heard.told_to_stand(), x.server.standing().size());
  }
}

SCENARIO("a failure is told, and one that comes again is paused for longer and longer") {
  auto x = world{};
  auto attempts = 0;
  x.server.page_fate = [&] {
    ++attempts;
    return watch_history::fate_of_page{attempts < 8 ? 503u : 200u};
  };
  x.run([&] { return x.heard.lists == 1; });
  CHECK_EQ(x.heard.failures.size(), 7u);
  CHECK_EQ(x.heard.failures.at(0).status, 503u);
  CHECK(x.time.elapsed() > 100ms);
  CHECK(x.time.elapsed() < 60s);
}

SCENARIO("following ends when it is cancelled, wherever it is") {
  for (auto steps = 0; steps < 12; ++steps) {
    auto x = world{};
    x.server.put("a");
    x.server.put("b");
    x.server.put("c");
    auto it = start_flow(x.on, follow(x.server, x.heard, list_watch{world::options(), [] { return 0.5; }}, x.time));
    x.on.restart();
    for (auto n = 0; n < steps; ++n)
      x.on.poll_one();
    it.cancel();
    run_until(x.on, [&] { return it.done(); });
    CHECK(it.done());
  }
}
