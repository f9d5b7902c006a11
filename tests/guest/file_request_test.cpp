#define CAF_SUITE file_request

#include "guest/file_request.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::guest;
using nlohmann::json;

SCENARIO("a read is whole when it states neither offset nor length") {
  CHECK(read_range(json::object())->whole());
  CHECK(!read_range({{"offset", 0}})->whole());
  CHECK(!read_range({{"length", 0}})->whole());
}

SCENARIO("an offset or a length that is no non-negative safe integer is named, the offset first") {
  for (const auto& bad : {json(-1), json(1.5), json(nullptr), json("x"), json(9'007'199'254'740'992), json::array()}) {
    auto body = json{{"length", -1}};
    body["offset"] = bad;
    auto got = read_range(body);
    REQUIRE(!got.has_value());
    CHECK(got.error().starts_with("read_file_invalid_offset: "));
    body.erase("offset");
    body["length"] = bad;
    got = read_range(body);
    REQUIRE(!got.has_value());
    CHECK(got.error().starts_with("read_file_invalid_length: "));
  }
}

SCENARIO("a range ends where the file ends") {
  auto at = [](std::optional<std::uint64_t> offset, std::optional<std::uint64_t> length, std::uint64_t size) {
    auto got = clamp({offset, length}, size);
    return std::pair{got.offset, got.length};
  };
  using range = std::pair<std::uint64_t, std::uint64_t>;
  CHECK((at({}, {}, 6) == range{0, 6}));
  CHECK((at(2, {}, 6) == range{2, 4}));
  CHECK((at({}, 9, 6) == range{0, 6}));
  CHECK((at(5, 9, 6) == range{5, 1}));
  CHECK((at(6, {}, 6) == range{6, 0}));
  CHECK((at(100, 3, 6) == range{100, 0}));
  CHECK((at(2, 3, 6) == range{2, 3}));
}

SCENARIO("what a range asks for is judged as it is stated, and what it leaves out by the file") {
  CHECK(!range_refusal({0, 10}, 5, 10));
  CHECK(range_refusal({0, 11}, 5, 10)->starts_with("read_file_range_too_large: 11 bytes requested, limit 10 ("));
  CHECK(range_refusal({1, std::nullopt}, 12, 10)->starts_with("read_file_range_too_large: 11 bytes requested"));
  CHECK(!range_refusal({2, std::nullopt}, 12, 10));
  CHECK(!range_refusal({100, std::nullopt}, 12, 10));
}
