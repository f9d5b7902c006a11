#define CAF_SUITE session_request

#include "guest/session_request.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <csignal>

using namespace paddock;
using namespace paddock::guest;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string refusal_of(const json& body) {
  auto got = read_terminal_opening(body, "/ws");
  return got ? "(taken)" : got.error();
}

std::string input_of(std::string_view payload, bool as_base64 = false) {
  auto event = read_terminal_event(payload, as_base64);
  const auto* input = std::get_if<terminal_input>(&event);
  return input == nullptr ? "(none)" : input->bytes;
}

int kill_of(std::string_view payload) {
  auto event = read_terminal_event(payload, false);
  const auto* kill = std::get_if<terminal_kill>(&event);
  return kill == nullptr ? 0 : kill->signal;
}

bool ignored(std::string_view payload) {
  return std::holds_alternative<std::monostate>(read_terminal_event(payload, false));
}

} // namespace

SCENARIO("an id of another syntax is none") {
  CHECK_EQ(session_id_in({{"sessionId", "Z.y_x-1"}}).value_or("(none)"), "Z.y_x-1");
  for (const auto& bad : {json("-x"), json(std::string(65, 'a')), json(""), json(7), json(nullptr)})
    CHECK(!session_id_in({{"sessionId", bad}}));
  CHECK(!session_id_in(json::array()));
}

SCENARIO("a terminal has its defaults") {
  auto got = read_terminal_opening({{"cols", 80}, {"rows", 24}}, "/ws");
  REQUIRE(got);
  CHECK_EQ(got->run.program, "/bin/sh");
  CHECK(got->run.arguments.empty());
  CHECK_EQ(got->run.directory, "/ws");
  CHECK_EQ(got->run.environment.at("TERM"), "xterm-256color");
  CHECK(!got->session);
  CHECK(!got->heartbeat);
  CHECK(!got->as_base64);
}

SCENARIO("a terminal takes what its request says") {
  auto got = read_terminal_opening({{"command", "bash"},
                                    {"args", {"-i", 7, true}},
                                    {"cwd", "a/../b"},
                                    {"env", {{"TERM", "dumb"}, {"X", "y"}}},
                                    {"cols", "120"},
                                    {"rows", 4e1},
                                    {"persistent", true},
                                    {"sessionId", "s-1"},
                                    {"heartbeatMs", 1},
                                    {"encoding", "base64"}},
                                   "/ws");
  REQUIRE(got);
  CHECK_EQ(got->run.program, "bash");
  CHECK_EQ(got->run.arguments.size(), 3U);
  CHECK_EQ(got->run.arguments[1], "7");
  CHECK_EQ(got->run.arguments[2], "true");
  CHECK_EQ(got->run.directory, "/ws/b");
  CHECK_EQ(got->run.environment.at("TERM"), "dumb");
  CHECK_EQ(got->size.columns, 120);
  CHECK_EQ(got->size.rows, 40);
  CHECK_EQ(got->session.value_or(""), "s-1");
  CHECK(got->heartbeat == 100ms);
  CHECK(got->as_base64);
}

SCENARIO("what is wrong with a terminal is told in order") {
  CHECK_EQ(refusal_of("text"), "missing_terminal_options");
  CHECK_EQ(refusal_of(nullptr), "missing_terminal_options");
  CHECK_EQ(refusal_of(json::object()), "cols must be an integer in [1, 1000]");
  for (const auto& bad : {json(0), json(1001), json(1.5), json(-1), json("x"), json(nullptr), json(1e300)}) {
    CHECK_EQ(refusal_of({{"cols", bad}, {"rows", 0}}), "cols must be an integer in [1, 1000]");
    CHECK_EQ(refusal_of({{"cols", 1}, {"rows", bad}}), "rows must be an integer in [1, 1000]");
  }
  auto size = json{{"cols", 1}, {"rows", 1000}};
  CHECK_EQ(refusal_of(size), "(taken)");
  auto outside = size;
  outside.update({{"cwd", "/etc"}, {"persistent", true}});
  CHECK_EQ(refusal_of(outside), "path escapes the workspace");
  auto nameless = size;
  nameless["persistent"] = true;
  CHECK_EQ(refusal_of(nameless), "invalid_session_id");
  nameless["sessionId"] = "-x";
  CHECK_EQ(refusal_of(nameless), "invalid_session_id");
  nameless["persistent"] = "true"; // an id without the literal is of no matter
  CHECK_EQ(refusal_of(nameless), "(taken)");
}

SCENARIO("an attachment takes what its request says") {
  auto plain = read_attach_opening(json::object());
  CHECK(plain.from == 0U);
  CHECK(plain.follow);
  CHECK(!plain.size);
  auto all = read_attach_opening({{"fromOffset", 1e3}, {"follow", false}, {"cols", 3}, {"rows", 4}, {"encoding", "base64"}});
  CHECK(all.from == 1000U);
  CHECK(!all.follow);
  CHECK(all.as_base64);
  REQUIRE(all.size);
  CHECK_EQ(all.size->columns, 3);
  for (const auto& bad : {json(-1), json(1.5), json(nullptr), json("x"), json(1e300)})
    CHECK(!read_attach_opening({{"fromOffset", bad}}).from);
  CHECK(!read_attach_opening({{"cols", 3}}).size); // both or none
}

SCENARIO("four signals may be sent") {
  for (auto [name, number] :
       {std::pair{"SIGTERM", SIGTERM}, std::pair{"SIGKILL", SIGKILL}, std::pair{"SIGINT", SIGINT}, std::pair{"SIGHUP", SIGHUP}})
    CHECK_EQ(signal_in({{"signal", name}}, 0), number);
  for (const auto& other : {json("SIGSTOP"), json("TERM"), json(9), json(nullptr)})
    CHECK_EQ(signal_in({{"signal", other}}, SIGKILL), SIGKILL);
  CHECK_EQ(kill_of(R"({"type":"kill","signal":"SIGSTOP"})"), SIGTERM);
  CHECK_EQ(kill_of(R"({"type":"kill"})"), SIGTERM);
  CHECK_EQ(kill_of(R"({"type":"kill","signal":"SIGINT"})"), SIGINT);
}

SCENARIO("input is text, or bytes where both agreed") {
  CHECK_EQ(input_of(R"({"type":"input","data":"a\u00e9\n"})"), "a\xc3\xa9\n");
  CHECK_EQ(input_of(R"({"type":"input","data":"AP8="})"), "AP8=");
  CHECK_EQ(input_of(R"({"type":"input","data":"AP8="})", true), (std::string{"\0\xff", 2}));
  CHECK_EQ(input_of(R"({ "data":"AP8=", "type":"input" })", true), (std::string{"\0\xff", 2}));
  CHECK_EQ(input_of(R"({"type":"input","data":"AP8\u003d"})", true), (std::string{"\0\xff", 2}));
  CHECK_EQ(input_of(R"({"type":"input","data":"*"})", true), "(none)");
  CHECK_EQ(input_of(R"({"type":"input","data":7})"), "(none)");
}

SCENARIO("what is no event is ignored") {
  for (const auto* payload : {"", "{", "[]", "7", "{}", R"({"type":7})", R"({"type":"heartbeat"})", R"({"type":"other"})",
                              R"({"type":"resize","cols":0,"rows":5})", R"({"type":"resize","cols":5})"})
    CHECK(ignored(payload));
  auto event = read_terminal_event(R"({"type":"resize","cols":100,"rows":30})", true);
  REQUIRE(std::holds_alternative<terminal_size>(event));
  CHECK_EQ(std::get<terminal_size>(event).columns, 100);
}
