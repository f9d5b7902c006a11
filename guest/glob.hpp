#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::guest {

/// The characters of `text`, which is what patterns count; U+FFFD for every ill-formed subsequence.
[[nodiscard]] std::u32string characters_of(std::string_view text);

/// One segment of a pattern, compiled ([G] 22.2): characters, `*`, `?`, classes, and the groups `@() !() +() *() ?()`. A
/// backslash takes the meaning from the character after it. What has no partner (a bracket, a group) is ordinary text.
///
/// - A class of one plain character is that character. Named classes are those of the POSIX locale: ASCII only, so that they
///   mean the same in every image. Ranges go by code point.
/// - `!(a)` matches any text that `a` does not match as a whole, as in ksh and bash; what follows it is matched on its own.
/// - A leading dot is matched by a dot that the pattern spells, reached without a wildcard before it, and by no wildcard;
///   with `include_hidden`, it is a character as any other.
/// - The time of a match is bounded by the length of the pattern times the square of that of the name.
class glob_segment {
public:
  /// Groups within groups, at most. Deeper patterns are refused.
  static constexpr std::size_t max_nesting = 64;

  /// `pattern` has no slash and no braces that mean something. A failure is a text for people.
  [[nodiscard]] static tl::expected<glob_segment, std::string> compile(std::string_view pattern);

  /// Whether this is `**`, which stands for any number of segments; it matches no name by itself.
  [[nodiscard]] bool crosses_directories() const noexcept {
    return crosses_;
  }

  /// The only name that matches; absent when the segment is not literal.
  [[nodiscard]] const std::optional<std::string>& literal() const noexcept {
    return literal_;
  }

  [[nodiscard]] bool matches(std::u32string_view name, bool include_hidden) const;

  // -- the compiled form ---------------------------------------------------------------------------------------------------

  struct character_set {
    bool negated = false;
    std::vector<std::pair<char32_t, char32_t>> ranges;

    [[nodiscard]] bool holds(char32_t x) const noexcept;
  };

  enum class op : std::uint8_t {
    one,     // takes `character`
    any,     // takes one character
    set,     // takes one of set `index`
    star,    // takes any number of characters
    split,   // goes on at `to` and at `other`
    jump,    // goes on at `to`
    without, // takes any text that the code from here to the `accept` before `to` does not match, then goes on at `to`
    accept,  // ends
  };

  struct instruction {
    op what = op::accept;
    char32_t character = 0;
    std::uint32_t index = 0; // of the set; of a `without`, its number
    std::uint32_t to = 0;
    std::uint32_t other = 0;
  };

  struct code {
    std::vector<instruction> steps;
    std::vector<character_set> sets;
    std::uint32_t withouts = 0;
    bool grouped = false; // there are steps other than those that take characters
  };

private:
  code code_;
  bool crosses_ = false;
  std::optional<std::string> literal_;
};

} // namespace paddock::guest
