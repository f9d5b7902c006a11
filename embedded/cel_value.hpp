#pragma once

#include "embedded/cel_budget.hpp"
#include "embedded/object.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::embedded::cel {

class value;

/// A text that its copies share.
class shared_text {
public:
  shared_text(std::string x) : held_(std::make_shared<const std::string>(std::move(x))) {
  }
  /// Not even the first one copies: `x` must outlive them all.
  static shared_text of(const std::string& x) {
    shared_text out;
    out.held_ = {std::shared_ptr<const void>{}, &x};
    return out;
  }
  [[nodiscard]] const std::string& get() const {
    return *held_;
  }
  friend bool operator==(const shared_text& a, const shared_text& b) {
    return a.get() == b.get();
  }

private:
  shared_text() = default;

  std::shared_ptr<const std::string> held_;
};

/// The bytes of a literal `b"..."`: not text.
struct bytes {
  shared_text data;
  friend bool operator==(const bytes&, const bytes&) = default;
};
/// What `type(x)` answers.
struct type_value {
  std::string name;
  friend bool operator==(const type_value&, const type_value&) = default;
};
using value_list = std::vector<value>;
using value_map = std::vector<std::pair<value, value>>; // in the order of the literal, each key once
struct optional_value {
  std::shared_ptr<const value> held; // null: none
};

/// A value while an expression is evaluated; a copy costs next to nothing. What is taken from JSON is not copied: the JSON must
/// outlive the value.
class value {
public:
  using list_ptr = std::shared_ptr<const value_list>;
  using map_ptr = std::shared_ptr<const value_map>;
  using content = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, shared_text, bytes, type_value, const json*,
                               list_ptr, map_ptr, optional_value>;

  value() = default;
  value(content x) : content_(std::move(x)) {
  }
  static value of(const json& x);
  static value of(value_list x);
  static value of(value_map x);
  static value some(value x);
  static value none();

  template <class T>
  [[nodiscard]] const T* as() const {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto* text = std::get_if<shared_text>(&content_);
      return text == nullptr ? nullptr : &text->get();
    } else {
      return std::get_if<T>(&content_);
    }
  }
  [[nodiscard]] bool is_null() const {
    return as<std::nullptr_t>() != nullptr;
  }
  [[nodiscard]] bool is_number() const {
    return as<std::int64_t>() != nullptr || as<std::uint64_t>() != nullptr || as<double>() != nullptr;
  }

  // -- lists and maps, wherever they come from ---------------------------------------------------------------------

  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_map() const;
  /// Of a list or map.
  [[nodiscard]] std::size_t size() const;
  /// @pre is_list() and `i < size()`
  [[nodiscard]] value at(std::size_t i) const;
  /// The member of a map; nothing when it has none. @pre is_map()
  [[nodiscard]] std::optional<value> find(const value& key, budget& cost) const;
  /// The keys of a map. @pre is_map()
  [[nodiscard]] value_list keys() const;

  /// `int`, `null_type`, `list` …: the name of its type.
  [[nodiscard]] std::string type_name() const;

private:
  content content_ = nullptr;
};

/// The entry of `all` with that key; the end when there is none, or `cost` is used up.
[[nodiscard]] value_map::const_iterator find_entry(const value_map& all, const value& key, budget& cost);

/// As CEL compares: numbers by what they are worth whatever their type, values of different types are different. Every part
/// that is looked at is paid from `cost`; once that is used up the answer means nothing.
[[nodiscard]] bool equal(const value& a, const value& b, budget& cost);

/// Less than 0, 0 or more; nothing when they cannot be ordered.
[[nodiscard]] std::optional<int> compare(const value& a, const value& b, budget& cost);

} // namespace paddock::embedded::cel
