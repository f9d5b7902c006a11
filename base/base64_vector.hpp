#pragma once

#include <cstddef>

namespace paddock {

/// How far a vector step came: bytes read and bytes written. The rest is for the plain code.
struct base64_progress {
  std::size_t read = 0;
  std::size_t written = 0;
};

// With AVX2, chosen when the program runs; elsewhere they do nothing and say so.

/// Whole groups of `n` bytes at `from`, into room for their text.
base64_progress encode_base64_vector(char* to, const char* from, std::size_t n);
/// Whole groups of the standard alphabet, up to the first other character; `to` as for `decode_base64`.
base64_progress decode_base64_vector(char* to, const char* from, std::size_t n);

} // namespace paddock
