#define CAF_SUITE host_transport

#include "base/base64.hpp"
#include "guest/flows/feature_cache.hpp"
#include "guest/flows/transport.hpp"
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

template <class T>
std::string text_of(const auto& got) {
  return failed_with<T>(got) ? std::get<T>(got.error()).text : std::string{};
}

struct fixture {
  boost::asio::io_context context;
  manual_time time;
  fake_agent agent{context};
  std::unique_ptr<guest::host> host = guest::make_host(time);

  [[nodiscard]] deadline in(time_source::clock::duration budget) const {
    return deadline{time, budget};
  }
  template <class T>
  T finish(started<T> flow) {
    run_with_sockets(context, time, [&] { return flow.done(); });
    return std::move(flow.get());
  }
  guest::result<guest::health> look() {
    return finish(start_flow(context, host->look(agent.where(), in(10min))));
  }
  guest::result<guest::file_content> read(std::size_t limit = 1'000'000) {
    return finish(start_flow(context, host->read_file(agent.where(), "f", limit, in(10min))));
  }
  /// What a look answers when the guest's whole answer is `bytes`.
  guest::result<guest::health> look_at(std::string bytes) {
    agent.on("healthz", {send(std::move(bytes))});
    return look();
  }
};

const auto well = guest::to_frame(R"({"ok":true,"protocolVersion":2,"features":["flush"]})");

} // namespace

SCENARIO("a healthy guest is seen with its features") {
  fixture f;
  f.agent.features({"flush", "guest-boot-id"});
  const auto got = f.look();
  REQUIRE(got.has_value());
  CHECK(got->ok);
  CHECK(!got->retiring);
  CHECK_EQ(got->protocol_version, 2);
  CHECK_EQ(got->features, (std::vector<std::string>{"flush", "guest-boot-id"}));
  CHECK(!f.agent.requests().at(0).contains("token"));
}

SCENARIO("upper-case digits in the header of a reply are accepted") {
  fixture f;
  auto upper = guest::to_frame(R"({"ok":true,"protocolVersion":2,"features":["stream-heartbeat","read-file-stream"]}        )");
  const auto lower = upper;
  std::ranges::transform(upper.begin(), upper.begin() + 8, upper.begin(), [](char x) { return static_cast<char>(std::toupper(x)); });
  REQUIRE_NE(upper, lower);
  CHECK(f.look_at(upper).has_value());
}

// [G 15] two frames where one reply is due
SCENARIO("a reply of two frames is refused") {
  fixture f;
  CHECK_EQ(text_of<guest::protocol_failure>(f.look_at(well + well)), "multiple frames in a reply");
}

// [G 16] stray bytes after a reply
SCENARIO("a reply with stray bytes behind it is refused") {
  fixture f;
  CHECK_EQ(text_of<guest::protocol_failure>(f.look_at(well + "abc")), "trailing partial data after a reply");
}

// [G 17] a peer that does not close
SCENARIO("a guest that keeps the connection open after its reply fails the call after a second") {
  fixture f;
  f.agent.on("healthz", {send(well), watch()});
  CHECK_EQ(text_of<guest::protocol_failure>(f.look()), "the guest did not close after its response");
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{1s});
}

SCENARIO("data after the reply fails the call") {
  fixture f;
  f.agent.on("healthz", {send(well), wait_for("more"), send(std::string{"x"})});
  auto flow = start_flow(f.context, f.host->look(f.agent.where(), f.in(10min)));
  run_until(f.context, [&] { return f.agent.sent() == well.size(); });
  run_ready(f.context);
  CHECK(!flow.done());
  f.agent.open("more");
  run_until(f.context, [&] { return flow.done(); });
  CHECK_EQ(text_of<guest::protocol_failure>(flow.get()), "the guest sent data after its response");
}

// [G 18] no reply at all
SCENARIO("a guest that closes without a reply is a lost answer") {
  fixture f;
  f.agent.on("healthz", agent_script{});
  CHECK_EQ(text_of<guest::lost>(f.look()), "socket closed before reply");
}

// [G 19] silence
SCENARIO("a silent guest fails a control request after a minute") {
  fixture f;
  f.agent.on("healthz", {watch()});
  CHECK_EQ(text_of<guest::lost>(f.look()), "idle timeout: no reply within 60000ms");
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{60s});
}

SCENARIO("every received piece starts the minute of silence anew") {
  fixture f;
  f.agent.on("healthz", {send(well.substr(0, 20)), wait_for("rest"), send(well.substr(20))});
  auto flow = start_flow(f.context, f.host->look(f.agent.where(), f.in(10min)));
  run_until(f.context, [&] { return f.agent.sent() == 20 && f.time.sleeping() != 0; });
  f.time.advance(59s);
  f.agent.open("rest");
  run_until(f.context, [&] { return flow.done(); });
  CHECK(flow.get().has_value());
}

SCENARIO("a header that is none is a protocol failure") {
  fixture f;
  CHECK(failed_with<guest::protocol_failure>(f.look_at("0000zz10\n{}")));
  CHECK(failed_with<guest::protocol_failure>(f.look_at("0000\n00000")));
  CHECK(failed_with<guest::protocol_failure>(f.look_at("000000020{}")));
  CHECK(failed_with<guest::protocol_failure>(f.look_at(guest::to_frame("{nope"))));
  CHECK(failed_with<guest::protocol_failure>(f.look_at(std::string{guest::terminator})));
}

// [G 40] evicted from the pool of unauthenticated connections
SCENARIO("a refused probe says nothing about a fence") {
  fixture f;
  const auto got = f.look_at(guest::to_frame(R"({"ok":false,"error":"too_many_unauthenticated_connections: limit 64"
})"));
  REQUIRE(got.has_value());
  CHECK(!got->ok);
  CHECK(!got->retiring);
}

SCENARIO("a fenced guest is seen as retiring") {
  fixture f;
  const auto got = f.look_at(guest::to_frame(R"({"ok":false,"protocolVersion":2,"features":[],"retiring":true})"));
  REQUIRE(got.has_value());
  CHECK(!got->ok);
  CHECK(got->retiring);
}

SCENARIO("a guest of another version is a protocol failure at once") {
  fixture f;
  CHECK(failed_with<guest::protocol_failure>(f.look_at(guest::to_frame(R"({"ok":true,"protocolVersion":3,"features":[]})"))));
  CHECK_EQ(f.agent.connections(), 1u);
}

// [G 42] features that are no list
SCENARIO("features that are no list are none") {
  fixture f;
  const auto got = f.look_at(guest::to_frame(R"({"ok":true,"protocolVersion":2,"features":"flush"})"));
  REQUIRE(got.has_value());
  CHECK(got->features.empty());
}

SCENARIO("a guest that closes after n bytes of its reply never gives an answer before the last") {
  for (auto n = std::size_t{0}; n <= well.size(); ++n) {
    fixture f;
    f.agent.limit("healthz", n);
    const auto got = f.look_at(well);
    if (n < well.size())
      CHECK(failed_with<guest::lost>(got));
    else
      CHECK(got.has_value());
    CHECK_EQ(f.agent.connections(), 1u);
  }
}

SCENARIO("a reset after a whole reply is a close") {
  fixture f;
  f.agent.on("healthz", {send(well), wait_for("read"), reset()});
  auto flow = start_flow(f.context, f.host->look(f.agent.where(), f.in(10min)));
  run_until(f.context, [&] { return f.agent.sent() == well.size(); });
  run_ready(f.context);
  f.agent.open("read");
  run_until(f.context, [&] { return flow.done(); });
  CHECK(flow.get().has_value());
}

// -- dialing ---------------------------------------------------------------------

SCENARIO("dialing goes on every 100 ms for half a minute and then says that nothing was sent") {
  fixture f;
  const auto where = f.agent.where();
  f.agent.stop_listening();
  const auto got = f.finish(start_flow(f.context, f.host->look(where, f.in(10min))));
  REQUIRE(failed_with<guest::dial_failed>(got));
  CHECK_EQ(std::get<guest::dial_failed>(got.error()).port, where.port);
  CHECK_GE(f.time.elapsed(), time_source::clock::duration{29s});
  CHECK_LE(f.time.elapsed(), time_source::clock::duration{30s});
  CHECK_EQ(guest::to_string(got.error()).find("pod-uid"), std::string::npos);
}

SCENARIO("dialing ends with the call") {
  fixture f;
  const auto where = f.agent.where();
  f.agent.stop_listening();
  CHECK(failed_with<guest::dial_failed>(f.finish(start_flow(f.context, f.host->look(where, f.in(3s))))));
  CHECK_LE(f.time.elapsed(), time_source::clock::duration{3s});
}

SCENARIO("an answer that has not come by the deadline is lost, not refused") {
  fixture f;
  f.agent.on("healthz", {watch()});
  CHECK(failed_with<guest::lost>(f.finish(start_flow(f.context, f.host->look(f.agent.where(), f.in(3s))))));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{3s});
}

SCENARIO("a withdrawn call ends at once and closes its connection") {
  fixture f;
  f.agent.on("healthz", {watch()});
  auto flow = start_flow(f.context, f.host->look(f.agent.where(), f.in(10min)));
  run_until(f.context, [&] { return f.agent.count("healthz") == 1; });
  flow.cancel();
  run_until(f.context, [&] { return flow.done(); });
  CHECK(failed_with<guest::lost>(flow.get()));
  run_until(f.context, [&] { return f.agent.ended() == 1; });
}

SCENARIO("a call that is withdrawn while dialing has sent nothing") {
  fixture f;
  const auto where = f.agent.where();
  f.agent.stop_listening();
  auto flow = start_flow(f.context, f.host->look(where, f.in(10min)));
  run_until(f.context, [&] { return f.time.sleeping() >= 2; });
  flow.cancel();
  run_until(f.context, [&] { return flow.done(); });
  CHECK(failed_with<guest::withdrawn>(flow.get()));
}

// -- files -----------------------------------------------------------------------

SCENARIO("a file is read as bytes with the token and the boot id") {
  fixture f;
  const auto bytes = std::string{"\0\xff abc", 6};
  f.agent.on("read-file",
             {send({{"ok", true}, {"guestBootId", "b"}, {"content", to_base64(bytes)}, {"sizeBytes", 6}, {"encoding", "base64"}})});
  const auto got = f.read();
  REQUIRE(got.has_value());
  CHECK_EQ(got->bytes, bytes);
  CHECK_EQ(got->boot, guest_boot_id{"b"});
  CHECK(f.agent.requests().at(0) == (json{{"op", "read-file"}, {"body", {{"path", "f"}, {"encoding", "base64"}}}, {"token", "pod-uid"}}));
}

SCENARIO("a file beyond the caller's limit is refused, however large its reply") {
  fixture f;
  f.agent.on("read-file", {send({{"ok", true}, {"content", to_base64("abcdef")}, {"sizeBytes", 6}})});
  CHECK(f.read(6).has_value());
  const auto over = f.read(5);
  REQUIRE(failed_with<guest::refused>(over));
  CHECK_EQ(std::get<guest::refused>(over.error()).code, "file_too_large");
  // A header alone is enough; nothing of the payload is waited for.
  f.agent.on("read-file", {send(std::string{"10000000\n"}), watch()});
  const auto huge = f.read(1000);
  REQUIRE(failed_with<guest::refused>(huge));
  CHECK_EQ(std::get<guest::refused>(huge.error()).code, "file_too_large");
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration::zero());
}

SCENARIO("the guest's text about a file is passed on") {
  fixture f;
  f.agent.on("read-file", {send({{"ok", false}, {"error", "EACCES: permission denied, open 'unauthorized'"}})});
  const auto got = f.read();
  REQUIRE(failed_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(got.error()).code, "EACCES");
  f.agent.on("read-file", {send({{"ok", false}, {"error", "unauthorized"}})});
  CHECK(failed_with<guest::unauthorized>(f.read()));
}

SCENARIO("a file is written whole in one request") {
  fixture f;
  f.agent.on("write-file", {send({{"ok", true}, {"guestBootId", "b"}, {"bytesWritten", 3}})});
  const auto got = f.finish(start_flow(f.context, f.host->write_file(f.agent.where(), "d/f", "abc", f.in(10s))));
  REQUIRE(got.has_value());
  CHECK_EQ(got->bytes, 3u);
  CHECK_EQ(got->boot, guest_boot_id{"b"});
  CHECK(f.agent.requests().at(0)["body"] == (json{{"path", "d/f"}, {"content", "YWJj"}, {"encoding", "base64"}}));
}

SCENARIO("a file that does not fit one request is refused before anything is dialed") {
  fixture f;
  const auto got = f.finish(start_flow(f.context, f.host->write_file(f.agent.where(), "f", std::string(7'000'000, 'x'), f.in(10s))));
  CHECK(failed_with<guest::frame_too_large>(got));
  run_ready(f.context);
  CHECK_EQ(f.agent.connections(), 0u);
}

SCENARIO("a write whose connection ends is lost and is not sent again") {
  fixture f;
  f.agent.on("write-file", {reset()});
  const auto got = f.finish(start_flow(f.context, f.host->write_file(f.agent.where(), "f", std::string(5'000'000, 'x'), f.in(10min))));
  CHECK(failed_with<guest::lost>(got));
  CHECK_EQ(f.agent.count("write-file"), 1u);
}

// -- what is remembered ----------------------------------------------------------

SCENARIO("the features of endpoints are remembered by address and token, the newest of them") {
  auto cache = guest::feature_cache{2};
  auto at = [](const char* token) { return guest::endpoint{"10.0.0.1", 1024, secret{token}}; };
  CHECK_EQ(cache.find(at("a")), std::nullopt);
  cache.keep(at("a"), {"x"});
  cache.keep(at("a"), {"y"});
  cache.keep(at("b"), {});
  CHECK_EQ(cache.find(at("a")), std::vector<std::string>{"y"});
  CHECK_EQ(cache.find(at("b")), std::vector<std::string>{});
  cache.keep(at("c"), {"z"});
  CHECK_EQ(cache.find(at("a")), std::nullopt);
  CHECK_EQ(cache.find(at("c")), std::vector<std::string>{"z"});
  CHECK_EQ(cache.size(), 2u);
}
