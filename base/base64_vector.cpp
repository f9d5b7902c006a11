#include "base/base64_vector.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

// After W. Mula and D. Lemire, "Faster Base64 Encoding and Decoding Using AVX2 Instructions" (2018).

namespace paddock {

namespace {

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

__attribute__((target("avx2"))) __m256i twice(__m128i x) {
  return _mm256_broadcastsi128_si256(x);
}

__attribute__((target("avx2"))) base64_progress encode_avx2(char* to, const char* from, std::size_t n) {
  const auto spread = twice(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
  // What is added to a value to get its letter, by range: A-Z, a-z, 0-9 (ten entries), + and /.
  const auto letters = twice(_mm_setr_epi8(65, 71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 0, 0));
  auto done = base64_progress{};
  // 24 bytes a turn; the second half reads four bytes further.
  while (n - done.read >= 28) {
    const auto* at = from + done.read;
    const auto low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 12));
    const auto in = _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), spread);
    const auto even = _mm256_mulhi_epu16(_mm256_and_si256(in, _mm256_set1_epi32(0x0fc0fc00)), _mm256_set1_epi32(0x04000040));
    const auto odd = _mm256_mullo_epi16(_mm256_and_si256(in, _mm256_set1_epi32(0x003f03f0)), _mm256_set1_epi32(0x01000010));
    const auto values = _mm256_or_si256(even, odd);
    const auto past_upper = _mm256_cmpgt_epi8(values, _mm256_set1_epi8(25));
    const auto range = _mm256_sub_epi8(_mm256_subs_epu8(values, _mm256_set1_epi8(51)), past_upper);
    const auto text = _mm256_add_epi8(values, _mm256_shuffle_epi8(letters, range));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + done.written), text);
    done.read += 24;
    done.written += 32;
  }
  return done;
}

__attribute__((target("avx2"))) base64_progress decode_avx2(char* to, const char* from, std::size_t n) {
  const auto low_classes =
    twice(_mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1a, 0x1b, 0x1b, 0x1b, 0x1a));
  const auto high_classes =
    twice(_mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10));
  const auto rolls = twice(_mm_setr_epi8(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0));
  const auto packed = twice(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
  const auto slash = _mm256_set1_epi8(0x2f);
  auto done = base64_progress{};
  // 32 characters a turn; it stores 32 bytes of which 24 count, never beyond what was read.
  while (n - done.read >= 32) {
    const auto in = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done.read));
    const auto high = _mm256_and_si256(_mm256_srli_epi32(in, 4), slash);
    const auto low = _mm256_and_si256(in, slash);
    if (_mm256_testz_si256(_mm256_shuffle_epi8(low_classes, low), _mm256_shuffle_epi8(high_classes, high)) == 0)
      break;
    const auto roll = _mm256_shuffle_epi8(rolls, _mm256_add_epi8(_mm256_cmpeq_epi8(in, slash), high));
    const auto values = _mm256_add_epi8(in, roll);
    const auto pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
    const auto groups = _mm256_shuffle_epi8(_mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000)), packed);
    const auto bytes = _mm256_permutevar8x32_epi32(groups, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + done.written), bytes);
    done.read += 32;
    done.written += 24;
  }
  return done;
}

} // namespace

base64_progress encode_base64_vector(char* to, const char* from, std::size_t n) {
  return has_avx2() ? encode_avx2(to, from, n) : base64_progress{};
}

base64_progress decode_base64_vector(char* to, const char* from, std::size_t n) {
  return has_avx2() ? decode_avx2(to, from, n) : base64_progress{};
}

} // namespace paddock

#else

namespace paddock {

base64_progress encode_base64_vector(char*, const char*, std::size_t) {
  return {};
}

base64_progress decode_base64_vector(char*, const char*, std::size_t) {
  return {};
}

} // namespace paddock

#endif
