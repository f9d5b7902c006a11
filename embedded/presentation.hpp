#pragma once

#include "embedded/representation.hpp"
#include "embedded/store.hpp"
#include "embedded/watch_form.hpp"

#include <optional>
#include <span>
#include <string>

namespace paddock::embedded {

/// What a list says of itself.
struct list_position {
  std::uint64_t version = 0;
  std::string next = {};                     // the token of the next page; empty: this is the last one
  std::optional<std::size_t> remaining = {}; // objects after this page, where that is known
};

/// Writes objects and lists in the form that a client asked for.
class presentation {
public:
  presentation(const resource_kind& kind, representation how, store::instant now) : kind_(kind), how_(std::move(how)), now_(now) {
  }

  [[nodiscard]] std::string content_type() const;
  /// The body for one object, of which `text` is the JSON: the usual form costs nothing.
  [[nodiscard]] std::string object(const std::string& text) const;
  [[nodiscard]] std::string list(std::span<const object_ptr> items, const list_position& at) const;

  /// An event's object. Of the tables of a watch only the first has columns.
  [[nodiscard]] std::string event(const std::string& text, bool first) const;

private:
  [[nodiscard]] json whole(const std::string& text) const;
  [[nodiscard]] nlohmann::ordered_json row(const std::string& text) const;
  [[nodiscard]] std::string plain_list(std::span<const object_ptr> items, const nlohmann::ordered_json& metadata) const;
  [[nodiscard]] std::string written(const nlohmann::ordered_json& value) const;

  const resource_kind& kind_;
  representation how_;
  store::instant now_;
};

/// The same of a watch's events.
[[nodiscard]] watch_form watch_form_of(const resource_kind& kind, const representation& how);

} // namespace paddock::embedded
