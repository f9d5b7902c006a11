#define CAF_SUITE rebind_flow

// A call that follows a replaced pod ([G] 18.2): guests made of bytes, a re-read that the test answers.

#include "guest/flows/rebind.hpp"
#include "guest/pin.hpp"
#include "tests/guest/work_world.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// Answers each re-read, at once or when the gate is opened; `never`: not at all.
struct rereads {
  guest::reread_answer answer = guest::reread_failed{"scripted"};
  bool never = false;
  bool held = false;
  std::size_t asked = 0;
  std::shared_ptr<boost::asio::steady_timer> bell;

  boost::asio::awaitable<guest::reread_answer> next() {
    ++asked;
    while (never || held) {
      auto lane = co_await boost::asio::this_coro::executor;
      bell = std::make_shared<boost::asio::steady_timer>(lane, boost::asio::steady_timer::time_point::max());
      auto [ec] = co_await bell->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      if (ec && (never || held))
        throw boost::system::system_error{boost::asio::error::operation_aborted};
    }
    co_return answer;
  }
  void let_go() {
    held = false;
    bell->cancel();
  }
};

/// What the transport told, as lines.
struct told final : guest::transport_observer {
  void dialing(const guest::endpoint&) noexcept override {
    ++attempts;
  }
  void answered(const guest::endpoint& from, const std::optional<guest_boot_id>& boot) noexcept override {
    answers.emplace_back(from.token.reveal(), boot);
  }
  std::size_t attempts = 0;
  std::vector<std::pair<std::string, std::optional<guest_boot_id>>> answers;
};

struct sink final : guest::output_sink {
  boost::asio::awaitable<void> take(guest::stream, std::string bytes) override {
    out += bytes;
    co_return;
  }
  std::string out;
};

/// Connections to names end as `name_failure` says; the first ones, when that is temporary, and all when it is not.
struct names {
  io_failure failure{io_failure::stage::resolve, false, "scripted", false};
  std::size_t asked = 0;
};

boost::asio::awaitable<io_result<boost::asio::ip::tcp::socket>> scripted_connect(names* of) {
  ++of->asked;
  co_return tl::unexpected{of->failure};
}

guest::transport_options observed_by(std::shared_ptr<told> by) {
  auto with = guest::transport_options{};
  with.observer = std::move(by);
  return with;
}

struct rebind_world : work_world {
  rebind_world() : rebind_world(std::make_shared<told>()) {
  }
  explicit rebind_world(std::shared_ptr<told> by) : work_world(observed_by(by)), heard(std::move(by)) {
    next.features({"execution-attach", "sessions", "quiesce", "flush", "pinned-guest"});
    refuse_all();
    next.on("execute", {send(json{{"type", "stdout_delta"}, {"data", "ran"}}), send(fake_agent::end_event(0)), send_end()});
    next.on("read-file", {send(json{{"ok", true}, {"content", "YQ=="}, {"guestBootId", "new"}})});
    reading.answer = next.where("P2");
    handle = at(agent.where("P1"));
  }
  /// The old pod knows nobody's token any more.
  void refuse_all() {
    for (const auto* op : {"reserve-execution", "execute", "read-file", "list-sessions", "quiesce"})
      agent.on(op, {send(refusal("unauthorized"))});
  }
  std::shared_ptr<guest::pod_handle> at(guest::endpoint where) {
    return std::make_shared<guest::pod_handle>(time, context.get_executor(), std::move(where), [this] { return reading.next(); });
  }
  boost::asio::awaitable<guest::rebound_end<guest::execution>> execute(guest::input_source* input = nullptr) {
    auto what = guest::command{};
    what.program = "job";
    return guest::rebound_execute(handle, *host, what, output_taken, input, in(1h),
                                  [this](const guest::execution_timing& x) { timings.push_back(x); });
  }
  boost::asio::awaitable<guest::rebound_end<guest::file_content>> read(std::shared_ptr<guest::pod_handle> of) {
    auto op = [this](guest::endpoint where) { return host->read_file(std::move(where), "f", 1000, in(1h)); };
    return guest::rebound<guest::file_content>(std::move(of), op);
  }
  fake_agent next{context};
  rereads reading;
  std::shared_ptr<told> heard;
  std::shared_ptr<guest::pod_handle> handle;
  sink output_taken;
  std::vector<guest::execution_timing> timings;
};

} // namespace

// [G 250] refused, and another uid
SCENARIO("a command that a refused token kept from running runs once on the new pod") {
  rebind_world f;
  const auto got = f.ask(f.execute());
  REQUIRE(got.answer.has_value());
  CHECK(got.retried);
  CHECK_EQ(got.by.token.reveal(), "P2");
  CHECK_EQ(f.output_taken.out, "ran");
  CHECK_EQ(f.reading.asked, 1u);
  CHECK_EQ(f.agent.count("execute"), 0u);
  CHECK_EQ(f.next.count("execute"), 1u);
  // Address and token moved together, and the next call goes there at once.
  CHECK_EQ(f.handle->current().port, f.next.where().port);
  CHECK_EQ(f.handle->current().token.reveal(), "P2");
  CHECK(f.ask(f.execute()).answer.has_value());
  CHECK_EQ(f.reading.asked, 1u);
  CHECK_EQ(f.timings.size(), 2u);
}

// [G 251] ten at once
SCENARIO("ten calls that are refused at once share one re-read, and all are retried") {
  rebind_world f;
  f.reading.held = true;
  auto all = std::vector<started<guest::rebound_end<guest::file_content>>>{};
  for (auto n = 0; n < 10; ++n)
    all.push_back(start_flow(f.context, f.read(f.handle)));
  f.until_asked("read-file", 10);
  run_until(f.context, [&] { return f.reading.bell != nullptr && f.agent.ended() == 10; });
  run_ready(f.context);
  CHECK_EQ(f.reading.asked, 1u);
  CHECK_EQ(f.next.connections(), 0u);
  f.reading.let_go();
  for (auto& x : all) {
    const auto got = f.finish(x);
    REQUIRE(got.answer.has_value());
    CHECK_EQ(got.answer->bytes, "a");
    CHECK_EQ(got.by.token.reveal(), "P2");
  }
  CHECK_EQ(f.reading.asked, 1u);
  CHECK_EQ(f.next.count("read-file"), 10u);
}

// [G 252] the same uid
SCENARIO("a re-read that finds the same pod leaves the refusal") {
  rebind_world f;
  f.reading.answer = guest::endpoint{"127.0.0.1", f.next.where().port, secret{"P1"}};
  const auto got = f.ask(f.read(f.handle));
  CHECK(failed_with<guest::unauthorized>(got.answer));
  CHECK_EQ(guest::reason_of(got.answer.error()), "AgentUnauthorized");
  CHECK(!got.retried);
  CHECK_EQ(f.agent.count("read-file"), 1u);
  CHECK_EQ(f.next.connections(), 0u);
  CHECK_EQ(f.handle->moves(), 0u);
}

// [G 253] a reset after the request
SCENARIO("a request that was written and lost is not sent again") {
  rebind_world f;
  f.agent.on("read-file", {reset()});
  const auto got = f.ask(f.read(f.handle));
  CHECK(failed_with<guest::lost>(got.answer));
  CHECK_EQ(f.reading.asked, 0u);
  CHECK_EQ(f.agent.count("read-file"), 1u);
  CHECK_EQ(f.next.connections(), 0u);
}

// [G 254] a text that contains the word
SCENARIO("a file error whose text contains the word is no refused token") {
  rebind_world f;
  f.agent.on("read-file", {send(refusal("EACCES: permission denied, open 'unauthorized'"))});
  const auto got = f.ask(f.read(f.handle));
  CHECK(failed_with<guest::refused>(got.answer));
  CHECK_EQ(f.reading.asked, 0u);
  CHECK_EQ(f.next.connections(), 0u);
}

SCENARIO("a dial that failed is followed to the new pod") {
  rebind_world f;
  f.agent.stop_listening();
  const auto got = f.ask(f.execute());
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.by.token.reveal(), "P2");
  CHECK_EQ(f.reading.asked, 1u);
}

SCENARIO("a second refusal stands") {
  rebind_world f;
  f.next.on("read-file", {send(refusal("unauthorized"))});
  const auto got = f.ask(f.read(f.handle));
  CHECK(failed_with<guest::unauthorized>(got.answer));
  CHECK(got.retried);
  CHECK_EQ(f.reading.asked, 1u);
}

SCENARIO("a re-read that fails, finds another owner or takes too long leaves the first failure") {
  rebind_world f;
  f.reading.answer = guest::reread_failed{"no pod"};
  CHECK(failed_with<guest::unauthorized>(f.ask(f.read(f.handle)).answer));
  f.reading.answer = guest::owner_replaced{};
  const auto replaced = f.ask(f.read(f.handle));
  CHECK(replaced.owner_replaced);
  CHECK(!replaced.retried);
  f.reading.never = true;
  const auto before = f.time.elapsed();
  CHECK(failed_with<guest::unauthorized>(f.ask(f.read(f.handle)).answer));
  CHECK_EQ(f.time.elapsed() - before, time_source::clock::duration{10s});
  CHECK_EQ(f.next.connections(), 0u);
}

SCENARIO("a caller who leaves does not end the re-read that others wait for") {
  rebind_world f;
  f.reading.held = true;
  auto leaves = start_flow(f.context, f.read(f.handle));
  run_until(f.context, [&] { return f.reading.bell != nullptr; });
  auto stays = start_flow(f.context, f.read(f.handle));
  f.until_asked("read-file", 2);
  run_until(f.context, [&] { return f.agent.ended() == 2; });
  leaves.cancel();
  run_until(f.context, [&] { return leaves.done(); });
  CHECK(failed_with<guest::unauthorized>(leaves.get().answer));
  run_ready(f.context);
  f.reading.let_go();
  CHECK(f.finish(stays).answer.has_value());
  CHECK_EQ(f.reading.asked, 1u);
}

SCENARIO("a handle that goes ends its re-read") {
  rebind_world f;
  f.reading.never = true;
  auto flow = start_flow(f.context, f.read(f.handle));
  run_until(f.context, [&] { return f.reading.bell != nullptr; });
  flow.cancel();
  run_until(f.context, [&] { return flow.done(); });
  f.handle.reset();
  run_ready(f.context);
  CHECK_EQ(f.reading.bell.use_count(), 1);
}

SCENARIO("an input that was touched is not given to another pod") {
  struct text final : guest::input_source {
    boost::asio::awaitable<std::string> next() override {
      co_return std::exchange(left, {});
    }
    std::string left = "input";
  } input;
  rebind_world f;
  // This guest speaks text, so the input is read before anything is reserved.
  const auto got = f.ask(f.execute(&input));
  CHECK(failed_with<guest::unauthorized>(got.answer));
  CHECK_EQ(f.reading.asked, 0u);
  CHECK_EQ(f.next.connections(), 0u);
}

// [G 255] a name that does not resolve, for good and for now
SCENARIO("an unresolvable name fails every call quickly, and a resolver that cannot say is asked for the budget") {
  names resolver;
  manual_time time;
  boost::asio::io_context context;
  auto with = guest::transport_options{};
  with.connect = [&resolver](const std::string&, std::uint16_t, deadline) { return scripted_connect(&resolver); };
  const auto host = guest::make_host(time, with);
  const auto work = guest::make_work_host(time, with);
  auto reading = rereads{};
  auto handle = std::make_shared<guest::pod_handle>(time, context.get_executor(), guest::endpoint{"desk.example", 1024, secret{"P1"}},
                                                    [&reading] { return reading.next(); });
  collected_log taken;
  sink output;
  const auto until = deadline{time, 1h};
  auto fails = [&]<class T>(boost::asio::awaitable<guest::rebound_end<T>> flow) {
    auto it = start_flow(context, std::move(flow));
    run_with_sockets(context, time, [&] { return it.done(); });
    const auto got = it.get();
    return failed_with<guest::address_unresolvable>(got.answer)
           && std::get<guest::address_unresolvable>(got.answer.error()).host == "desk.example";
  };
  auto any_call_fails = [&] {
    auto all = std::vector<bool>{};
    auto command = guest::command{};
    command.program = "job";
    all.push_back(fails(guest::rebound_execute(handle, *host, command, output, nullptr, until, {})));
    auto read = [&](guest::endpoint x) { return host->read_file(std::move(x), "f", 10, until); };
    all.push_back(fails(guest::rebound<guest::file_content>(handle, read)));
    auto write = [&](guest::endpoint x) { return host->write_file(std::move(x), "f", "x", until); };
    all.push_back(fails(guest::rebound<guest::file_written>(handle, write)));
    auto run = [&](guest::endpoint x) { return work->run_detached(std::move(x), work_world::command(), taken, until); };
    all.push_back(fails(guest::rebound<guest::attached_end>(handle, run)));
    auto list = [&](guest::endpoint x) { return work->sessions(std::move(x), until); };
    all.push_back(fails(guest::rebound<std::vector<guest::session_row>>(handle, list)));
    auto quiesce = [&](guest::endpoint x) { return work->quiesce(std::move(x), {}, until); };
    all.push_back(fails(guest::rebound<guest::quiesce_report>(handle, quiesce)));
    auto flush = [&](guest::endpoint x) { return work->flush(std::move(x), {}, until); };
    all.push_back(fails(guest::rebound<guest::flush_report>(handle, flush)));
    return static_cast<std::size_t>(std::ranges::count(all, true)) == all.size() ? all.size() : 0;
  };
  CHECK_EQ(any_call_fails(), 7u);
  CHECK_EQ(resolver.asked, 7u);
  CHECK_EQ(time.elapsed(), time_source::clock::duration::zero());
  CHECK_EQ(reading.asked, 0u);
  resolver.failure.temporary = true;
  resolver.asked = 0;
  auto read = [&](guest::endpoint x) { return host->read_file(std::move(x), "f", 10, until); };
  CHECK(fails(guest::rebound<guest::file_content>(handle, read)));
  CHECK_EQ(resolver.asked, 300u);
  CHECK_GE(time.elapsed(), time_source::clock::duration{29s});
  CHECK_LE(time.elapsed(), time_source::clock::duration{30s});
}

// [G 289] answered by the old pod
SCENARIO("a call in flight on the old connection keeps its answer when another has rebound") {
  rebind_world f;
  auto first = std::make_shared<bool>(true);
  f.agent.on("read-file", [first](const json&) {
    if (std::exchange(*first, false))
      return agent_script{wait_for("late"), send(json{{"ok", true}, {"content", "b2xk"}, {"guestBootId", "old"}})};
    return agent_script{send(refusal("unauthorized"))};
  });
  auto old = start_flow(f.context, f.read(f.handle));
  f.until_asked("read-file");
  CHECK(f.ask(f.read(f.handle)).retried);
  CHECK_EQ(f.handle->current().token.reveal(), "P2");
  f.agent.open("late");
  const auto got = f.finish(old);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.answer->bytes, "old");
  CHECK_EQ(got.answer->boot, guest_boot_id{"old"});
  CHECK_EQ(got.by.token.reveal(), "P1");
  CHECK(!got.retried);
  // The identity stays the new pod's: what the late reply says is told with the token of its own connection.
  CHECK_EQ(f.handle->current().token.reveal(), "P2");
  CHECK_EQ(f.heard->answers.back().first, "P1");
  CHECK_EQ(f.heard->answers.back().second, guest_boot_id{"old"});
}

SCENARIO("a fenced guest refuses the reservation and is neither left nor read again") {
  rebind_world f;
  f.agent.on("reserve-execution", {send(refusal("agent_retiring"))});
  const auto got = f.ask(f.execute());
  REQUIRE(failed_with<guest::retiring>(got.answer));
  CHECK_EQ(guest::reason_of(got.answer.error()), "AgentRetiring");
  CHECK_EQ(f.reading.asked, 0u);
  CHECK_EQ(f.handle->moves(), 0u);
  CHECK_EQ(f.handle->current().token.reveal(), "P1");
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "reserve-execution"}));
}

// [G 230] another process in the pod
SCENARIO("a pinned read says which process answered instead") {
  rebind_world f;
  f.agent.on("read-file", [](const json& request) {
    const auto same = request.value("expectedGuestBootId", "") == fake_agent::boot;
    return agent_script{send(same ? json{{"ok", true}, {"content", ""}}
                                  : json{{"ok", false}, {"error", "guest_mismatch"}, {"guestBootId", fake_agent::boot}})};
  });
  auto input = guest::pin_input{"S1", "P1", "gone", {}};
  const auto pin = *guest::pin::of(input);
  const auto got = f.ask(f.read(f.at(pin.pinned(f.agent.where("P1")))));
  REQUIRE(!got.answer);
  const auto told = guest::translate(got.answer.error());
  REQUIRE(std::holds_alternative<guest::pin_refused>(told));
  CHECK_EQ(guest::to_string(std::get<guest::pin_refused>(told).reason), "guest-replaced");
  CHECK_EQ(std::get<guest::pin_refused>(told).fresh_boot, guest_boot_id{fake_agent::boot});
}

// [G 231] another pod
SCENARIO("a pinned read of a replaced pod is refused, and does not follow it") {
  rebind_world f;
  auto input = guest::pin_input{"S1", "P1", "B1", {}};
  const auto pin = *guest::pin::of(input);
  const auto pinned = f.at(pin.pinned(f.agent.where("P1")));
  const auto got = f.ask(f.read(pinned));
  REQUIRE(!got.answer);
  const auto told = guest::translate(got.answer.error());
  REQUIRE(std::holds_alternative<guest::pin_refused>(told));
  CHECK_EQ(guest::to_string(std::get<guest::pin_refused>(told).reason), "pod-replaced");
  CHECK_EQ(f.reading.asked, 0u);
  CHECK_EQ(pinned->moves(), 0u);
  CHECK_EQ(f.next.connections(), 0u);
}

SCENARIO("what a command took is told once, over both pods") {
  rebind_world f;
  f.agent.on("reserve-execution", {wait_for("slow"), send(refusal("unauthorized"))});
  auto flow = start_flow(f.context, f.execute());
  f.until_asked("reserve-execution");
  f.time.advance(300ms);
  f.agent.open("slow");
  const auto got = f.finish(flow);
  REQUIRE(got.answer.has_value());
  REQUIRE_EQ(f.timings.size(), 1u);
  CHECK(f.timings[0].reserve == 300ms);
  CHECK(f.timings[0].dial == 0ms);
  CHECK(f.timings[0].drain == 0ms);
}
