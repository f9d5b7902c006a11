#pragma once

#include <string>

namespace paddock {

/// A random UUID, version 4, lower case, from the kernel's generator.
[[nodiscard]] std::string new_uuid();

/// `n` characters of the alphabet that the API server uses for `generateName`, from the kernel's generator.
[[nodiscard]] std::string new_name_suffix(std::size_t n);

} // namespace paddock
