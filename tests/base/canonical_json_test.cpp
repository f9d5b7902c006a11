#define CAF_SUITE canonical_json

#include "base/base64.hpp"
#include "base/canonical_json.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "base/utf8.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <regex>

using namespace paddock;

namespace {

std::string of(const char* text) {
  return canonical_json(nlohmann::json::parse(text));
}

} // namespace

SCENARIO("members are sorted in UTF-16 order with array-index keys first") {
  CHECK_EQ(of(R"({"b":1,"a":{"d":null,"c":[2,1]}})"), R"({"a":{"c":[2,1],"d":null},"b":1})");
  CHECK_EQ(of(R"({"a":1,"10":2,"9":3,"01":4,"4294967295":5,"4294967294":6})"),
           R"({"9":3,"10":2,"4294967294":6,"01":4,"4294967295":5,"a":1})");
  // U+FF5E sorts before U+1F600 by code point and after it by UTF-16 code unit.
  CHECK_EQ(of("{\"\xef\xbd\x9e\":1,\"\xf0\x9f\x98\x80\":2}"), "{\"\xf0\x9f\x98\x80\":2,\"\xef\xbd\x9e\":1}");
}

SCENARIO("numbers take the shortest form that reads back") {
  CHECK_EQ(of("[-0, -0.0, 1.0, 100, 1e21, 1e20, 0.1, 1e-7, 0.000001, 123456789012345680000, 5e-324, -1.5]"),
           "[0,0,1,100,1e+21,100000000000000000000,0.1,1e-7,0.000001,123456789012345680000,5e-324,-1.5]");
}

SCENARIO("only quotes, backslashes and control characters are escaped") {
  CHECK_EQ(of(R"("\u0001\b\t\n\f\r\"\\\/é\u2028")"), "\"\\u0001\\b\\t\\n\\f\\r\\\"\\\\/é\xe2\x80\xa8\"");
}

SCENARIO("UTF-8 is judged and mended as the WHATWG decoder does") {
  CHECK(is_utf8("caf\xc3\xa9"));
  CHECK(!is_utf8("\xed\xa0\x80"));
  CHECK(!is_utf8("\xc0\xaf"));
  CHECK_EQ(to_utf8_with_replacement("a\xf0\x9f\x98z"), "a\xef\xbf\xbdz");
  CHECK_EQ(to_utf8_with_replacement("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

SCENARIO("base64 comes back as it went, and tolerates missing padding and the URL alphabet") {
  for (auto text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"})
    CHECK_EQ(from_base64(to_base64(text)), std::optional<std::string>{text});
  CHECK_EQ(to_base64("fo"), "Zm8=");
  CHECK_EQ(from_base64("Zm8"), std::optional<std::string>{"fo"});
  CHECK_EQ(from_base64("-_8="), std::optional<std::string>{"\xfb\xff"});
  CHECK_EQ(from_base64("a"), std::optional<std::string>{});
  CHECK_EQ(from_base64("Zm 8="), std::optional<std::string>{});
}

SCENARIO("instants are written in UTC") {
  const time_source::wall_clock::time_point at{std::chrono::milliseconds{1767225630007}};
  CHECK_EQ(rfc3339_millis(at), "2026-01-01T00:00:30.007Z");
  CHECK_EQ(rfc3339_seconds(at), "2026-01-01T00:00:30Z");
}

SCENARIO("a new UUID is of version 4") {
  const std::regex form{"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"};
  const auto one = new_uuid();
  CHECK(std::regex_match(one, form));
  CHECK_NE(one, new_uuid());
  CHECK_EQ(new_name_suffix(5).size(), 5u);
}
