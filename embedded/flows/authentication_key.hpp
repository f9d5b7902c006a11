#pragma once

#include "base/secret.hpp"

#include <tl/expected.hpp>

#include <filesystem>
#include <string>

namespace paddock::embedded {

/// The key that signs service accounts' tokens, kept in `folder` so that they outlive the server. Made at the first call;
/// the file is for its owner only. The failure names the file.
[[nodiscard]] tl::expected<secret, std::string> keep_signing_key(const std::filesystem::path& folder);

} // namespace paddock::embedded
