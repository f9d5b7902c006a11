#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace paddock::k8s {

/// The content of `file`; an unreadable, empty or larger one is refused with a text that begins with its name.
[[nodiscard]] tl::expected<std::string, std::string> small_file(const std::filesystem::path& file, std::size_t most);

/// Without white space at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text);

} // namespace paddock::k8s
