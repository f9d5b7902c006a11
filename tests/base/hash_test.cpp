#define CAF_SUITE hash

#include "base/hash.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <openssl/evp.h>

#include <random>
#include <vector>

using namespace paddock;

namespace {

std::string reference_sha256(const std::vector<std::uint8_t>& bytes) {
  std::array<std::uint8_t, 32> out{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, EVP_sha256(), nullptr);
  return to_hex(out);
}

} // namespace

SCENARIO("SHA-256 gives the published digests") {
  CHECK_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

SCENARIO("SHA-256 agrees with OpenSSL at every length around a block") {
  const auto seed = std::random_device{}();
  MESSAGE("seed " << seed);
  std::mt19937 random{seed};
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<std::uint8_t> bytes(size);
    for (auto& x : bytes)
      x = static_cast<std::uint8_t>(random());
    REQUIRE_EQ(to_hex(sha256(bytes)), reference_sha256(bytes));
  }
}

// [C 215] the name hash of the controllers
SCENARIO("the name hash is FNV-1a of 32 bits in eight hex digits") {
  CHECK_EQ(fnv1a_hex("abc"), "1a47e90b");
  CHECK_EQ(fnv1a_hex(""), "811c9dc5");
}
