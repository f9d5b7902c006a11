#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace paddock {

using sha256_digest = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4). Ours, because the guest agent links nothing but libc; a test holds it against OpenSSL's.
[[nodiscard]] sha256_digest sha256(std::span<const std::uint8_t> bytes);
[[nodiscard]] sha256_digest sha256(std::string_view text);

/// Lower-case hex.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);

/// FNV-1a, 32 bit, as 8 lower-case hex digits: the name hash of the sandbox controllers ([C] 4.4).
[[nodiscard]] std::string fnv1a_hex(std::string_view text);

} // namespace paddock
