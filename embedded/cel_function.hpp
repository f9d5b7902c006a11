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

/// What evaluating may still cost. One for each step, and more for what works through long texts and lists.
class budget {
public:
  explicit budget(std::int64_t steps) : left_(steps) {
  }
  /// False: it is used up, and stays so.
  bool spend(std::size_t steps) {
    left_ -= static_cast<std::int64_t>(std::min<std::size_t>(steps, INT32_MAX));
    return left_ >= 0;
  }
  [[nodiscard]] bool used_up() const {
    return left_ < 0;
  }

private:
  std::int64_t left_;
};

/// One overload of a function or operator: what it takes, what it gives, and how.
struct overload {
  std::string name;
  bool member = false; // the first argument stands before the dot
  std::vector<type> takes;
  type gives;
  evaluated (*run)(std::span<const value> arguments) = nullptr;
};

/// The overloads of `name`, called as a member or not; none: there is no such function in the subset.
[[nodiscard]] std::span<const overload> overloads_of(std::string_view name, bool member);

/// The overload that takes these values; null: none does.
[[nodiscard]] const overload* choose(std::string_view name, bool member, std::span<const value> arguments);

/// Whether the API server knows a function of that name that is outside the subset.
[[nodiscard]] bool known_elsewhere(std::string_view name);

/// Whether `matches` can read the text.
[[nodiscard]] bool is_pattern(const std::string& text);

// -- the parts of the table -----------------------------------------------------------------------------------------

/// Adds overloads, each from `string.split(string) list(string)` or `size(list(dyn)) int`.
using add_overload = void (*)(std::vector<overload>& to, std::string_view signature, evaluated (*run)(std::span<const value>));
void add_operators(std::vector<overload>& to, add_overload add);
void add_conversions(std::vector<overload>& to, add_overload add);
void add_texts(std::vector<overload>& to, add_overload add);
void add_lists(std::vector<overload>& to, add_overload add);

} // namespace paddock::embedded::cel
