#define CAF_SUITE output_log

#include "guest/output_log.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <random>

using namespace paddock;
using guest::output_log;
using guest::stream;

namespace {

std::string text_of(const output_log::reading& x) {
  auto result = std::string{};
  for (const auto& each : x.pieces)
    result += each.bytes;
  return result;
}

// What a log must say, kept in the plainest way.
struct plain_log {
  std::string all;
  std::string streams; // one letter a byte
  std::size_t budget;

  void append(stream which, const std::string& bytes) {
    all += bytes;
    streams += std::string(bytes.size(), which == stream::out ? 'o' : 'e');
  }
  std::size_t start() const {
    return lost;
  }
  void evict() {
    lost = std::max(lost, all.size() > budget ? all.size() - budget : 0);
  }
  std::size_t lost = 0;
};

} // namespace

SCENARIO("what is over the budget is lost from the front") {
  GIVEN("a budget of 8 bytes") {
    auto log = output_log{8};
    WHEN("three chunks of 4 are appended") {
      CHECK_EQ(log.append(stream::out, "aaaa"), 0U);
      CHECK_EQ(log.append(stream::err, "bbbb"), 4U);
      CHECK_EQ(log.append(stream::out, "cccc"), 8U);
      THEN("the first is dropped, and the rest has its offsets and streams") {
        auto got = log.read(0);
        REQUIRE(got);
        CHECK_EQ(got->dropped, 4U);
        CHECK_EQ(got->from, 4U);
        CHECK_EQ(got->next, 12U);
        REQUIRE_EQ(got->pieces.size(), 2U);
        CHECK_EQ(got->pieces[0].offset, 4U);
        CHECK_EQ(got->pieces[0].next_offset(), 8U);
        CHECK(got->pieces[0].which == stream::err);
        CHECK(got->pieces[1].which == stream::out);
        CHECK_EQ(text_of(*got), "bbbbcccc");
        CHECK_EQ(log.dropped_bytes(), 4U);
      }
    }
  }
}

SCENARIO("a chunk larger than the budget loses its head") {
  auto log = output_log{4};
  log.append(stream::out, "0123456789");
  CHECK_EQ(log.start_offset(), 6U);
  CHECK_EQ(log.end_offset(), 10U);
  CHECK_EQ(log.dropped_bytes(), 6U);
  auto whole = log.read(0);
  REQUIRE(whole);
  CHECK_EQ(text_of(*whole), "6789");
  CHECK_EQ(whole->dropped, 6U);
  auto end = log.read(10);
  REQUIRE(end);
  CHECK(end->pieces.empty());
  CHECK_EQ(end->dropped, 0U);
  CHECK_EQ(end->from, 10U);
  CHECK(!log.read(11));
}

SCENARIO("a reading begins in the middle of a chunk") {
  auto log = output_log{100};
  log.append(stream::out, "abcdef");
  log.append(stream::err, "xyz");
  auto got = log.read(4);
  REQUIRE(got);
  CHECK_EQ(got->dropped, 0U);
  REQUIRE_EQ(got->pieces.size(), 2U);
  CHECK_EQ(got->pieces[0].bytes, "ef");
  CHECK_EQ(got->pieces[0].offset, 4U);
  CHECK_EQ(got->pieces[1].offset, 6U);
}

SCENARIO("discarding keeps the offsets and counts what was held as lost") {
  auto log = output_log{8};
  log.append(stream::out, "0123456789");
  log.discard();
  CHECK_EQ(log.start_offset(), 10U);
  CHECK_EQ(log.end_offset(), 10U);
  CHECK_EQ(log.dropped_bytes(), 10U);
  auto got = log.read(3);
  REQUIRE(got);
  CHECK(got->pieces.empty());
  CHECK_EQ(got->dropped, 7U);
  CHECK_EQ(log.append(stream::out, "ab"), 10U);
  CHECK_EQ(text_of(*log.read(0)), "ab");
}

SCENARIO("a piece is bounded and does not cut a UTF-8 sequence") {
  auto log = output_log{1'048'576};
  auto text = std::string{"x"};
  while (text.size() < 3 * output_log::piece_size)
    text += "\xe2\x82\xac"; // never a multiple of the piece
  log.append(stream::out, text);
  auto got = log.read(0);
  REQUIRE(got);
  CHECK_EQ(text_of(*got), text);
  for (const auto& each : got->pieces) {
    CHECK_LE(each.bytes.size(), output_log::piece_size);
    CHECK_NE(static_cast<unsigned char>(each.bytes.front()) & 0xc0U, 0x80U);
  }
  // Bytes that are no text are cut where the bound is.
  auto bytes = output_log{1'048'576};
  bytes.append(stream::out, std::string(2 * output_log::piece_size, '\x80'));
  CHECK_EQ(bytes.read(0)->pieces.size(), 2U);
}

SCENARIO("every history of a log reads as the plain one does") {
  for (auto seed = 1U; seed <= 300; ++seed) {
    auto random = std::mt19937{seed};
    auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
    auto budget = 1 + pick(seed % 3 == 0 ? 20'000 : 40);
    auto log = output_log{budget};
    auto plain = plain_log{{}, {}, budget};
    for (auto step = 0; step < 60; ++step) {
      if (pick(20) == 0) {
        log.discard();
        plain.lost = plain.all.size();
      } else {
        auto which = pick(2) == 0 ? stream::out : stream::err;
        auto bytes = std::string(pick(budget * 2), '\0');
        for (auto& x : bytes)
          x = static_cast<char>(random());
        CHECK_EQ(log.append(which, bytes), plain.all.size());
        plain.append(which, bytes);
        plain.evict();
      }
      auto from = pick(plain.all.size() + 1);
      auto got = log.read(from);
      REQUIRE(got);
      auto served = std::max(from, plain.start());
      auto ok = got->from == served && got->dropped == served - from && got->next == plain.all.size();
      auto at = served;
      for (const auto& each : got->pieces) {
        ok = ok && each.offset == at && !each.bytes.empty() && plain.all.compare(at, each.bytes.size(), each.bytes) == 0;
        ok = ok && plain.streams.substr(at, each.bytes.size()) == std::string(each.bytes.size(), each.which == stream::out ? 'o' : 'e');
        at = each.next_offset();
      }
      ok = ok && at == plain.all.size() && !log.read(plain.all.size() + 1) && log.dropped_bytes() == plain.start();
      if (!ok) {
        CHECK_EQ(seed, 0U); // the seed and the step that failed
        CHECK_EQ(step, -1);
        return;
      }
    }
  }
}
