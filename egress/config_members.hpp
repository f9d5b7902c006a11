#pragma once

#include "egress/errors.hpp"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace paddock::egress {

// How the readers of the configuration look at JSON. A path is one below `config.egress`.

/// `member` of the object at `path`, which is empty for `config.egress` itself.
[[nodiscard]] std::string below(std::string_view path, std::string_view member);

/// Refuses what is no object and what has a member that is not among `known`, by its path.
[[nodiscard]] result<void> check_members(const nlohmann::json& object, std::string_view path,
                                         std::initializer_list<std::string_view> known);

/// The member, or nullptr where it is missing. A null is a value here: nobody writes one and means nothing by it.
[[nodiscard]] const nlohmann::json* configured(const nlohmann::json& object, const char* name);

/// A value as text: a string as it is, `undefined` for a missing one, else its JSON.
[[nodiscard]] std::string shown(const nlohmann::json* value);

[[nodiscard]] tl::unexpected<egress_error> illegal(std::string field, std::string problem);

} // namespace paddock::egress
