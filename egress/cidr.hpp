#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::egress {

/// A block of addresses of one family ([E] 3.7). Two blocks either have nothing in common or one contains the other.
struct cidr {
  enum class family : std::uint8_t { v4, v6 };
  family of = family::v4;
  std::uint64_t high = 0; // the first 64 bits of the address; of IPv4 the upper half of them. No bit beyond `bits` is set.
  std::uint64_t low = 0;
  unsigned bits = 0;

  [[nodiscard]] bool contains(const cidr& x) const;
  [[nodiscard]] bool overlaps(const cidr& x) const {
    return contains(x) || x.contains(*this);
  }
  /// By family and first address; what contains another block comes before it.
  friend auto operator<=>(const cidr&, const cidr&) = default;
};

/// A block as it was written.
struct written_cidr {
  cidr block;
  bool host_bits = false; // the address has bits beyond the prefix; in `block` they are gone
  bool mapped = false;    // an IPv4-mapped or -compatible IPv6 block: data planes read it as IPv4. `::` and `::1` are not.
};

/// Reads `address/bits`. Nothing for any other text, an address without a prefix among them.
[[nodiscard]] std::optional<written_cidr> read_cidr(std::string_view text);

/// The block that `text` means to every data plane: host bits are masked, a mapped block is none ([E] H11).
[[nodiscard]] std::optional<cidr> unambiguous_cidr(std::string_view text);

/// Blocks of which none contains another: those within others are forgotten. So they are found by their address.
class holes {
public:
  holes() = default;
  explicit holes(std::vector<cidr> all);
  /// Whether one of them contains `x`.
  [[nodiscard]] bool swallow(const cidr& x) const;
  /// How many of them are within `x`.
  [[nodiscard]] std::size_t within(const cidr& x) const;
  [[nodiscard]] const std::vector<cidr>& all() const noexcept {
    return all_;
  }

private:
  std::vector<cidr> all_; // sorted
};

/// A block without the holes in it.
class address_block {
public:
  /// Nothing when a hole is the whole block, or not within it: no server stores that ([E] H15).
  [[nodiscard]] static std::optional<address_block> make(const cidr& whole, std::vector<cidr> except);

  /// Whether `x` is within it as [E] 3.9.1 proves it: each hole that `x` overlaps is within a single hole of `x`. Sound and not
  /// complete: two halves of a hole are not taken for it. Takes time by the number of `x`'s holes and the logarithm of its own.
  [[nodiscard]] bool contains(const address_block& x) const;

private:
  address_block(const cidr& whole, std::vector<cidr> except) : whole_(whole), except_(std::move(except)) {
  }
  cidr whole_;
  holes except_;
};

} // namespace paddock::egress
