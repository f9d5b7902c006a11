#pragma once

#include "embedded/selector.hpp"

namespace paddock::embedded {

/// A LabelSelector object (`matchLabels`, `matchExpressions`) as a selector; null and `{}` choose everything. The failure
/// is a text for people.
[[nodiscard]] tl::expected<label_selector, std::string> read_label_selector(const json& selector);

} // namespace paddock::embedded
