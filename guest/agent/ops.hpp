#pragma once

#include "guest/agent/channel.hpp"
#include "guest/agent/core.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace paddock::guest {

// One function per op of [G] 1.6 that is more than a reply from the core. Each has passed the gate, the pin, the fence
// and the quiesce gate ([G] 4). `body` is the request's, an empty object where there is none; null for a terminal.

using shared_core = std::shared_ptr<agent_core>;
using shared_channel = std::shared_ptr<channel>;
using shared_handler = std::shared_ptr<op_handler>;

// -- ops that own their connection: null when the op has answered and ended -------------------------------------------

[[nodiscard]] shared_handler start_execute(shared_core core, shared_channel to, const nlohmann::json& body);          // [G] 6.3
[[nodiscard]] shared_handler start_attach_execution(shared_core core, shared_channel to, const nlohmann::json& body); // [G] 6.6
[[nodiscard]] shared_handler start_read_file_stream(shared_core core, shared_channel to, const nlohmann::json& body); // [G] 7.3
[[nodiscard]] shared_handler start_terminal(shared_core core, shared_channel to, const nlohmann::json& body);         // [G] 8, 9.3
[[nodiscard]] shared_handler start_attach_session(shared_core core, shared_channel to, const nlohmann::json& body);   // [G] 9.4
[[nodiscard]] shared_handler start_tcp_connect(shared_core core, shared_channel to, const nlohmann::json& body);      // [G] 10

// -- ops with one reply, now or later -----------------------------------------------------------------------------------

void answer_reserve(shared_core core, shared_channel to, const nlohmann::json& body);        // [G] 6.2
void answer_cancel(shared_core core, shared_channel to, const nlohmann::json& body);         // [G] 6.5
void answer_start_detached(shared_core core, shared_channel to, const nlohmann::json& body); // [G] 9.2
void answer_list_sessions(shared_core core, shared_channel to);                              // [G] 9.5
void answer_kill_session(shared_core core, shared_channel to, const nlohmann::json& body);   // [G] 9.6
void answer_quiesce(shared_core core, shared_channel to, const nlohmann::json& body);        // [G] 12
void answer_flush(shared_core core, shared_channel to, const nlohmann::json& body);          // [G] 13

} // namespace paddock::guest
