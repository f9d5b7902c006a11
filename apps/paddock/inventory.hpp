#pragma once

#include "apps/paddock/print.hpp"
#include "base/time.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace paddock::cli {

/// How long before `now` this RFC 3339 time in UTC was, for people: `90s`, `5m`, `3h`, `12d`. `-` for what is no such time.
[[nodiscard]] std::string age_of(const std::string& at, time_source::wall_clock::time_point now);

/// What `ls` prints. `node` is the address of the node that was asked; it stands beside the workspaces whose session it holds.
void print_inventory(std::ostream& out, format how, const std::vector<workspace_view>& all, const std::string& node,
                     time_source::wall_clock::time_point now);

} // namespace paddock::cli
