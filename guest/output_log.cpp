#include "guest/output_log.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace paddock::guest {

namespace {

constexpr std::size_t longest_run = (std::size_t{1} << 31) - 1;
constexpr std::size_t first_ring = 4096;

std::uint32_t run_of(stream which, std::size_t length) {
  return static_cast<std::uint32_t>(length << 1) | (which == stream::err ? 1U : 0U);
}

std::size_t length_of(std::uint32_t run) {
  return run >> 1;
}

stream stream_of(std::uint32_t run) {
  return (run & 1U) != 0 ? stream::err : stream::out;
}

bool continues(char x) {
  return (static_cast<unsigned char>(x) & 0xc0U) == 0x80U;
}

} // namespace

std::uint64_t output_log::append(stream which, std::string_view bytes) {
  auto at = end_;
  end_ += bytes.size();
  if (bytes.size() > budget_) {
    evict(held_);
    bytes.remove_prefix(bytes.size() - static_cast<std::size_t>(budget_));
  }
  if (bytes.empty())
    return at;
  if (held_ + bytes.size() > budget_)
    evict(held_ + bytes.size() - static_cast<std::size_t>(budget_));
  make_room(bytes.size());
  store(bytes);
  // A change of the stream, or a length that a run cannot tell, begins another.
  if (!runs_.empty() && stream_of(runs_.back()) == which && length_of(runs_.back()) + bytes.size() <= longest_run) {
    runs_.back() = run_of(which, length_of(runs_.back()) + bytes.size());
    return at;
  }
  for (auto left = bytes.size(); left > 0;) {
    auto now = std::min(left, longest_run);
    runs_.push_back(run_of(which, now));
    left -= now;
  }
  return at;
}

void output_log::evict(std::size_t n) {
  held_ -= n;
  first_ = held_ == 0 || ring_.empty() ? 0 : (first_ + n) % ring_.size();
  while (n > 0) {
    auto& run = runs_.front();
    auto now = std::min(n, length_of(run));
    n -= now;
    if (now == length_of(run))
      runs_.pop_front();
    else
      run = run_of(stream_of(run), length_of(run) - now);
  }
}

void output_log::make_room(std::size_t n) {
  if (held_ + n <= ring_.size())
    return;
  auto wanted = std::max({held_ + n, ring_.size() * 2, first_ring});
  auto larger = std::vector<char>(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, budget_)));
  auto to_end = std::min(held_, ring_.size() - first_);
  std::copy_n(ring_.data() + first_, to_end, larger.data());
  std::copy_n(ring_.data(), held_ - to_end, larger.data() + to_end);
  ring_ = std::move(larger);
  first_ = 0;
}

void output_log::store(std::string_view bytes) {
  auto at = (first_ + held_) % ring_.size();
  auto to_end = std::min(bytes.size(), ring_.size() - at);
  std::memcpy(ring_.data() + at, bytes.data(), to_end);
  std::memcpy(ring_.data(), bytes.data() + to_end, bytes.size() - to_end);
  held_ += bytes.size();
}

std::string output_log::copy(std::size_t at, std::size_t n) const {
  auto from = (first_ + at) % ring_.size();
  auto to_end = std::min(n, ring_.size() - from);
  auto result = std::string(ring_.data() + from, to_end);
  result.append(ring_.data(), n - to_end);
  return result;
}

std::optional<output_log::reading> output_log::read(std::uint64_t from, std::size_t most) const {
  if (from > end_)
    return std::nullopt;
  auto result = reading{};
  result.from = std::max(from, start_offset());
  result.dropped = result.from - from;
  result.next = end_;
  auto skip = static_cast<std::size_t>(result.from - start_offset());
  auto at = std::size_t{0};
  for (auto run : runs_) {
    if (at > skip && at - skip >= most)
      break;
    auto end = at + length_of(run);
    auto begin = std::max(at, skip);
    at = end;
    while (begin < end && begin - skip < most) {
      auto n = std::min(end - begin, piece_size);
      auto bytes = copy(begin, n);
      // The piece ends before a sequence that the next byte goes on with. Four bytes are the longest.
      if (begin + n < end && continues(ring_[(first_ + begin + n) % ring_.size()])) {
        auto lead = n - 1;
        while (lead > 0 && n - lead < 4 && continues(bytes[lead]))
          --lead;
        if (lead > 0 && !continues(bytes[lead])) {
          n = lead;
          bytes.resize(n);
        }
      }
      result.pieces.push_back({stream_of(run), start_offset() + begin, std::move(bytes)});
      begin += n;
    }
  }
  return result;
}

void output_log::discard() {
  held_ = 0;
  first_ = 0;
  ring_ = {};
  runs_ = {};
}

} // namespace paddock::guest
