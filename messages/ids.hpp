#pragma once

// The type ids of every message. They are numbers on the wire: append only, never reorder, never reuse (a test holds them
// against the recorded numbers). Plug-ins register theirs from `first_plugin_type_id` on, each in a range of its own.

#include "messages/types.hpp"

#include <caf/all.hpp>

namespace paddock {

inline constexpr caf::type_id_t first_plugin_type_id = caf::first_custom_type_id + 1000;

/// The ids of actor handles (messages/interfaces.hpp) are a block of their own, so that both can grow.
inline constexpr caf::type_id_t first_handle_type_id = caf::first_custom_type_id + 500;

} // namespace paddock

CAF_BEGIN_TYPE_ID_BLOCK(paddock, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(paddock, (paddock::verdict))
CAF_ADD_TYPE_ID(paddock, (paddock::problem))
CAF_ADD_TYPE_ID(paddock, (paddock::bytes))
CAF_ADD_TYPE_ID(paddock, (paddock::node_info))
CAF_ADD_TYPE_ID(paddock, (paddock::workspace_view))
CAF_ADD_TYPE_ID(paddock, (std::vector<paddock::workspace_view>))
CAF_ADD_TYPE_ID(paddock, (paddock::open_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::opened_view))
CAF_ADD_TYPE_ID(paddock, (paddock::suspend_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::run_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::read_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::write_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::call_end))
CAF_ADD_TYPE_ID(paddock, (paddock::landed))
CAF_ADD_TYPE_ID(paddock, (std::map<std::string, std::string>))

CAF_ADD_ATOM(paddock, paddock::atom, info)
CAF_ADD_ATOM(paddock, paddock::atom, open)
CAF_ADD_ATOM(paddock, paddock::atom, suspend)
CAF_ADD_ATOM(paddock, paddock::atom, resume)
CAF_ADD_ATOM(paddock, paddock::atom, remove)
CAF_ADD_ATOM(paddock, paddock::atom, view)
CAF_ADD_ATOM(paddock, paddock::atom, get)
CAF_ADD_ATOM(paddock, paddock::atom, list)
CAF_ADD_ATOM(paddock, paddock::atom, run)
CAF_ADD_ATOM(paddock, paddock::atom, read)
CAF_ADD_ATOM(paddock, paddock::atom, write)
CAF_ADD_ATOM(paddock, paddock::atom, grant)
CAF_ADD_ATOM(paddock, paddock::atom, input)
CAF_ADD_ATOM(paddock, paddock::atom, cancel)
CAF_ADD_ATOM(paddock, paddock::atom, output)
CAF_ADD_ATOM(paddock, paddock::atom, wanted)
CAF_ADD_ATOM(paddock, paddock::atom, ended)
CAF_ADD_ATOM(paddock, paddock::atom, failed)
CAF_ADD_ATOM(paddock, paddock::atom, landed)
CAF_ADD_ATOM(paddock, paddock::atom, heard)
CAF_ADD_ATOM(paddock, paddock::atom, explained)
CAF_ADD_ATOM(paddock, paddock::atom, count)
CAF_ADD_ATOM(paddock, paddock::atom, restart)
CAF_ADD_ATOM(paddock, paddock::atom, stop)

CAF_ADD_TYPE_ID(paddock, (paddock::attach_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::shell_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::forward_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::walk_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::call_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::call_note))
CAF_ADD_TYPE_ID(paddock, (paddock::sessions_question))
CAF_ADD_TYPE_ID(paddock, (paddock::session_start_question))
CAF_ADD_TYPE_ID(paddock, (paddock::session_kill_question))
CAF_ADD_TYPE_ID(paddock, (paddock::quiesce_question))
CAF_ADD_TYPE_ID(paddock, (paddock::flush_question))
CAF_ADD_TYPE_ID(paddock, (paddock::cancel_question))
CAF_ADD_TYPE_ID(paddock, (paddock::guest_question))
CAF_ADD_TYPE_ID(paddock, (paddock::done_answer))
CAF_ADD_TYPE_ID(paddock, (paddock::session_view))
CAF_ADD_TYPE_ID(paddock, (paddock::sessions_answer))
CAF_ADD_TYPE_ID(paddock, (paddock::stopped_view))
CAF_ADD_TYPE_ID(paddock, (paddock::quiesce_answer))
CAF_ADD_TYPE_ID(paddock, (paddock::flush_answer))
CAF_ADD_TYPE_ID(paddock, (paddock::guest_answer))
CAF_ADD_TYPE_ID(paddock, (paddock::pin_spec))

CAF_ADD_ATOM(paddock, paddock::atom, call)
CAF_ADD_ATOM(paddock, paddock::atom, ask)
CAF_ADD_ATOM(paddock, paddock::atom, pin)
CAF_ADD_ATOM(paddock, paddock::atom, noted)
CAF_ADD_ATOM(paddock, paddock::atom, resize)
CAF_ADD_ATOM(paddock, paddock::atom, signal)
CAF_ADD_ATOM(paddock, paddock::atom, leave)
CAF_ADD_ATOM(paddock, paddock::atom, identity)
CAF_ADD_ATOM(paddock, paddock::atom, watch)
CAF_ADD_ATOM(paddock, paddock::atom, shown)

CAF_ADD_TYPE_ID(paddock, (paddock::named_object_question))
CAF_ADD_TYPE_ID(paddock, (paddock::union_question))
CAF_ADD_TYPE_ID(paddock, (paddock::ingress_question))
CAF_ADD_TYPE_ID(paddock, (paddock::policy_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::policy_event))

CAF_ADD_ATOM(paddock, paddock::atom, prove)
CAF_ADD_ATOM(paddock, paddock::atom, verify)
CAF_ADD_ATOM(paddock, paddock::atom, expired)
CAF_ADD_ATOM(paddock, paddock::atom, allow)
CAF_ADD_ATOM(paddock, paddock::atom, check)
CAF_ADD_ATOM(paddock, paddock::atom, moved)

CAF_ADD_TYPE_ID(paddock, (paddock::remove_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::reset_spec))

CAF_ADD_ATOM(paddock, paddock::atom, reset_epoch)
CAF_ADD_ATOM(paddock, paddock::atom, stamp)

CAF_ADD_TYPE_ID(paddock, (paddock::policy_request))
CAF_ADD_TYPE_ID(paddock, (paddock::policy_view))

CAF_ADD_ATOM(paddock, paddock::atom, policy)

CAF_ADD_TYPE_ID(paddock, (paddock::identity_view))
CAF_ADD_TYPE_ID(paddock, (paddock::workspace_event))
CAF_ADD_TYPE_ID(paddock, (std::vector<paddock::workspace_event>))

CAF_ADD_ATOM(paddock, paddock::atom, refused)
CAF_ADD_ATOM(paddock, paddock::atom, refresh)
CAF_ADD_ATOM(paddock, paddock::atom, events)
CAF_ADD_ATOM(paddock, paddock::atom, subscribe)

CAF_ADD_TYPE_ID(paddock, (paddock::task_spec))
CAF_ADD_TYPE_ID(paddock, (paddock::task_view))
CAF_ADD_TYPE_ID(paddock, (paddock::task_event))
CAF_ADD_TYPE_ID(paddock, (paddock::released_view))
CAF_ADD_TYPE_ID(paddock, (paddock::capacity_view))

CAF_ADD_ATOM(paddock, paddock::atom, acquire)
CAF_ADD_ATOM(paddock, paddock::atom, renew)
CAF_ADD_ATOM(paddock, paddock::atom, release)
CAF_ADD_ATOM(paddock, paddock::atom, capacity)

CAF_END_TYPE_ID_BLOCK(paddock)

CAF_ERROR_CODE_ENUM(paddock::verdict)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(paddock::landed)
