#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

/// An object as it is sent, and where its managers stand in the text.
struct encoded_object {
  std::string text;
  std::size_t managed_at = 0;
};

/// `value`, which has no managers, as JSON with these (as JSON; empty: none) in their place.
[[nodiscard]] encoded_object encode_object(json value, std::string_view managed);

/// Takes `metadata.managedFields` out of an object; null: there are none.
json take_managed(json& object);

/// Those of an object, as its text has them.
[[nodiscard]] managed_fields managers_of(const stored_object& object);

/// The managers after a write that makes `after` of `before`, which is kept as `stored` (null: it is created). `sent`: those that the
/// client sent along, null where it sent none.
[[nodiscard]] managed_fields managers_after(const resource_kind& kind, const stored_object* stored, const json& before, const json& after,
                                            const json& sent, const write_options& how);

} // namespace paddock::embedded
