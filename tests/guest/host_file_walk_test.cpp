#define CAF_SUITE host_file_walk

#include "guest/flows/file_transport.hpp"
#include "tests/support/fake_agent.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

template <class T>
bool failed_with(const auto& got) {
  return !got && std::holds_alternative<T>(got.error());
}

class taking final : public guest::entry_sink {
public:
  boost::asio::awaitable<bool> take(guest::listed_file x) override {
    paths.push_back(std::move(x.path));
    co_return paths.size() < enough;
  }
  std::vector<std::string> paths;
  std::size_t enough = 1000;
};

json out(const std::string& text) {
  return {{"type", "stdout_delta"}, {"data", text}};
}
std::string entry(const std::string& path) {
  return R"({"type":"entry","path":")" + path + R"(","size":3})" + "\n";
}
const auto done = std::string{R"({"type":"done"})"} + "\n";

struct fixture {
  boost::asio::io_context context;
  manual_time time;
  fake_agent agent{context};
  std::unique_ptr<guest::host> host = guest::make_host(time);
  std::unique_ptr<guest::file_host> files = guest::make_file_host(time, *host);
  taking sink;

  guest::walk_request what(std::uint64_t most = 100) {
    auto x = guest::walk_request{};
    x.root = "/w";
    x.max_entries = most;
    return x;
  }
  started<guest::result<void>> start() {
    return start_flow(context, files->walk(agent.where(), what(), sink, deadline{time, 60min}));
  }
  template <class T>
  T finish(started<T> flow) {
    run_with_sockets(context, time, [&] { return flow.done(); });
    return std::move(flow.get());
  }
  guest::result<void> walk_of(agent_script script) {
    agent.on("execute", std::move(script));
    return finish(start());
  }
  guest::result<std::vector<guest::listed_file>> list_of(agent_script script, std::string root = "/w") {
    agent.on("execute", std::move(script));
    return finish(start_flow(context, files->list(agent.where(), std::move(root), deadline{time, 60min})));
  }
  /// Lets the command end as a cancelled one once it is cancelled, after `text`.
  void cancellable(const std::string& text) {
    agent.on("execute", {send(out(text)), wait_for("cancelled"), send(fake_agent::killed_event("SIGTERM")), send_end()});
    agent.on("cancel-execution", [this](const json&) {
      agent.open("cancelled");
      return agent_script{send(fake_agent::acknowledgement("cancelled", true, fake_agent::killed_event("SIGTERM")))};
    });
  }
};

} // namespace

SCENARIO("a walk runs the walker with its plan and hands out what it finds") {
  fixture f;
  const auto got = f.walk_of({send(out(entry("/w/a") + entry("/w/b").substr(0, 9))), send(out(entry("/w/b").substr(9) + done)),
                              send(fake_agent::end_event(0)), send_end()});
  REQUIRE(got.has_value());
  CHECK_EQ(f.sink.paths, (std::vector<std::string>{"/w/a", "/w/b"}));
  const auto& body = f.agent.requests().back()["body"];
  CHECK(body["command"] == "/usr/local/bin/paddock-guest");
  CHECK(body["args"][0] == "walk");
  CHECK(json::parse(body["args"][1].get<std::string>())["root"] == "/w");
  CHECK_EQ(f.agent.count("cancel-execution"), 0u);
}

SCENARIO("a plan that breaks the rules is refused before anything is dialed") {
  fixture f;
  auto bad = f.what();
  bad.root = "w";
  CHECK(failed_with<guest::invalid_argument>(
    f.finish(start_flow(f.context, f.files->walk(f.agent.where(), bad, f.sink, deadline{f.time, 10s})))));
  CHECK(failed_with<guest::invalid_argument>(
    f.finish(start_flow(f.context, f.files->walk(f.agent.where(), f.what(0), f.sink, deadline{f.time, 10s})))));
  CHECK_EQ(f.agent.connections(), 0u);
}

// [G 273] a consumer that stops early
SCENARIO("a consumer that has enough cancels the walk, and leaves once that is confirmed") {
  fixture f;
  f.sink.enough = 2;
  f.cancellable(entry("/w/a") + entry("/w/b") + entry("/w/c"));
  const auto got = f.finish(f.start());
  REQUIRE(got.has_value());
  CHECK_EQ(f.sink.paths, (std::vector<std::string>{"/w/a", "/w/b"}));
  CHECK_EQ(f.agent.count("cancel-execution"), 1u);
  // And one whose cancellation nobody confirms is not over.
  fixture unknown;
  unknown.sink.enough = 1;
  CHECK(failed_with<guest::cancellation_unknown>(unknown.walk_of({send(out(entry("/w/a"))), watch()})));
  CHECK_GE(unknown.agent.count("cancel-execution"), 1u);
}

SCENARIO("a walk that is withdrawn is cancelled in the guest and says so") {
  fixture f;
  f.cancellable(entry("/w/a"));
  auto flow = f.start();
  run_until(f.context, [&] { return !f.sink.paths.empty(); });
  flow.cancel();
  CHECK(failed_with<guest::lost>(f.finish(flow)));
  CHECK_EQ(f.agent.count("cancel-execution"), 1u);
}

SCENARIO("records that may not come cancel the walk and fail it") {
  for (const auto& text : {entry("/elsewhere"), std::string{"{nope\n"}, std::string(70'000, 'x'), entry("/w/a") + done + done}) {
    fixture f;
    f.cancellable(text);
    CHECK(failed_with<guest::protocol_failure>(f.finish(f.start())));
    CHECK_EQ(f.agent.count("cancel-execution"), 1u);
    // At once, and not when the command's time is up.
    CHECK_LE(f.time.elapsed(), time_source::clock::duration{60s});
  }
}

SCENARIO("a walk without its last record, or that reports an error, fails and keeps what it found") {
  fixture f;
  CHECK(failed_with<guest::refused>(f.walk_of({send(out(entry("/w/a"))), send(fake_agent::end_event(0)), send_end()})));
  CHECK_EQ(f.sink.paths.size(), 1u);
  const auto limit = f.walk_of({send(out(R"({"type":"error","message":"more than 5","code":"ERR_FILE_WALK_LIMIT"})"
                                         "\n")),
                                send(fake_agent::end_event(1)), send_end()});
  REQUIRE(failed_with<guest::refused>(limit));
  CHECK_EQ(std::get<guest::refused>(limit.error()).code, "ERR_FILE_WALK_LIMIT");
}

SCENARIO("a listing is what find prints, and nothing when it fails") {
  fixture f;
  const auto got = f.list_of({send(out("/w/a\t3\n/w/b")), send(out("\t4\nodd\n")), send(fake_agent::end_event(0)), send_end()});
  REQUIRE(got.has_value());
  REQUIRE_EQ(got->size(), 2u);
  CHECK_EQ(got->at(1).path, "/w/b");
  CHECK_EQ(got->at(1).size, 4u);
  const auto& body = f.agent.requests().back()["body"];
  CHECK(body["command"] == "find");
  CHECK_EQ(body["args"].dump(), R"(["/w","-type","f","-printf","%p\\t%s\\n"])");
  const auto none = f.list_of({send(out("/w/a\t3\n")), send(fake_agent::end_event(1)), send_end()});
  CHECK(none && none->empty());
  CHECK(failed_with<guest::lost>(f.list_of({send(fake_agent::killed_event("SIGKILL")), send_end()})));
  CHECK(failed_with<guest::invalid_argument>(f.list_of({}, "-delete")));
}
