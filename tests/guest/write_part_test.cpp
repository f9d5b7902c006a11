#define CAF_SUITE write_part

#include "guest/write_part.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::guest;
using nlohmann::json;

namespace {

std::string refusal_of(const json& part, bool has_content = true) {
  auto got = read_data_part(part, has_content);
  return got ? "(none)" : got.error();
}

} // namespace

SCENARIO("a part is an object, and null is none") {
  for (const auto& whole : {json::object(), json{{"part", nullptr}}}) {
    auto got = part_of(whole);
    REQUIRE(got.has_value());
    CHECK(*got == nullptr);
  }
  for (const auto& bad : {json::array(), json("x"), json(0), json(false)}) {
    auto body = json::object();
    body["part"] = bad;
    auto got = part_of(body);
    REQUIRE(!got.has_value());
    CHECK_EQ(got.error(), "write_part_invalid_shape");
  }
  auto body = json{{"part", json::object()}};
  auto got = part_of(body);
  REQUIRE(got.has_value());
  CHECK(*got == &body["part"]);
}

SCENARIO("content is asked for before the offset, and the offset before the target") {
  CHECK_EQ(refusal_of({{"offset", -1}, {"final", true}}, false), "missing_path_or_content");
  CHECK_EQ(refusal_of({{"offset", -1}, {"final", true}}), "write_part_invalid_offset: -1");
  CHECK_EQ(refusal_of({{"offset", 1}, {"final", true}}), "write_part_missing_rename_target");
  CHECK_EQ(refusal_of({{"offset", 1}, {"final", true}, {"renameTo", ""}}), "write_part_missing_rename_target");
  CHECK_EQ(refusal_of({{"offset", 1}, {"final", true}, {"renameTo", 7}}), "write_part_missing_rename_target");
}

SCENARIO("an offset is a number and nothing else") {
  CHECK_EQ(refusal_of({{"offset", "5"}}), "write_part_invalid_offset: \"5\"");
  CHECK_EQ(refusal_of({{"offset", nullptr}}), "write_part_invalid_offset: null");
  CHECK_EQ(refusal_of({{"offset", 1.5}}), "write_part_invalid_offset: 1.5");
  CHECK_EQ(refusal_of({{"offset", 9'007'199'254'740'992}}), "write_part_invalid_offset: 9007199254740992");
  auto in_any_notation = read_data_part(json::parse(R"({"offset":1e3})"), true);
  REQUIRE(in_any_notation.has_value());
  CHECK_EQ(in_any_notation->offset, 1000u);
  auto stated_nowhere = read_data_part(json::object(), true);
  REQUIRE(stated_nowhere.has_value());
  CHECK_EQ(stated_nowhere->offset, 0u);
}

SCENARIO("only what is literally true is final or a discard") {
  auto got = read_data_part({{"final", 1}, {"renameTo", "f"}}, true);
  REQUIRE(got.has_value());
  CHECK(!got->rename_to);
  auto last = read_data_part({{"final", true}, {"renameTo", "f"}}, true);
  REQUIRE(last.has_value());
  CHECK_EQ(last->rename_to.value_or(""), "f");
  CHECK(is_discard({{"discard", true}}));
  CHECK(!is_discard({{"discard", "true"}}));
  CHECK(!is_discard({{"discard", 1}}));
  CHECK(!is_discard(json::object()));
}

SCENARIO("a temporary has one or more bytes between its ends, a newline too") {
  CHECK(is_temporary_name(".namzu-write-x.part"));
  CHECK(is_temporary_name(".namzu-write-\n.part"));
  CHECK(is_temporary_name(".namzu-write-a\nb.part"));
  CHECK(is_temporary_name(".namzu-write-.part.part"));
  CHECK(is_temporary_name(".namzu-write-\xff.part"));
  CHECK(!is_temporary_name(".namzu-write-.part"));
  CHECK(!is_temporary_name(".namzu-write-part"));
  CHECK(!is_temporary_name(".namzu-write-x.part\n"));
  CHECK(!is_temporary_name("a.namzu-write-x.part"));
  CHECK(!is_temporary_name(".namzu-write-x.parts"));
  CHECK(!is_temporary_name("notes.txt"));
  CHECK(!is_temporary_name(""));
}

SCENARIO("a temporary of our own is one, however long its target's name is") {
  const auto uuid = std::string{"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311"};
  CHECK_EQ(temporary_name("f.txt", uuid), ".namzu-write-f.txt." + uuid + ".part");
  auto longest = temporary_name(std::string(255, 'n'), uuid);
  CHECK_EQ(longest.size(), 255u);
  CHECK(is_temporary_name(longest));
  CHECK(longest.ends_with(uuid + ".part"));
}

SCENARIO("what does not fit is told in numbers") {
  CHECK_EQ(offset_mismatch(std::nullopt, 7), "write_part_offset_mismatch: temp file is absent, part starts at offset 7");
  CHECK_EQ(offset_mismatch(3, 7), "write_part_offset_mismatch: temp file is 3 bytes, part starts at offset 7");
  CHECK_EQ(short_write(4, 5, 4), "write_short_write: wrote 4 of 5 bytes, temp file is 4 bytes");
  CHECK_EQ(short_part(4, 5, 6, 10), "write_part_short_write: wrote 4 of 5 bytes at offset 6, temp file is 10 bytes");
}
