#define CAF_SUITE host_file_rules

#include "base/base64.hpp"
#include "guest/frame.hpp"
#include "guest/host_file_replies.hpp"
#include "guest/host_file_requests.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using nlohmann::json;

namespace {

template <class T>
bool failed_with(const auto& got) {
  return !got && std::holds_alternative<T>(got.error());
}

const auto where = guest::endpoint{"10.0.0.1", 1024, secret{"uid"}};
constexpr auto uuid = "0c94d2f7-a311-4f8e-8a16-b7c1e0a452d3";

json payload_of(const std::string& frame) {
  return json::parse(frame.substr(guest::frame_header_size));
}

std::string data_event(std::string_view bytes) {
  return R"({"type":"data","data":")" + to_base64(bytes) + R"("})";
}

constexpr auto meta_5 = R"({"type":"meta","sizeBytes":5,"offset":0,"length":5})";

guest::file_stream_reader opened(std::string meta = meta_5, std::optional<std::uint64_t> offset = {},
                                 std::optional<std::uint64_t> length = {}) {
  auto reader = guest::file_stream_reader{offset, length};
  const auto got = reader.take(std::move(meta));
  CHECK(got && got->empty());
  return reader;
}

bool takes_meta(std::string meta, std::optional<std::uint64_t> offset = {}, std::optional<std::uint64_t> length = {}) {
  return guest::file_stream_reader{offset, length}.take(std::move(meta)).has_value();
}

} // namespace

// -- requests --------------------------------------------------------------------

SCENARIO("a stream is asked for with what was stated and nothing else") {
  CHECK(payload_of(guest::read_stream_frame(where, "d/f", {}, {}).value())
        == (json{{"op", "read-file-stream"}, {"body", {{"path", "d/f"}}}, {"token", "uid"}}));
  CHECK(payload_of(guest::read_stream_frame(where, "f", 0, 7).value())["body"] == (json{{"path", "f"}, {"offset", 0}, {"length", 7}}));
  const auto largest = guest::largest_safe_integer;
  CHECK(guest::read_stream_frame(where, "f", largest, largest).has_value());
  CHECK(failed_with<guest::invalid_argument>(guest::read_stream_frame(where, "f", largest + 1, {})));
  CHECK(failed_with<guest::invalid_argument>(guest::read_stream_frame(where, "f", {}, largest + 1)));
}

SCENARIO("a path that no file can have is refused here") {
  CHECK(failed_with<guest::invalid_argument>(guest::check_path("")));
  CHECK(failed_with<guest::invalid_argument>(guest::check_path(std::string{"a\0b", 3})));
  CHECK(failed_with<guest::refused>(guest::check_path("\xff")));
  CHECK(guest::check_path("caf\xc3\xa9").has_value());
}

SCENARIO("a write is put together around its content without a copy of it") {
  const auto path = std::string{R"(a"content":""b)"};
  const auto around = guest::whole_write(where, path);
  auto frame = around.before + to_base64("abc") + around.after;
  guest::seal(frame);
  CHECK_EQ(frame.substr(0, 9), guest::frame_header(static_cast<std::uint32_t>(frame.size() - 9)));
  CHECK(payload_of(frame)
        == (json{{"op", "write-file"}, {"body", {{"path", path}, {"content", "YWJj"}, {"encoding", "base64"}}}, {"token", "uid"}}));
  CHECK_EQ(around.size_with(3), frame.size() - guest::frame_header_size);
  // Exactly what its own frame function makes of it.
  CHECK_EQ(frame, guest::write_file_frame(where, path, "abc").value());
  CHECK_LE(around.size_with(around.room()), guest::request_ceiling);
  CHECK_GT(around.size_with(around.room() + 1), guest::request_ceiling);
}

SCENARIO("a part names the temporary, its place, and at last the target") {
  auto body = [](const guest::content_frame& x) { return payload_of(x.before + x.after)["body"]; };
  CHECK(body(guest::part_write(where, "t.part", 12, std::nullopt))
        == (json{{"path", "t.part"}, {"content", ""}, {"encoding", "base64"}, {"part", {{"offset", 12}, {"final", false}}}}));
  CHECK(body(guest::part_write(where, "t.part", 12, "t"))["part"] == (json{{"offset", 12}, {"final", true}, {"renameTo", "t"}}));
  CHECK(payload_of(guest::discard_frame(where, "t.part").value())["body"]
        == (json{{"path", "t.part"}, {"content", ""}, {"encoding", "base64"}, {"part", {{"discard", true}}}}));
}

SCENARIO("the temporary lies beside its target and its name fits a file system") {
  CHECK_EQ(guest::temporary_path("/a/b/c.txt", uuid), std::string{"/a/b/.namzu-write-"} + uuid + "-c.txt.part");
  CHECK_EQ(guest::temporary_path("c.txt", uuid), std::string{".namzu-write-"} + uuid + "-c.txt.part");
  CHECK_EQ(guest::temporary_path(std::string(97, 'x'), uuid), std::string{".namzu-write-"} + uuid + "-" + std::string(96, 'x') + ".part");
  // Three bytes a character: cut between two of them, at 200 bytes.
  auto wide = std::string{};
  for (auto i = 0; i < 96; ++i)
    wide += "\xe4\xb8\xad";
  const auto name = guest::temporary_path(wide, uuid);
  CHECK_LE(name.size(), 255u);
  CHECK(name.ends_with("\xe4\xb8\xad.part"));
  CHECK_EQ(name.size() % 3, (std::string{".namzu-write-"} + uuid + "-.part").size() % 3);
  // Four bytes are two characters.
  auto pairs = std::string{};
  for (auto i = 0; i < 60; ++i)
    pairs += "\xf0\x9f\x98\x80";
  CHECK_EQ(guest::temporary_path(pairs, uuid), std::string{".namzu-write-"} + uuid + "-" + pairs.substr(0, 48 * 4) + ".part");
}

SCENARIO("a part is what the final request leaves of a frame, in whole groups, and can only be made smaller") {
  const auto size = guest::part_size(where, "t.part", "t", 1'000'000, {});
  CHECK_EQ(size % 3, 0u);
  const auto around = guest::part_write(where, "t.part", 1'000'000, "t").size_with(0);
  CHECK_EQ(size, (guest::request_ceiling - around - 1'024) / 4 * 3);
  CHECK_EQ(guest::part_size(where, "t.part", "t", 1'000'000, 1'000), 1'000u);
  CHECK_EQ(guest::part_size(where, "t.part", "t", 1'000'000, 1'000'000'000), size);
  CHECK_EQ(guest::part_size(where, "t.part", "t", 1'000'000, 0), 1u);
  CHECK_EQ(guest::part_size(where, "t.part", std::string(9'000'000, 't'), 1'000'000, {}), 0u);
  CHECK_EQ(guest::whole_write(where, std::string(9'000'000, 't')).room(), 0u);
}

// -- the stream ------------------------------------------------------------------

SCENARIO("a stream is whole after meta, its bytes and the end that counts them") {
  auto reader = opened();
  CHECK(reader.take(data_event("ab")) == std::string{"ab"});
  CHECK(reader.take(R"( {"data":"Y2Rl", "type" : "data"} )") == std::string{"cde"});
  CHECK(!reader.complete());
  CHECK(reader.take(R"({"type":"end","bytesSent":5})").has_value());
  CHECK(reader.complete());
  CHECK_EQ(reader.meta()->size, 5u);
  CHECK_EQ(reader.meta()->length, 5u);
}

SCENARIO("an empty file is a stream without data") {
  auto reader = opened(R"({"type":"meta","sizeBytes":0,"offset":0,"length":0})");
  CHECK(reader.take(R"({"type":"end","bytesSent":0})").has_value());
  CHECK(reader.complete());
}

SCENARIO("rows that may not come where they come are the peer's fault") {
  CHECK(failed_with<guest::protocol_failure>(opened().take(meta_5)));
  CHECK(failed_with<guest::protocol_failure>(guest::file_stream_reader{{}, {}}.take(data_event("a"))));
  CHECK(failed_with<guest::protocol_failure>(guest::file_stream_reader{{}, {}}.take(R"({"type":"end","bytesSent":0})")));
  CHECK(failed_with<guest::protocol_failure>(opened().take(data_event("abcdef"))));
  CHECK(failed_with<guest::protocol_failure>(opened().take(R"({"type":"data","data":"!!!!"})")));
  CHECK(failed_with<guest::protocol_failure>(opened().take(R"({"type":"data","data":7})")));
  CHECK(failed_with<guest::protocol_failure>(opened().take(R"({"type":"other"})")));
  CHECK(failed_with<guest::protocol_failure>(opened().take(R"({"ok":false,"error":"unauthorized"})")));
  CHECK(failed_with<guest::protocol_failure>(opened().take("[]")));
  CHECK(failed_with<guest::protocol_failure>(opened().take("{")));
  auto ended = opened(R"({"type":"meta","sizeBytes":0,"offset":0,"length":0})");
  REQUIRE(ended.take(R"({"type":"end","bytesSent":0})").has_value());
  CHECK(failed_with<guest::protocol_failure>(ended.take(data_event("a"))));
  CHECK(failed_with<guest::protocol_failure>(ended.take(R"({"type":"end","bytesSent":0})")));
}

SCENARIO("a row of data may have more members, and its base64 may be escaped") {
  CHECK_EQ(opened().take(R"({"type":"data","data":"YWI=","encoding":"base64"})").value(), "ab");
  CHECK_EQ(opened().take(R"({"type":"data","data":"\/\/\/\/"})").value(), "\xff\xff\xff");
  CHECK_EQ(opened().take(R"({"type":"data","data":"YW","data":"Jj"})").value(), "&"); // as the parser reads it everywhere
}

SCENARIO("an end that counts other bytes than came is refused, and one that counts too few is a file that shrank") {
  auto wrong = opened();
  REQUIRE(wrong.take(data_event("abcde")).has_value());
  CHECK(failed_with<guest::protocol_failure>(wrong.take(R"({"type":"end","bytesSent":4})")));
  auto none = opened();
  CHECK(failed_with<guest::protocol_failure>(none.take(R"({"type":"end"})")));
  auto shrank = opened();
  REQUIRE(shrank.take(data_event("abc")).has_value());
  CHECK(failed_with<guest::lost>(shrank.take(R"({"type":"end","bytesSent":3})")));
  CHECK(!shrank.complete());
}

SCENARIO("meta must be three counts that agree with what was asked for") {
  auto meta = [](auto size, auto offset, auto length) {
    return json{{"type", "meta"}, {"sizeBytes", size}, {"offset", offset}, {"length", length}}.dump();
  };
  CHECK(takes_meta(meta(10, 2, 3), 2, 3));
  CHECK(takes_meta(meta(10, 2, 8), 2, 300));
  CHECK(takes_meta(meta(10, 2, 8), 2));
  CHECK(takes_meta(meta(10.0, 0, 1e1)));
  CHECK(takes_meta(meta(10, 10, 0), 400, 5));
  CHECK(!takes_meta(meta(10, 0, 11)));
  CHECK(!takes_meta(meta(10, 0, 9)));
  CHECK(!takes_meta(meta(10, 0, 8), 2));
  CHECK(!takes_meta(meta(10, 2, 2), 2, 3));
  CHECK(!takes_meta(meta(-1, 0, 0)));
  CHECK(!takes_meta(meta(1.5, 0, 1)));
  CHECK(!takes_meta(meta("10", 0, 10)));
  CHECK(!takes_meta(meta(9007199254740993.0, 0, 9007199254740993.0)));
  CHECK(!takes_meta(R"({"type":"meta"})"));
}

SCENARIO("what a guest refuses keeps its meaning") {
  auto first = [](const char* text) { return guest::file_stream_reader{{}, {}}.take(text); };
  CHECK(failed_with<guest::unauthorized>(first(R"({"ok":false,"error":"unauthorized"})")));
  CHECK(failed_with<guest::retiring>(first(R"({"ok":false,"error":"agent_retiring"})")));
  const auto error = first(R"({"type":"error","error":"ENOENT: no such file"})");
  REQUIRE(failed_with<guest::refused>(error));
  CHECK_EQ(std::get<guest::refused>(error.error()).code, "ENOENT");
  // Not the gate's word: it comes from within.
  CHECK(failed_with<guest::refused>(first(R"({"type":"error","error":"unauthorized"})")));
  CHECK(failed_with<guest::refused>(opened().take(R"({"type":"error","error":"EIO"})")));
}

SCENARIO("the reply to a part must confirm its bytes, and the last one the size of all") {
  auto ok = [](json more) {
    auto x = json{{"ok", true}};
    x.update(more);
    return x;
  };
  CHECK(guest::read_part_reply(ok({{"bytesWritten", 3}, {"sizeBytes", 9}}), 3, 9).has_value());
  CHECK(guest::read_part_reply(ok(json::object()), 3, 9).has_value());
  CHECK(guest::read_part_reply(ok({{"sizeBytes", 7}}), 3, std::nullopt).has_value());
  CHECK(failed_with<guest::protocol_failure>(guest::read_part_reply(ok({{"sizeBytes", 8}}), 3, 9)));
  CHECK(failed_with<guest::protocol_failure>(guest::read_part_reply(ok({{"bytesWritten", 2}}), 3, std::nullopt)));
  CHECK(failed_with<guest::refused>(guest::read_part_reply({{"ok", false}, {"error", "write_part_in_flight"}}, 3, 9)));
}
