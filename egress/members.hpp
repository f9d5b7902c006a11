#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::egress {

/// A member of an object as the API server keeps it: a null one is absent ([E] H6), and so is every one of what is no object.
[[nodiscard]] const nlohmann::json* member(const nlohmann::json& object, std::string_view name);

/// The text of a string; nothing for a null pointer and for every other value.
[[nodiscard]] std::optional<std::string_view> text_of(const nlohmann::json* x);

/// A member that is looked for, and where to: null where it is absent.
struct wanted_member {
  std::string_view name;
  const nlohmann::json*& to;
};

/// Finds members in one pass over the object. Answers the first other one that is not null: what nobody here understands may mean
/// anything. Finds nothing in what is no object.
[[nodiscard]] const std::string* find_members(const nlohmann::json& object, std::initializer_list<wanted_member> wanted);

/// The first member that is neither null nor one of `known`.
[[nodiscard]] std::optional<std::string> unknown_member(const nlohmann::json& object, std::initializer_list<std::string_view> known);

/// A part of a policy that is not understood: what, and where below the part that was read (`.ports[1].endPort`).
struct unreadable {
  std::string path;
  std::string detail;
};

[[nodiscard]] tl::unexpected<unreadable> not_read(std::string path, std::string detail);

[[nodiscard]] std::string at_index(std::string_view list, std::size_t index); // `.to[3]`

/// `x` as text for people, cut off where it is long.
[[nodiscard]] std::string excerpt(const nlohmann::json& x);

} // namespace paddock::egress
