#pragma once

#include "apps/paddock/print.hpp"

namespace paddock::cli {

// What the guest verbs print, in the three formats of print.hpp.

[[nodiscard]] nlohmann::json to_json(const session_view& x);
[[nodiscard]] nlohmann::json to_json(const call_end& x);
void print_sessions(std::ostream& out, format how, const std::vector<session_view>& all);
void print_session(std::ostream& out, format how, const session_view& x);
void print_quiesce(std::ostream& out, format how, const quiesce_answer& x);
void print_flush(std::ostream& out, format how, const flush_answer& x);

} // namespace paddock::cli
