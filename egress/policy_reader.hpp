#pragma once

#include "egress/policy_object.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>

namespace paddock::egress {

/// Takes the policies of a namespace one after another, so that no more than a page of them is in memory.
class policy_reader {
public:
  policy_reader() = default;
  policy_reader(const policy_reader&) = delete;
  policy_reader& operator=(const policy_reader&) = delete;
  virtual ~policy_reader() = default;

  /// The list of this kind begins, or begins anew: what was taken of it no longer counts.
  virtual void begin(resource_kind kind) = 0;
  virtual void take(resource_kind kind, const nlohmann::json& item) = 0;
};

/// How reports call an item of a list.
[[nodiscard]] std::string name_of_item(const nlohmann::json& item, std::size_t index);

} // namespace paddock::egress
