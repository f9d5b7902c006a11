#pragma once

#include "audit/sources.hpp"
#include "egress/errors.hpp"

#include <tl/expected.hpp>

#include <optional>

namespace paddock::audit {

/// Why a file holds no configuration: it cannot be read, or what is wrong with it and where.
struct configuration_refused {
  egress::manifest_place place;
  std::string problem;                     // of a file that cannot be read
  std::optional<egress::egress_error> why; // of a configuration
};
[[nodiscard]] std::string to_string(const configuration_refused& x);

/// Reads `config.egress`: the one document of the file, or the member `egress` of it. Its list of hosts is parsed, too.
[[nodiscard]] tl::expected<egress::egress_config, configuration_refused> read_configuration(const source& from);

} // namespace paddock::audit
