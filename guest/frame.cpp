#include "guest/frame.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace paddock::guest {

namespace {

constexpr std::size_t block_size = 64 * 1024;
constexpr std::size_t first_block_size = 512; // most requests are small
constexpr std::size_t large_payload = 32 * 1024;
// A payload gets all its room once this share of it has come: a peer that only announces much costs no more than a small
// multiple of what it sends.
constexpr std::size_t share_to_reserve = 8;

int hex_digit(char x) {
  if (x >= '0' && x <= '9')
    return x - '0';
  if (x >= 'a' && x <= 'f')
    return x - 'a' + 10;
  if (x >= 'A' && x <= 'F')
    return x - 'A' + 10;
  return -1;
}

using malformed = frame_reader::malformed;

std::variant<std::uint32_t, malformed> read_header(const std::array<char, frame_header_size>& header) {
  if (std::find(header.begin(), header.begin() + 8, '\n') != header.begin() + 8)
    return malformed{malformed::fault::early_newline};
  auto length = std::uint32_t{0};
  for (auto i = std::size_t{0}; i < 8; ++i) {
    auto digit = hex_digit(header[i]);
    if (digit < 0)
      return malformed{malformed::fault::not_hex};
    length = (length << 4) | static_cast<std::uint32_t>(digit);
  }
  if (header[8] != '\n')
    return malformed{malformed::fault::no_newline};
  return length;
}

} // namespace

std::string frame_header(std::uint32_t payload_bytes) {
  constexpr auto digits = std::string_view{"0123456789abcdef"};
  auto header = std::string(frame_header_size, '\n');
  for (auto i = std::size_t{0}; i < 8; ++i)
    header[i] = digits[(payload_bytes >> (28 - 4 * i)) & 0xf];
  return header;
}

std::string to_frame(std::string_view payload) {
  if (payload.size() > std::numeric_limits<std::uint32_t>::max())
    std::abort();
  auto result = std::string{};
  result.reserve(frame_header_size + payload.size());
  result += frame_header(static_cast<std::uint32_t>(payload.size()));
  result += payload;
  return result;
}

void frame_reader::push(std::string_view bytes) {
  if (left_to_skip_ > 0) {
    auto n = std::min<std::size_t>(left_to_skip_, bytes.size());
    left_to_skip_ -= static_cast<std::uint32_t>(n);
    bytes.remove_prefix(n);
  }
  if (begun_ && payload_.size() < length_) {
    auto n = std::min<std::size_t>(length_ - payload_.size(), bytes.size());
    if (payload_.capacity() < length_ && (payload_.size() + n) * share_to_reserve >= length_)
      payload_.reserve(length_);
    payload_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
  }
  size_ += bytes.size();
  while (!bytes.empty()) {
    // Small pieces share a block, so that a peer cannot make a byte cost more than a byte.
    if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) {
      blocks_.emplace_back();
      blocks_.back().reserve(blocks_.size() == 1 ? std::clamp(bytes.size(), first_block_size, block_size) : block_size);
    }
    auto& block = blocks_.back();
    auto n = std::min(bytes.size(), block.capacity() - block.size());
    block.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
  }
}

frame_reader::step frame_reader::next(std::uint64_t ceiling) {
  if (skipping_ > 0) {
    if (left_to_skip_ > 0)
      return need_more{};
    auto size = skipping_;
    skipping_ = 0;
    return skipped{size};
  }
  if (begun_) {
    auto skip_it = std::exchange(skip_once_, false);
    if (length_ > ceiling && !skip_it)
      return too_large{length_};
    if (skip_ || skip_it) {
      begun_ = false;
      auto here = payload_.size();
      payload_ = {};
      return skip_payload(length_, here);
    }
    if (payload_.size() < length_)
      return need_more{};
    begun_ = false;
    return frame{std::exchange(payload_, {})};
  }
  if (size_ < frame_header_size)
    return need_more{};
  auto header = std::array<char, frame_header_size>{};
  for (auto i = std::size_t{0}, block = std::size_t{0}, at = front_; i < header.size(); ++i, ++at) {
    if (at == blocks_[block].size()) {
      ++block;
      at = 0;
    }
    header[i] = blocks_[block][at];
  }
  auto read = read_header(header);
  if (auto* fault = std::get_if<malformed>(&read))
    return *fault;
  auto length = std::get<std::uint32_t>(read);
  auto skip_it = std::exchange(skip_once_, false);
  if (length > ceiling && !skip_it)
    return too_large{length};
  if (skip_ || skip_it) {
    drop(frame_header_size);
    auto here = std::min<std::size_t>(length, size_);
    drop(here);
    return skip_payload(length, here);
  }
  if (size_ - frame_header_size < length) {
    if (length >= large_payload)
      begin_payload(length);
    return need_more{};
  }
  drop(frame_header_size);
  auto result = frame{};
  result.payload.reserve(length);
  take(&result.payload, length);
  return result;
}

// What follows goes straight to its place.
void frame_reader::begin_payload(std::uint32_t length) {
  drop(frame_header_size);
  begun_ = true;
  length_ = length;
  if (size_ * share_to_reserve >= length)
    payload_.reserve(length);
  take(&payload_, size_);
}

// `here` bytes of it have come and are gone.
frame_reader::step frame_reader::skip_payload(std::uint32_t length, std::size_t here) {
  left_to_skip_ = length - static_cast<std::uint32_t>(here);
  if (left_to_skip_ == 0)
    return skipped{length};
  skipping_ = length;
  return need_more{};
}

void frame_reader::clear() noexcept {
  blocks_.clear();
  front_ = 0;
  size_ = 0;
  begun_ = false;
  payload_ = {};
  length_ = 0;
  left_to_skip_ = 0;
  skipping_ = 0;
}

void frame_reader::take(std::string* to, std::size_t n) {
  size_ -= n;
  while (n > 0) {
    auto& block = blocks_.front();
    auto here = std::min(n, block.size() - front_);
    if (to != nullptr)
      to->append(block, front_, here);
    front_ += here;
    n -= here;
    if (front_ == block.size()) {
      blocks_.pop_front();
      front_ = 0;
    }
  }
}

void frame_reader::drop(std::size_t n) {
  take(nullptr, n);
}

} // namespace paddock::guest
