#define CAF_SUITE host_stream_requests

#include "base/base64.hpp"
#include "guest/frame.hpp"
#include "guest/host_stream_requests.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

using namespace paddock;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const auto where = guest::endpoint{"10.0.0.1", 1024, secret{"pod-uid"}};
const auto beating = guest::stream_form{false, 15s};

/// The payload of the one frame in `bytes`.
json payload_of(const std::string& bytes) {
  auto reader = guest::frame_reader{};
  reader.push(bytes);
  auto step = reader.next(1u << 30);
  auto* whole = std::get_if<guest::frame_reader::frame>(&step);
  return whole == nullptr || reader.buffered() != 0 ? json{} : json::parse(whole->payload);
}

json body_of(const guest::result<std::string>& frame) {
  return frame ? payload_of(*frame)["body"] : json{};
}

template <class T>
bool failed_with(const guest::result<std::string>& got) {
  return !got && std::holds_alternative<T>(got.error());
}

std::vector<std::string> pieces(std::string_view all, bool text) {
  auto got = std::vector<std::string>{};
  while (!all.empty()) {
    got.emplace_back(guest::take_piece(all, text));
    if (got.back().empty())
      break;
  }
  return got;
}

guest::terminal_request terminal(std::optional<std::string> session = std::nullopt) {
  auto x = guest::terminal_request{};
  x.session = std::move(session);
  return x;
}

} // namespace

SCENARIO("a terminal is asked for with its size, and the guest's shell when no program is named") {
  const auto frame = guest::terminal_frame(where, terminal(), {});
  REQUIRE(frame.has_value());
  const auto sent = payload_of(*frame);
  CHECK(sent["op"] == "terminal");
  CHECK(sent["token"] == "pod-uid");
  CHECK(sent["body"] == (json{{"args", json::array()}, {"cols", 80}, {"rows", 24}}));
}

SCENARIO("a terminal is asked for with everything that the caller names") {
  auto what = terminal();
  what.program = "vi";
  what.arguments = {"a b", ""};
  what.directory = "src";
  what.environment = {{"LANG", "C"}};
  what.size = {100, 30};
  const auto body = body_of(guest::terminal_frame(where, what, {true, 15s}));
  CHECK(body
        == (json{{"command", "vi"},
                 {"args", {"a b", ""}},
                 {"cwd", "src"},
                 {"env", {{"LANG", "C"}}},
                 {"cols", 100},
                 {"rows", 30},
                 {"heartbeatMs", 15000},
                 {"encoding", "base64"}}));
}

SCENARIO("a session id makes a terminal persistent, and never one without the other") {
  const auto body = body_of(guest::terminal_frame(where, terminal("dev"), beating));
  CHECK(body["sessionId"] == "dev");
  CHECK(body["persistent"] == true);
  CHECK(!body_of(guest::terminal_frame(where, terminal(), beating)).contains("persistent"));
  CHECK(failed_with<guest::invalid_argument>(guest::terminal_frame(where, terminal(""), beating)));
}

SCENARIO("session ids have the syntax of the guest's registry") {
  for (const auto* good : {"a", "0", "A.b_c-d", "9-"})
    CHECK(guest::is_session_id(good));
  CHECK(guest::is_session_id(std::string(64, 'x')));
  CHECK(!guest::is_session_id(std::string(65, 'x')));
  for (const auto* bad : {"", "-x", ".x", "_x", "a b", "a/b", "\xc3\xa4", "a\n"})
    CHECK(!guest::is_session_id(bad));
}

SCENARIO("what no guest would take is refused here") {
  for (const auto& size :
       {guest::window_size{0, 24}, guest::window_size{80, 0}, guest::window_size{1001, 24}, guest::window_size{80, -1}}) {
    auto what = terminal();
    what.size = size;
    CHECK(failed_with<guest::invalid_argument>(guest::terminal_frame(where, what, {})));
    CHECK(failed_with<guest::invalid_argument>(guest::attach_session_frame(where, {"dev", 0, size}, {})));
  }
  CHECK(failed_with<guest::invalid_argument>(guest::attach_session_frame(where, {"-dev", 0, std::nullopt}, {})));
  auto nameless = terminal();
  nameless.program = "";
  CHECK(failed_with<guest::invalid_argument>(guest::terminal_frame(where, nameless, {})));
  auto unreadable = terminal();
  unreadable.arguments = {"\xff"};
  CHECK(failed_with<guest::refused>(guest::terminal_frame(where, unreadable, {})));
  auto large = terminal();
  large.arguments = {std::string(9'000'000, 'x')};
  CHECK(failed_with<guest::frame_too_large>(guest::terminal_frame(where, large, {})));
}

SCENARIO("a session is attached to at an offset, and resized only when a size is given") {
  CHECK(body_of(guest::attach_session_frame(where, {"dev", 42, std::nullopt}, beating))
        == (json{{"sessionId", "dev"}, {"fromOffset", 42}, {"heartbeatMs", 15000}}));
  CHECK(body_of(guest::attach_session_frame(where, {"dev", 0, guest::window_size{100, 30}}, {true, 0ms}))
        == (json{{"sessionId", "dev"}, {"fromOffset", 0}, {"cols", 100}, {"rows", 30}, {"encoding", "base64"}}));
}

SCENARIO("a port of the guest's loopback is connected to, and nothing else") {
  CHECK(body_of(guest::tcp_connect_frame(where, "127.0.0.1", 8080, beating))
        == (json{{"host", "127.0.0.1"}, {"port", 8080}, {"heartbeatMs", 15000}}));
  CHECK(body_of(guest::tcp_connect_frame(where, "::1", 65535, {true, 0ms})) == (json{{"host", "::1"}, {"port", 65535}}));
  for (const auto* host : {"10.0.0.1", "localhost", "", "127.0.0.2", "0.0.0.0", "127.0.0.1 "})
    CHECK(failed_with<guest::invalid_argument>(guest::tcp_connect_frame(where, host, 80, {})));
  for (const auto port : {0, -1, 65536})
    CHECK(failed_with<guest::invalid_argument>(guest::tcp_connect_frame(where, "127.0.0.1", port, {})));
}

// -- on the stream ---------------------------------------------------------------

SCENARIO("input goes as text with U+FFFD, or as base64 of every byte") {
  CHECK_EQ(payload_of(guest::input_frame("ls\n\"\\\x1b[A", false)).dump(), json({{"type", "input"}, {"data", "ls\n\"\\\x1b[A"}}).dump());
  CHECK(payload_of(guest::input_frame("a\xff", false))["data"] == "a\xef\xbf\xbd");
  CHECK(payload_of(guest::input_frame("a\xff", true)) == (json{{"type", "input"}, {"data", to_base64("a\xff")}}));
}

SCENARIO("input is cut into pieces of 64 KiB") {
  const auto got = pieces(std::string(150'000, 'x'), false);
  REQUIRE_EQ(got.size(), 3u);
  CHECK_EQ(got[0].size(), 65536u);
  CHECK_EQ(got[1].size(), 65536u);
  CHECK_EQ(got[2].size(), 18928u);
}

SCENARIO("a piece of text never ends within a character, and bytes that are none are not waited for") {
  auto text = std::string(65535, 'x') + "\xf0\x9f\x98\x80" + "y";
  auto got = pieces(text, true);
  REQUIRE_EQ(got.size(), 2u);
  CHECK_EQ(got[0].size(), 65535u);
  CHECK_EQ(got[1], "\xf0\x9f\x98\x80y");
  CHECK_EQ(pieces(text, false)[0].size(), 65536u);
  // No piece is empty, whatever the bytes.
  for (const auto byte : {'\xff', '\x80', '\xf0', '\xe2'}) {
    auto rest = std::string(200'000, byte);
    auto sum = std::size_t{0};
    for (const auto& x : pieces(rest, true))
      sum += x.size();
    CHECK_EQ(sum, rest.size());
  }
}

SCENARIO("the unfinished end of a text is found") {
  CHECK_EQ(guest::unfinished_tail(""), 0u);
  CHECK_EQ(guest::unfinished_tail("abc"), 0u);
  CHECK_EQ(guest::unfinished_tail("\xc3\xa4"), 0u);
  CHECK_EQ(guest::unfinished_tail("a\xc3"), 1u);
  CHECK_EQ(guest::unfinished_tail("a\xe2\x82"), 2u);
  CHECK_EQ(guest::unfinished_tail("a\xf0\x9f\x98"), 3u);
  CHECK_EQ(guest::unfinished_tail("\xf0\x9f\x98\x80"), 0u);
  CHECK_EQ(guest::unfinished_tail("a\xff"), 0u);
  CHECK_EQ(guest::unfinished_tail("a\xc0"), 0u);
  CHECK_EQ(guest::unfinished_tail("\x80\x80\x80\x80"), 0u);
}

SCENARIO("the other frames of a stream are those of the protocol") {
  CHECK(payload_of(guest::resize_frame({100, 30})) == (json{{"type", "resize"}, {"cols", 100}, {"rows", 30}}));
  CHECK(payload_of(guest::kill_frame("SIGHUP")) == (json{{"type", "kill"}, {"signal", "SIGHUP"}}));
  CHECK(payload_of(guest::tcp_data_frame(std::string("\0\xff", 2))) == (json{{"type", "data"}, {"data", "AP8="}}));
  CHECK_EQ(payload_of(guest::tcp_end_frame()).dump(), R"({"type":"end"})");
  CHECK_EQ(payload_of(guest::tcp_destroy_frame()).dump(), R"({"type":"destroy"})");
  CHECK_EQ(payload_of(guest::heartbeat_frame()).dump(), R"({"type":"heartbeat"})");
}
