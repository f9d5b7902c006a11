#define CAF_SUITE frame

#include "guest/frame.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <ctime>
#include <random>
#include <vector>

using namespace paddock::guest;

namespace {

using fault = frame_reader::malformed::fault;

std::optional<fault> fault_of(std::string_view bytes) {
  auto reader = frame_reader{};
  reader.push(bytes);
  auto step = reader.next(1000);
  auto* bad = std::get_if<frame_reader::malformed>(&step);
  return bad != nullptr ? std::optional{bad->why} : std::nullopt;
}

std::string payload_of(frame_reader& reader) {
  auto step = reader.next(1'000'000'000);
  auto* got = std::get_if<frame_reader::frame>(&step);
  return got != nullptr ? got->payload : "(no frame)";
}

double cpu_seconds() {
  auto now = timespec{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double seconds_to_read(std::size_t size) {
  auto piece = std::string(1024, 'x');
  auto begin = cpu_seconds();
  auto reader = frame_reader{};
  reader.push(frame_header(static_cast<std::uint32_t>(size)));
  for (auto sent = std::size_t{0}; sent < size; sent += piece.size()) {
    reader.push(piece);
    if (sent + piece.size() < size && !std::holds_alternative<frame_reader::need_more>(reader.next(size)))
      return 1e9;
  }
  return payload_of(reader).size() == size ? cpu_seconds() - begin : 1e9;
}

} // namespace

SCENARIO("a header is eight lower-case digits of the byte count and a newline") {
  CHECK_EQ(frame_header(0), "00000000\n");
  CHECK_EQ(frame_header(0xffffffff), "ffffffff\n");
  CHECK_EQ(to_frame(R"({"op":"healthz"})"), "00000010\n{\"op\":\"healthz\"}");
  CHECK_EQ(to_frame("caf\xc3\xa9"), "00000005\ncaf\xc3\xa9");
}

// [G 4] upper-case digits
SCENARIO("upper-case digits are read, lower-case ones are written") {
  auto reader = frame_reader{};
  reader.push("0000000A\n0123456789");
  CHECK_EQ(payload_of(reader), "0123456789");
  CHECK_EQ(to_frame("0123456789").substr(0, 9), "0000000a\n");
}

SCENARIO("a header is judged on its ninth byte") {
  CHECK(!fault_of("0000\n000"));
  CHECK(fault_of("00000\n000") == fault::early_newline);
  CHECK(fault_of("0000zz10\n") == fault::not_hex);
  CHECK(fault_of("000000100") == fault::no_newline);
  CHECK(fault_of("00000010 ") == fault::no_newline);
  CHECK(!fault_of("00000010\n"));
}

SCENARIO("frames come out whole however the bytes are cut") {
  const auto seed = std::random_device{}();
  auto random = std::mt19937{seed};
  auto sizes = std::uniform_int_distribution<std::size_t>{0, 200'000};
  auto frames = std::vector<std::string>{};
  auto bytes = std::string{};
  for (auto i = 0; i < 30; ++i) {
    auto payload = std::string(i % 3 == 0 ? sizes(random) : sizes(random) % 20, '\0');
    for (auto& x : payload)
      x = static_cast<char>(random());
    bytes += to_frame(payload);
    frames.push_back(std::move(payload));
  }
  auto reader = frame_reader{};
  auto got = std::vector<std::string>{};
  for (auto at = std::size_t{0}; at < bytes.size();) {
    auto n = std::min(bytes.size() - at, sizes(random) % (random() % 2 == 0 ? 12 : 70'000) + 1);
    reader.push(std::string_view{bytes}.substr(at, n));
    at += n;
    for (;;) {
      auto step = reader.next(1'000'000);
      auto* whole = std::get_if<frame_reader::frame>(&step);
      if (whole == nullptr)
        break;
      got.push_back(std::move(whole->payload));
    }
  }
  if (got != frames)
    FAIL("seed " << seed);
  CHECK_EQ(reader.buffered(), 0u);
  CHECK(reader.at_boundary());
}

SCENARIO("a frame over the ceiling stops the reader until the ceiling is raised") {
  auto reader = frame_reader{};
  reader.push("00000002\n{}0000000b\n");
  CHECK_EQ(payload_of(reader), "{}");
  auto step = reader.next(10);
  REQUIRE(std::holds_alternative<frame_reader::too_large>(step));
  CHECK_EQ(std::get<frame_reader::too_large>(step).announced, 11u);
  reader.push("hello world");
  CHECK(std::holds_alternative<frame_reader::too_large>(reader.next(10)));
  auto raised = reader.next(11);
  REQUIRE(std::holds_alternative<frame_reader::frame>(raised));
  CHECK_EQ(std::get<frame_reader::frame>(raised).payload, "hello world");
}

SCENARIO("payloads that nobody wants are dropped as they arrive") {
  auto reader = frame_reader{};
  reader.skip_payloads();
  reader.push("00100000\n");
  CHECK(std::holds_alternative<frame_reader::need_more>(reader.next(0x100000)));
  for (auto i = 0; i < 16; ++i) {
    reader.push(std::string(65536, 'x'));
    CHECK_EQ(reader.buffered(), 0u);
  }
  CHECK(std::holds_alternative<frame_reader::skipped>(reader.next(0x100000)));
  reader.push("00000000\n00000003\nabcnonsense!");
  CHECK(std::holds_alternative<frame_reader::skipped>(reader.next(10)));
  CHECK(std::holds_alternative<frame_reader::skipped>(reader.next(10)));
  CHECK(std::holds_alternative<frame_reader::malformed>(reader.next(10)));
}

// [G 14] a large frame in small pieces
SCENARIO("reading takes time in proportion to the bytes") {
  GIVEN("frames of 8 and 64 MiB, in pieces of 1 KiB") {
    seconds_to_read(std::size_t{8} << 20); // warms up
    auto small = seconds_to_read(std::size_t{8} << 20);
    auto large = seconds_to_read(std::size_t{64} << 20);
    THEN("eight times the size is far from sixty-four times the time") {
      MESSAGE(small << " s and " << large << " s");
      CHECK_LT(large, 30 * small);
    }
  }
}

SCENARIO("a large payload that has begun is judged, counted and dropped as any other") {
  const auto size = std::size_t{200'000};
  const auto half = std::string(size / 2, 'x');
  const auto head = frame_header(static_cast<std::uint32_t>(size));
  auto reader = frame_reader{};
  reader.push(head + half);
  CHECK(std::holds_alternative<frame_reader::need_more>(reader.next(size)));
  CHECK_EQ(reader.buffered(), head.size() + half.size());
  CHECK(!reader.at_boundary());
  // A ceiling that has come down refuses it, one that has gone up goes on with it.
  CHECK(std::holds_alternative<frame_reader::too_large>(reader.next(size - 1)));
  CHECK(std::holds_alternative<frame_reader::need_more>(reader.next(size)));
  reader.push(half + "00000001\ny");
  CHECK_EQ(payload_of(reader), half + half);
  CHECK_EQ(payload_of(reader), "y");
  CHECK(reader.at_boundary());
  for (const auto once : {false, true}) {
    auto dropping = frame_reader{};
    dropping.push(head + half);
    CHECK(std::holds_alternative<frame_reader::need_more>(dropping.next(size)));
    if (once)
      dropping.skip_next();
    else
      dropping.skip_payloads();
    CHECK(std::holds_alternative<frame_reader::need_more>(dropping.next(once ? 1 : size)));
    CHECK_EQ(dropping.buffered(), 0u);
    dropping.push(half + "00000001\ny");
    auto step = dropping.next(size);
    auto* gone = std::get_if<frame_reader::skipped>(&step);
    CHECK(gone != nullptr && gone->size == size);
    if (once)
      CHECK_EQ(payload_of(dropping), "y");
  }
}
