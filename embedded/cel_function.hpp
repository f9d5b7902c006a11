#pragma once

#include "embedded/cel_type.hpp"
#include "embedded/cel_value.hpp"

#include <tl/expected.hpp>

#include <span>

namespace paddock::embedded::cel {

/// A value, or why there is none.
using evaluated = tl::expected<value, std::string>;

template <class T>
[[nodiscard]] evaluated give(T x) {
  return value{value::content{std::move(x)}};
}

[[nodiscard]] inline tl::unexpected<std::string> no_overload() {
  return tl::unexpected{std::string{"no such overload"}};
}

/// The failure of what ends because its budget is used up.
[[nodiscard]] inline tl::unexpected<std::string> cost_exceeded() {
  return tl::unexpected{std::string{"operation cancelled: actual cost limit exceeded"}};
}

/// What an overload is called with, and what its work is paid from. A call is paid for before it runs, by the sizes of what it
/// takes; what makes more than it takes, or goes into the parts of a value, pays for that itself.
class arguments {
public:
  arguments(std::span<const value> all, budget& cost) : all_(all), cost_(cost) {
  }
  [[nodiscard]] const value& operator[](std::size_t i) const {
    return all_[i];
  }
  [[nodiscard]] std::size_t size() const {
    return all_.size();
  }
  [[nodiscard]] auto begin() const {
    return all_.begin();
  }
  [[nodiscard]] auto end() const {
    return all_.end();
  }
  [[nodiscard]] budget& cost() const {
    return cost_;
  }

private:
  std::span<const value> all_;
  budget& cost_;
};

/// One overload of a function or operator: what it takes, what it gives, and how.
struct overload {
  std::string name;
  bool member = false; // the first argument stands before the dot
  std::vector<type> takes;
  type gives;
  evaluated (*run)(arguments) = nullptr;
};

/// The overloads of `name`, called as a member or not; none: there is no such function in the subset.
[[nodiscard]] std::span<const overload> overloads_of(std::string_view name, bool member);

/// The overload that takes these values; null: none does.
[[nodiscard]] const overload* choose(std::string_view name, bool member, std::span<const value> given);

/// Whether the API server knows a function of that name that is outside the subset.
[[nodiscard]] bool known_elsewhere(std::string_view name);

// -- regular expressions --------------------------------------------------------------------------------------------

/// Longer ones are refused.
inline constexpr std::size_t max_pattern_bytes = 4 * 1024;

/// Why `matches` cannot read a text.
struct pattern_failure {
  std::string text;
  bool too_large = false; // it may be a regular expression all the same
};

/// How large the program of a regular expression is: what it costs to make, and for each character of a text at worst to run.
[[nodiscard]] tl::expected<std::size_t, pattern_failure> pattern_size(const std::string& text);

// -- the parts of the table -----------------------------------------------------------------------------------------

/// Adds overloads, each from `string.split(string) list(string)` or `size(list(dyn)) int`.
using add_overload = void (*)(std::vector<overload>& to, std::string_view signature, evaluated (*run)(arguments));
void add_operators(std::vector<overload>& to, add_overload add);
void add_conversions(std::vector<overload>& to, add_overload add);
void add_texts(std::vector<overload>& to, add_overload add);
void add_lists(std::vector<overload>& to, add_overload add);

} // namespace paddock::embedded::cel
