#pragma once

#include <string>

namespace paddock {

/// A random UUID, version 4, lower case, from the kernel's generator.
[[nodiscard]] std::string new_uuid();

/// A key or token that nobody guesses: 256 random bits from the kernel's generator as lower-case hex.
[[nodiscard]] std::string new_key();

/// `n` characters of the alphabet that the API server uses for `generateName`, from the kernel's generator.
[[nodiscard]] std::string new_name_suffix(std::size_t n);

} // namespace paddock
