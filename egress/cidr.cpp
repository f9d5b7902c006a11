#include "egress/cidr.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace paddock::egress {

namespace {

/// A run of 1 to `longest` digits, and nothing else, that is no more than `most`.
std::optional<unsigned> number(std::string_view text, std::size_t longest, int base, unsigned most) {
  auto got = 0u;
  if (text.empty() || text.size() > longest)
    return std::nullopt;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), got, base);
  if (ec != std::errc{} || end != text.data() + text.size() || got > most)
    return std::nullopt;
  return got;
}

std::optional<std::uint32_t> read_v4(std::string_view text) {
  auto got = std::uint32_t{0};
  for (auto i = 0; i < 4; ++i) {
    const auto dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos)
      return std::nullopt;
    const auto octet = number(text.substr(0, dot), 3, 10, 255);
    if (!octet)
      return std::nullopt;
    got = got << 8 | *octet;
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return got;
}

using groups = std::vector<std::uint16_t>;

/// Groups between colons, the last of which may be an IPv4 address that counts as two; nothing for an empty group.
std::optional<groups> read_groups(std::string_view text, bool may_end_in_v4) {
  auto got = groups{};
  while (!text.empty()) {
    const auto colon = std::min(text.find(':'), text.size());
    const auto word = text.substr(0, colon);
    if (const auto group = number(word, 4, 16, 0xffff)) {
      got.push_back(static_cast<std::uint16_t>(*group));
    } else if (const auto tail = colon == text.size() && may_end_in_v4 ? read_v4(word) : std::nullopt) {
      got.push_back(static_cast<std::uint16_t>(*tail >> 16));
      got.push_back(static_cast<std::uint16_t>(*tail));
    } else {
      return std::nullopt;
    }
    if (colon + 1 == text.size())
      return std::nullopt; // a colon at the end
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return got;
}

struct address {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

std::optional<address> read_v6(std::string_view text) {
  const auto gap = text.find("::");
  auto all = std::array<std::uint16_t, 8>{};
  const auto front = read_groups(text.substr(0, gap), gap == std::string_view::npos);
  if (!front || front->size() > all.size() || (gap == std::string_view::npos && front->size() != all.size()))
    return std::nullopt;
  std::copy(front->begin(), front->end(), all.begin());
  if (gap != std::string_view::npos) {
    const auto back = read_groups(text.substr(gap + 2), true);
    if (!back || front->size() + back->size() >= all.size()) // the gap is one group at least
      return std::nullopt;
    std::copy_backward(back->begin(), back->end(), all.end());
  }
  auto got = address{};
  for (auto i = std::size_t{0}; i < 4; ++i) {
    got.high = got.high << 16 | all[i];
    got.low = got.low << 16 | all[i + 4];
  }
  return got;
}

/// The first `bits` bits set, of 64.
constexpr std::uint64_t prefix(unsigned bits) {
  return bits == 0 ? 0 : ~std::uint64_t{0} << (64 - std::min(bits, 64u));
}

constexpr address masked(address x, unsigned bits) {
  return {x.high & prefix(bits), x.low & prefix(bits > 64 ? bits - 64 : 0)};
}

/// Within `::ffff:0:0/96`, or within `::/96` and not one of the two addresses there that IPv6 uses itself.
bool is_mapped(const cidr& x) {
  if (x.of != cidr::family::v6 || x.bits < 96 || x.high != 0)
    return false;
  const auto upper = x.low >> 32;
  return upper == 0xffff || (upper == 0 && !(x.bits == 128 && x.low <= 1));
}

} // namespace

bool cidr::contains(const cidr& x) const {
  if (of != x.of || bits > x.bits)
    return false;
  const auto at = masked({x.high, x.low}, bits);
  return at.high == high && at.low == low;
}

std::optional<written_cidr> read_cidr(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return std::nullopt;
  const auto host = text.substr(0, slash);
  const auto six = host.find(':') != std::string_view::npos;
  const auto length = number(text.substr(slash + 1), 3, 10, six ? 128 : 32);
  auto at = std::optional<address>{};
  if (six)
    at = read_v6(host);
  else if (const auto four = read_v4(host))
    at = address{std::uint64_t{*four} << 32, 0};
  if (!length || !at)
    return std::nullopt;
  const auto base = masked(*at, *length);
  auto got = written_cidr{{six ? cidr::family::v6 : cidr::family::v4, base.high, base.low, *length}};
  got.host_bits = base.high != at->high || base.low != at->low;
  got.mapped = is_mapped(got.block);
  return got;
}

std::optional<cidr> unambiguous_cidr(std::string_view text) {
  const auto got = read_cidr(text);
  return got && !got->mapped ? std::optional{got->block} : std::nullopt;
}

holes::holes(std::vector<cidr> all) : all_(std::move(all)) {
  std::sort(all_.begin(), all_.end());
  // What contains a block stands before it, and so does whatever else that contains.
  auto kept = all_.begin();
  for (auto& x : all_)
    if (kept == all_.begin() || !std::prev(kept)->contains(x))
      *kept++ = x;
  all_.erase(kept, all_.end());
}

bool holes::swallow(const cidr& x) const {
  const auto after = std::upper_bound(all_.begin(), all_.end(), x);
  return after != all_.begin() && std::prev(after)->contains(x);
}

std::size_t holes::within(const cidr& x) const {
  const auto first = std::lower_bound(all_.begin(), all_.end(), x);
  const auto last = std::partition_point(first, all_.end(), [&](const cidr& y) { return x.contains(y); });
  return static_cast<std::size_t>(last - first);
}

std::optional<address_block> address_block::make(const cidr& whole, std::vector<cidr> except) {
  if (!std::all_of(except.begin(), except.end(), [&](const cidr& x) { return whole.contains(x) && x.bits > whole.bits; }))
    return std::nullopt;
  return address_block{whole, std::move(except)};
}

bool address_block::contains(const address_block& x) const {
  if (!whole_.contains(x.whole_) || except_.swallow(x.whole_))
    return false;
  auto covered = std::size_t{0};
  for (const auto& hole : x.except_.all())
    covered += except_.within(hole);
  return covered == except_.within(x.whole_);
}

} // namespace paddock::egress
