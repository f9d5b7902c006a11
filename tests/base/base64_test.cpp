#define CAF_SUITE base64

#include "base/base64.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cstdint>
#include <random>

using namespace paddock;

namespace {

// Bit by bit, as RFC 4648 says it: what the quick code is held against.
std::string slow_base64(std::string_view bytes) {
  constexpr auto alphabet = std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
  auto out = std::string{};
  for (auto bit = std::size_t{0}; bit < bytes.size() * 8; bit += 6) {
    auto value = std::size_t{0};
    for (auto i = bit; i < bit + 6; ++i)
      value = value << 1 | (i / 8 < bytes.size() ? static_cast<std::uint8_t>(bytes[i / 8]) >> (7 - i % 8) & 1u : 0u);
    out += alphabet[value];
  }
  while (out.size() % 4 != 0)
    out += '=';
  return out;
}

std::string random_bytes(std::mt19937& random, std::size_t n) {
  auto out = std::string(n, '\0');
  for (auto& c : out)
    c = static_cast<char>(random());
  return out;
}

} // namespace

SCENARIO("bytes of every length become the text that RFC 4648 says, and come back") {
  auto random = std::mt19937{4648};
  for (auto n = std::size_t{0}; n < 400; ++n) {
    const auto bytes = random_bytes(random, n);
    const auto text = to_base64(bytes);
    REQUIRE_EQ(text, slow_base64(bytes));
    REQUIRE_EQ(text.size(), base64_size(n));
    REQUIRE(from_base64(text) == bytes);
    // Without the padding, and in place.
    REQUIRE(from_base64(std::string_view{text}.substr(0, text.find('='))) == bytes);
    auto buffer = "prefix" + text;
    const auto size = decode_base64(buffer.data(), std::string_view{buffer}.substr(6));
    REQUIRE(size.has_value());
    buffer.resize(*size);
    REQUIRE_EQ(buffer, bytes);
  }
}

SCENARIO("the URL-safe alphabet is read, also in the middle of a long text") {
  CHECK(from_base64("-_-_") == from_base64("+/+/"));
  auto random = std::mt19937{64};
  const auto bytes = random_bytes(random, 3000);
  auto text = to_base64(bytes);
  for (auto& c : text)
    c = c == '+' ? '-' : c == '/' ? '_' : c;
  CHECK(from_base64(text) == bytes);
}

SCENARIO("a character that is none is refused at every place of a text") {
  const auto good = std::string(131, 'A');
  REQUIRE(from_base64(good).has_value());
  auto accepted = 0;
  for (auto i = std::size_t{0}; i < good.size(); ++i)
    for (const auto bad : {'.', ' ', '\n', '=', '\0', '\x7f', '\x80', '\xff', '@', '[', '`', '{', ':', ','}) {
      auto text = good;
      text[i] = bad;
      // At the very end these are padding.
      if (bad == '=' && i + 2 >= good.size())
        continue;
      accepted += from_base64(text) ? 1 : 0;
    }
  CHECK_EQ(accepted, 0);
}

SCENARIO("a text that no bytes give is refused") {
  CHECK(!from_base64("A"));
  CHECK(!from_base64("AAAAA"));
  CHECK(!from_base64("A==="));
  CHECK(from_base64("") == "");
  CHECK(from_base64("AA") == std::string(1, '\0'));
}

SCENARIO("bytes that come in pieces give the text of the whole") {
  auto random = std::mt19937{3};
  for (auto turn = 0; turn < 200; ++turn) {
    const auto bytes = random_bytes(random, random() % 300);
    auto encoder = base64_encoder{};
    auto text = std::string{"> "};
    for (auto rest = std::string_view{bytes}; !rest.empty();) {
      const auto piece = rest.substr(0, random() % 7);
      encoder.add(text, piece);
      rest.remove_prefix(piece.size());
    }
    encoder.finish(text);
    REQUIRE_EQ(text, "> " + slow_base64(bytes));
  }
}
