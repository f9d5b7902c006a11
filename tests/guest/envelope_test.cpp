#define CAF_SUITE envelope

#include "guest/envelope.hpp"
#include "guest/frame.hpp"
#include "guest/replies.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::guest;

namespace {

constexpr auto token = "b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311";
constexpr auto id = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915";
const auto boot = guest_boot_id{"3f0a9d62-7b1c-4e55-9d3a-61b8c2e47f90"};

std::string frame_of(std::string op, std::optional<nlohmann::ordered_json> body, std::optional<std::string> with,
                     std::optional<std::string> pin = std::nullopt) {
  return to_frame(to_payload({std::move(op), std::move(body), std::move(with), std::move(pin)}));
}

} // namespace

SCENARIO("requests are the worked examples byte for byte") {
  using object = nlohmann::ordered_json;
  CHECK_EQ(frame_of("healthz", {}, {}), "00000010\n{\"op\":\"healthz\"}");
  CHECK_EQ(frame_of("reserve-execution", {}, token),
           "00000049\n{\"op\":\"reserve-execution\",\"token\":\"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311\"}");
  CHECK_EQ(
    frame_of(
      "execute",
      object{{"executionId", id}, {"command", "/bin/sh"}, {"args", object::array({"-c", "printf caf\\303\\251"})}, {"timeoutMs", 5000}},
      token),
    "000000cc\n{\"op\":\"execute\",\"body\":{\"executionId\":\"exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915\",\"command\":"
    "\"/bin/sh\",\"args\":[\"-c\",\"printf "
    "caf\\\\303\\\\251\"],\"timeoutMs\":5000},\"token\":\"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311\"}");
  CHECK_EQ(frame_of("cancel-execution", object{{"executionId", id}}, token),
           "0000008b\n{\"op\":\"cancel-execution\",\"body\":{\"executionId\":\"exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915\"},\"token\":"
           "\"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311\"}");
  CHECK_EQ(frame_of("read-file", object{{"path", "notes.txt"}, {"encoding", "base64"}}, token, "c81d40ee-15f7-4b2a-b0a9-2e6d93f1587c"),
           "000000ae\n{\"op\":\"read-file\",\"body\":{\"path\":\"notes.txt\",\"encoding\":\"base64\"},\"token\":\"b7c1e0a4-52d3-4f8e-"
           "8a16-0c94d2f7a311\",\"expectedGuestBootId\":\"c81d40ee-15f7-4b2a-b0a9-2e6d93f1587c\"}");
}

SCENARIO("answers are the worked examples byte for byte") {
  CHECK_EQ(to_frame(refusal("unauthorized")), "00000023\n{\"ok\":false,\"error\":\"unauthorized\"}");
  CHECK_EQ(to_frame(reservation_reply(boot, id, 1767225630000, std::nullopt)),
           "000000ad\n{\"ok\":true,\"guestBootId\":\"3f0a9d62-7b1c-4e55-9d3a-61b8c2e47f90\",\"protocolVersion\":2,\"executionId\":"
           "\"exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915\",\"leaseExpiresAt\":1767225630000}");
  for (const auto as_base64 : {true, false})
    CHECK_EQ(delta_frame(stream::err, "ab\xff", as_base64), to_frame(delta_event(stream::err, "ab\xff", as_base64)));
  CHECK_EQ(to_frame(delta_event(stream::out, "caf\xc3\xa9", false)), "00000026\n{\"type\":\"stdout_delta\",\"data\":\"caf\xc3\xa9\"}");
  auto result = execution_result{};
  result.duration_ms = 7;
  CHECK_EQ(to_frame(result_event(result)),
           "0000006e\n{\"type\":\"result\",\"exitCode\":0,\"timedOut\":false,\"durationMs\":7,\"stdoutTruncated\":false,"
           "\"stderrTruncated\":false}");
  auto end = execution_end{};
  end.outcome = execution_outcome::cancelled;
  end.started = true;
  end.result = execution_result{-1, false, 412, "SIGTERM", false, false};
  CHECK_EQ(to_frame(terminal_reply(boot, end)),
           "000000e1\n{\"ok\":true,\"guestBootId\":\"3f0a9d62-7b1c-4e55-9d3a-61b8c2e47f90\",\"state\":\"cancelled\",\"started\":true,"
           "\"result\":{\"exitCode\":-1,\"timedOut\":false,\"durationMs\":412,\"signal\":\"SIGTERM\",\"stdoutTruncated\":false,"
           "\"stderrTruncated\":false}}");
  CHECK_EQ(to_frame(frame_too_large_refusal(8388609, 8388608, false)),
           "00000074\n{\"ok\":false,\"error\":\"frame_too_large: announced 8388609 bytes, limit 8388608 "
           "(NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES)\"}");
}

SCENARIO("an envelope is read without its body") {
  auto x = read_envelope(R"({"op":"execute","body":{"op":"healthz","token":"inner"},"token":"t","expectedGuestBootId":null})");
  REQUIRE(x);
  CHECK(x->has_op);
  CHECK_EQ(x->op, "execute");
  CHECK_EQ(x->token.value_or(""), "t");
  REQUIRE(x->expected_guest_boot_id);
  CHECK(x->expected_guest_boot_id->is_null());
}

SCENARIO("what is no op has a text all the same") {
  CHECK_EQ(read_envelope("{}")->op, "undefined");
  CHECK_EQ(read_envelope("[1]")->op, "undefined");
  CHECK_EQ(read_envelope(R"({"op":7})")->op, "7");
  CHECK(!read_envelope(R"({"op":7})")->has_op);
  CHECK(!read_envelope(R"(["op","healthz"])")->has_op);
}

SCENARIO("a token that is empty or no string is none") {
  CHECK(!read_envelope(R"({"op":"x","token":""})")->token);
  CHECK(!read_envelope(R"({"op":"x","token":7})")->token);
  CHECK(!read_envelope(R"({"op":"x"})")->token);
}

SCENARIO("what is not JSON is no envelope") {
  CHECK(!read_envelope(""));
  CHECK(!read_envelope("{"));
  CHECK(!read_envelope("nonsense"));
  CHECK(!read_envelope(R"({"op":"healthz"} {})"));
  CHECK(!read_envelope(std::string(100'000, '[')));
  CHECK(!parse_payload(std::string(65, '[') + std::string(65, ']')));
  CHECK(parse_payload(std::string(64, '[') + std::string(64, ']')));
}

SCENARIO("lone surrogates and bytes that are not UTF-8 are replaced, pairs are kept") {
  auto x = parse_payload("{\"a\":\"\\ud83d\",\"b\":\"\\ud83d\\ude00\",\"c\":\"\\\\ud83d\",\"d\":\"\xff\",\"e\":\"\\uDE00\\uD83D!\"}");
  REQUIRE(x);
  CHECK_EQ(x->at("a").get<std::string>(), "\xef\xbf\xbd");
  CHECK_EQ(x->at("b").get<std::string>(), "\xf0\x9f\x98\x80");
  CHECK_EQ(x->at("c").get<std::string>(), "\\ud83d");
  CHECK_EQ(x->at("d").get<std::string>(), "\xef\xbf\xbd");
  CHECK_EQ(x->at("e").get<std::string>(), "\xef\xbf\xbd\xef\xbf\xbd!");
}
