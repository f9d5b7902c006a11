#define CAF_SUITE exec_credentials

#include "k8s/flows/exec_credentials.hpp"
#include "k8s/flows/program.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/temp_folder.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <thread>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using k8s::credential;
using nlohmann::json;

namespace {

const std::string v1 = "client.authentication.k8s.io/v1";

std::string answer(const json& status) {
  return json{{"apiVersion", v1}, {"kind", "ExecCredential"}, {"status", status}}.dump();
}

/// A plug-in that notes each run in `runs` and prints what stands in `answer`.
struct plugin {
  temp_folder in;
  boost::asio::io_context on;
  manual_time time;
  k8s::exec_plugin how;
  std::shared_ptr<k8s::credential_source> source;

  explicit plugin(const std::string& script = "echo run >>\"$HERE/runs\"\ncat \"$HERE/answer\"\n", k8s::exec_limits limits = {}) {
    in.write_script("plugin", script);
    how.api_version = v1;
    how.command = in.path() / "plugin";
    how.environment = {{"HERE", in.path()}};
    how.install_hint = "see the manual";
    source = k8s::exec_credentials(how, limits);
  }
  io_result<credential> get() {
    return run_flow(on, source->get(time));
  }
  void gives(const json& status) const {
    in.write("answer", answer(status));
  }
  [[nodiscard]] std::size_t runs() const {
    const auto text = in.read("runs");
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  std::string complaint() {
    auto got = get();
    return got ? "none" : got.error().text;
  }
};

std::string token_of(const io_result<credential>& x) {
  return x ? x->token.reveal() : to_string(x.error());
}

bool has(const std::string& in, const std::string& what) {
  return in.find(what) != std::string::npos;
}

} // namespace

SCENARIO("a plug-in runs once for all who wait and is not asked again while its credential is good") {
  plugin it;
  it.gives({{"token", "t1"}, {"expirationTimestamp", "2026-01-02T04:04:05Z"}}); // an hour from the start of time
  auto first = start_flow(it.on, it.source->get(it.time));
  auto second = start_flow(it.on, it.source->get(it.time));
  run_until(it.on, [&] { return first.done() && second.done(); });
  CHECK_EQ(token_of(first.get()), "t1");
  CHECK_EQ(token_of(second.get()), "t1");
  it.gives({{"token", "t2"}});
  it.time.advance(1h - 31s);
  CHECK_EQ(token_of(it.get()), "t1");
  CHECK_EQ(it.runs(), 1u);
  WHEN("it is about to expire") {
    it.time.advance(2s);
    THEN("the plug-in runs again") {
      CHECK_EQ(token_of(it.get()), "t2");
      CHECK_EQ(it.runs(), 2u);
    }
    THEN("one without an expiry is good for good") {
      CHECK_EQ(token_of(it.get()), "t2");
      it.time.advance(24h * 365);
      CHECK_EQ(token_of(it.get()), "t2");
      CHECK_EQ(it.runs(), 2u);
    }
  }
}

SCENARIO("a refused credential has the plug-in run once more, and not again and again") {
  plugin it;
  it.gives({{"token", "t1"}});
  auto first = it.get();
  REQUIRE(first);
  it.gives({{"token", "t2"}});
  CHECK(it.source->refused(*first, it.time));
  auto second = it.get();
  CHECK_EQ(token_of(second), "t2");
  REQUIRE(second);
  CHECK(it.source->refused(*first, it.time)); // an older request: what is held now is another one
  CHECK_EQ(token_of(it.get()), "t2");
  CHECK_EQ(it.runs(), 2u);
  CHECK(!it.source->refused(*second, it.time));
  CHECK_EQ(token_of(it.get()), "t2");
  CHECK_EQ(it.runs(), 2u);
  it.time.advance(10s);
  CHECK(it.source->refused(*second, it.time));
  CHECK_EQ(token_of(it.get()), "t2");
  CHECK_EQ(it.runs(), 3u);
}

SCENARIO("a plug-in may give a client certificate") {
  plugin it;
  it.gives({{"clientCertificateData", "C"}, {"clientKeyData", "K"}});
  auto got = it.get();
  REQUIRE(got);
  CHECK_EQ(got->certificate, "C");
  CHECK_EQ(got->key.reveal(), "K");
  CHECK(got->token.empty());
}

SCENARIO("a plug-in gets its arguments, its environment and word of the cluster, and nothing else of ours") {
  plugin it{"{ printf '%s,' \"$@\"; echo \"$EXTRA\"; echo \"$KUBERNETES_EXEC_INFO\"; cat; ls /proc/self/fd | wc -l; } >\"$HERE/seen\"\n"
            "echo unseen >&2\ncat \"$HERE/answer\"\n"};
  it.gives({{"token", "t"}});
  it.how.arguments = {"one", "two words"};
  it.how.environment.emplace_back("EXTRA", "x=y");
  it.how.cluster = {{"server", "https://h"}};
  it.source = k8s::exec_credentials(it.how);
  REQUIRE(it.get());
  auto lines = std::istringstream{it.in.read("seen")};
  auto line = std::string{};
  std::getline(lines, line);
  CHECK_EQ(line, "one,two words,x=y");
  std::getline(lines, line);
  CHECK_EQ(line, k8s::exec_info(it.how));
  std::getline(lines, line);
  CHECK_EQ(std::stoi(line), 4); // 0, 1, 2 and the folder that `ls` reads
}

SCENARIO("a plug-in that fails is named with how it ended and how to install it, and nothing that it printed is shown") {
  const auto ends = [](const std::string& script) { return plugin{script}.complaint(); };
  for (const auto& text :
       {ends("echo hush-7c1; echo hush-7c1 >&2; exit 3"), ends("echo hush-7c1; kill -9 $$"), ends("echo hush-7c1"),
        ends("printf '%s' '" + answer({{"token", "hush-7c1"}, {"expirationTimestamp", "2026-01-02T03:04:05Z"}}) + "'")}) {
    CHECK(has(text, "/plugin"));
    CHECK(has(text, "see the manual"));
    CHECK(!has(text, "hush"));
  }
  CHECK(has(ends("exit 3"), "ended with 3"));
  CHECK(has(ends("kill -9 $$"), "signal 9"));
  CHECK(has(ends("true"), "not a JSON object"));
  CHECK(has(ends("printf '%s' '" + answer({{"token", "t"}, {"expirationTimestamp", "2026-01-02T03:04:05Z"}}) + "'"), "has expired"));
  plugin absent;
  absent.how.command = absent.in.path() / "gone";
  absent.source = k8s::exec_credentials(absent.how);
  CHECK(has(absent.complaint(), "cannot be started: No such file"));
}

SCENARIO("a failure answers those who ask soon after, and no longer") {
  plugin it{"echo run >>\"$HERE/runs\"\nexit 1\n"};
  CHECK(!it.get());
  CHECK(!it.get());
  CHECK_EQ(it.runs(), 1u);
  it.time.advance(1s);
  CHECK(!it.get());
  CHECK_EQ(it.runs(), 2u);
}

SCENARIO("a plug-in that does not end, and what it has started, are killed when its time is over") {
  auto limits = k8s::exec_limits{};
  limits.run = 2s; // time enough to start
  plugin it{"sleep 1000 & echo $! >\"$HERE/child\"\necho $$ >\"$HERE/self\"\nwait\n", limits};
  CHECK(has(it.complaint(), "did not end in time"));
  for (const auto* name : {"self", "child"}) {
    const auto id = std::stoi(it.in.read(name));
    // The child of the plug-in is a zombie until whoever adopted it looks; it runs no more.
    const auto state = [&] {
      auto from = std::ifstream{"/proc/" + std::to_string(id) + "/stat"};
      auto text = std::string{std::istreambuf_iterator<char>{from}, {}};
      return text.empty() ? 'X' : text[text.rfind(')') + 2];
    };
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (state() != 'X' && state() != 'Z' && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    CHECK(state() == 'X' || state() == 'Z');
  }
}

SCENARIO("a plug-in that prints without end is killed at the bound") {
  auto limits = k8s::exec_limits{};
  limits.output = 10'000;
  plugin it{"exec yes\n", limits};
  CHECK(has(it.complaint(), "more than 10000 bytes"));
}

SCENARIO("who withdraws while a plug-in runs leaves the run to the others") {
  plugin it{"cat \"$HERE/gate\" >/dev/null\necho run >>\"$HERE/runs\"\ncat \"$HERE/answer\"\n"};
  it.gives({{"token", "t1"}});
  REQUIRE_EQ(::mkfifo((it.in.path() / "gate").c_str(), 0600), 0);
  auto first = start_flow(it.on, it.source->get(it.time));
  auto second = start_flow(it.on, it.source->get(it.time));
  run_ready(it.on);
  first.cancel();
  run_until(it.on, [&] { return first.done(); });
  CHECK(first.get().error().at == io_failure::stage::cancelled);
  std::ofstream{it.in.path() / "gate"} << "go"; // opens once the plug-in reads
  run_until(it.on, [&] { return second.done(); });
  CHECK_EQ(token_of(second.get()), "t1");
  CHECK_EQ(it.runs(), 1u);
}

SCENARIO("a run whose context goes first takes its program along") {
  temp_folder in;
  in.write_script("plugin", "echo $$ >\"$HERE/self\"\n: >\"$HERE/up\"\nexec sleep 1000\n");
  {
    boost::asio::io_context on;
    auto what = k8s::program{in.path() / "plugin", {}, {{"HERE", in.path()}}};
    auto flow = start_flow(on, k8s::run_program(what, std::chrono::steady_clock::now() + 1h, 1000));
    run_until(on, [&] { return std::filesystem::exists(in.path() / "up"); });
  }
  CHECK_EQ(::kill(std::stoi(in.read("self")), 0), -1);
}

SCENARIO("a plug-in whose end nobody can tell has failed, whatever it printed") {
  ::signal(SIGCHLD, SIG_IGN); // the kernel forgets how children end
  plugin it{"cat \"$HERE/answer\"\nexit 3\n"};
  it.gives({{"token", "t1"}});
  const auto text = it.complaint();
  ::signal(SIGCHLD, SIG_DFL);
  // It may be gone before anything could watch it.
  CHECK(has(text, "not known") || has(text, "cannot be watched"));
}

SCENARIO("a run that breaks is a failure to all who wait for it, and the next one is a run of its own") {
  /// A clock that cannot tell what time it is.
  struct broken_time final : time_source {
    manual_time steady;
    bool broken = true;
    [[nodiscard]] clock::time_point now() const override {
      return steady.now();
    }
    [[nodiscard]] wall_clock::time_point wall() const override {
      if (broken)
        throw std::runtime_error{"hush-7c1"};
      return steady.wall();
    }
  };
  plugin it;
  broken_time time;
  it.gives({{"token", "t1"}, {"expirationTimestamp", "2026-01-02T04:04:05Z"}});
  auto first = start_flow(it.on, it.source->get(time));
  auto second = start_flow(it.on, it.source->get(time));
  run_until(it.on, [&] { return first.done() && second.done(); });
  for (auto* x : {&first, &second}) {
    REQUIRE(!x->get());
    CHECK(x->get().error().at == io_failure::stage::connect);
    CHECK(has(x->get().error().text, "/plugin"));
    CHECK(!has(x->get().error().text, "hush"));
  }
  time.broken = false;
  time.steady.advance(1s);
  CHECK_EQ(token_of(run_flow(it.on, it.source->get(time))), "t1");
  CHECK_EQ(it.runs(), 2u);
}
