#pragma once

#include "messages/types.hpp"

#include <nlohmann/json.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace paddock::cli {

enum class format { table, json, name };

/// Columns as wide as their widest cell, two spaces apart; the last one is not padded.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows);

// What goes to stdout. `json` is one document a call, `name` one id a line, `table` is for people.

[[nodiscard]] nlohmann::json to_json(const workspace_view& x);
[[nodiscard]] nlohmann::json identity_json(const workspace_view& x);
[[nodiscard]] nlohmann::json to_json(const policy_view& x);
[[nodiscard]] nlohmann::json to_json(const node_info& x);
[[nodiscard]] nlohmann::json to_json(const workspace_event& x);

void print(std::ostream& out, format how, const workspace_view& x);
void print_opened(std::ostream& out, format how, const opened_view& x);
void print_identity(std::ostream& out, format how, const workspace_view& x);
/// One event a line; `json` one object a line.
void print_event(std::ostream& out, format how, const workspace_event& x);
/// All at once: `json` one list.
void print_events(std::ostream& out, format how, const std::vector<workspace_event>& all);
void print_policy(std::ostream& out, format how, const policy_view& x);
void print_nodes(std::ostream& out, format how, const std::string& place, const node_info& x);

/// `paddock: REASON: text`, or with `json` an object of `reason`, `message` and `details`; one line on stderr.
void print_problem(std::ostream& err, format how, const problem& x);

} // namespace paddock::cli
