#pragma once

#include "egress/errors.hpp"
#include "guest/pin.hpp"
#include "messages/interfaces.hpp"
#include "workspace/ports.hpp"
#include "workspace/task.hpp"

namespace paddock {

// Domain values to messages and back. No decision is made here.

[[nodiscard]] problem to_problem(const workspace::failure& x);
/// Of a check, and of a call that wrote nothing: who wrote before it failed says so.
[[nodiscard]] problem to_problem(const egress::egress_error& x);
/// A command whose cancellation is not confirmed says why its pod was not retired ([W] 6.5); any other problem is as it was.
[[nodiscard]] problem kept(problem x, std::string_view reason);
/// So, of a task sandbox: it was given back because of it (`no` null), or that failed too.
[[nodiscard]] problem retired(problem x, const problem* no);
/// A failure of a check that an acquire makes, as its caller is told ([C] 3.10).
[[nodiscard]] problem of_acquire(problem x);
/// What the session holds, under the id.
[[nodiscard]] workspace_view to_view(const workspace::id& which, const workspace::session& x);
/// What the cluster says, with what a session on this node adds (`held.state` empty: no session).
[[nodiscard]] workspace_view to_view(const workspace::summary& seen, const workspace_view& held);
[[nodiscard]] released_view to_view(const workspace::released_tasks& x);
[[nodiscard]] capacity_view to_view(const workspace::task_capacity& x);
[[nodiscard]] workspace_event to_event(const workspace::event& x);
[[nodiscard]] workspace::task_request to_request(std::string name, task_spec x);
[[nodiscard]] workspace::guest_job to_job(call_spec x);
[[nodiscard]] call_end to_end(const workspace::job_end& x);
[[nodiscard]] call_note to_note(const workspace::job_note& x);
[[nodiscard]] workspace::question to_question(guest_question x);
[[nodiscard]] guest_answer to_answer(const workspace::reply& x);
[[nodiscard]] tl::expected<guest::pin, guest::pin_incomplete> to_pin(const pin_spec& x);

} // namespace paddock
