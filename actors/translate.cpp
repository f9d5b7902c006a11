#include "actors/translate.hpp"

#include "workspace/acquire.hpp"

#include <nlohmann/json.hpp>

namespace paddock {

namespace {

verdict to_verdict(workspace::kind x) {
  switch (x) {
    case workspace::kind::failed: return verdict::failed;
    case workspace::kind::usage: return verdict::usage;
    case workspace::kind::refused: return verdict::refused;
    case workspace::kind::unknown: return verdict::unknown;
    case workspace::kind::not_found: return verdict::not_found;
    case workspace::kind::overtaken: return verdict::overtaken;
    case workspace::kind::unreachable: return verdict::unreachable;
  }
  return verdict::failed;
}

} // namespace

problem to_problem(const workspace::failure& x) {
  return {to_verdict(workspace::kind_of(x)), workspace::reason_of(x), workspace::to_string(x),
          workspace::details_of(x).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

namespace {

problem with_retirement(problem x, nlohmann::json what) {
  auto details = nlohmann::json::parse(x.details);
  details["retirement"] = std::move(what);
  x.details = details.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return x;
}

} // namespace

problem kept(problem x, std::string_view reason) {
  if (x.reason != "RemoteCancellationUnknown" && x.reason != "WorkspaceGuestGone")
    return x;
  return with_retirement(std::move(x), {{"accepted", false}, {"reason", std::string{reason}}});
}

problem retired(problem x, const problem* no) {
  if (no == nullptr)
    return with_retirement(std::move(x), {{"accepted", true}});
  return with_retirement(std::move(x), {{"accepted", false}, {"error", {{"reason", no->reason}, {"message", no->message}}}});
}

problem of_acquire(problem x) {
  const auto details = nlohmann::json::parse(x.details, nullptr, false);
  const auto status = details.is_object() ? details.find("status") : details.end();
  const auto answered = details.is_object() && status != details.end() && status->is_number_unsigned();
  const auto why = workspace::acquire_reason_for(x.reason, answered ? std::optional{status->get<unsigned>()} : std::nullopt);
  if (!why)
    return x;
  return to_problem(workspace::acquire_failed{*why, {std::move(x.reason), std::move(x.message), std::move(x.details)}});
}

workspace::task_request to_request(std::string name, task_spec x) {
  workspace::task_request out;
  out.name = std::move(name);
  out.template_name = std::move(x.template_name);
  if (!x.pool.empty())
    out.pool = std::move(x.pool);
  return out;
}

problem to_problem(const egress::egress_error& x) {
  return to_problem(workspace::of_egress(x));
}

workspace_view to_view(const workspace::id& which, const workspace::session& x) {
  workspace_view out;
  out.workspace = which.text();
  out.sandbox_name = which.sandbox_name();
  out.template_name = x.template_name;
  out.state = workspace::to_string(x.at);
  out.origin = workspace::to_string(x.from);
  out.holder_epoch = x.epoch;
  if (x.sandbox)
    out.sandbox_uid = x.sandbox->text();
  if (x.at == workspace::state::running && x.pod) {
    out.pod_uid = x.pod->text();
    if (x.boot)
      out.guest_boot_id = x.boot->text();
  }
  for (const auto& [entry, uid] : x.claims)
    out.volume_claim_uids.emplace(entry, uid.text());
  out.template_revision = x.revision;
  out.template_current = x.revision_current;
  return out;
}

workspace_view to_view(const workspace::summary& seen, const workspace_view& held) {
  auto out = held;
  out.workspace = seen.workspace;
  out.sandbox_name = seen.sandbox_name;
  out.template_name = seen.template_name;
  out.mode = seen.mode;
  out.created_at = seen.created_at;
  out.mode_changed_at = seen.mode_changed_at;
  out.holder_epoch = seen.holder_epoch;
  // A session of another object says nothing about this one.
  if (!held.sandbox_uid.empty() && held.sandbox_uid != seen.sandbox.text()) {
    out.state.clear();
    out.pod_uid.clear();
    out.guest_boot_id.clear();
    out.volume_claim_uids.clear();
  }
  out.sandbox_uid = seen.sandbox.text();
  return out;
}

released_view to_view(const workspace::released_tasks& x) {
  return {x.names.size(), x.names};
}

capacity_view to_view(const workspace::task_capacity& x) {
  return {x.ready, x.desired, x.active_claims, x.pending_pods};
}

namespace {

identity_view to_view(const workspace::identity& x) {
  identity_view out;
  if (x.sandbox)
    out.sandbox_uid = x.sandbox->text();
  if (x.pod)
    out.pod_uid = x.pod->text();
  if (x.boot)
    out.guest_boot_id = x.boot->text();
  for (const auto& [entry, uid] : x.claims)
    out.volume_claim_uids.emplace(entry, uid.text());
  return out;
}

struct event_of {
  workspace_event operator()(const workspace::guest_restart& x) const {
    workspace_event out;
    out.what = "guest-restart";
    out.reason = to_string(x.reason);
    out.previous = to_view(x.previous);
    out.current = to_view(x.current);
    return out;
  }
  workspace_event operator()(const workspace::cancellation_unconfirmed& x) const {
    workspace_event out;
    out.what = "cancellation-unconfirmed";
    out.reason = to_string(x.guest);
    out.agent = to_string(x.agent);
    out.previous = to_view(x.previous);
    out.current = to_view(x.current);
    return out;
  }
  workspace_event operator()(const workspace::suspended_elsewhere& x) const {
    workspace_event out;
    out.what = "suspended-elsewhere";
    out.previous = to_view(x.previous);
    return out;
  }
};

} // namespace

workspace_event to_event(const workspace::event& x) {
  auto out = std::visit(event_of{}, x);
  out.text = workspace::to_string(x);
  return out;
}

namespace {

std::optional<std::chrono::milliseconds> in_milliseconds(const std::optional<caf::timespan>& x) {
  if (!x)
    return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*x);
}

guest::command to_command(run_spec x) {
  guest::command out;
  out.program = std::move(x.program);
  out.arguments = std::move(x.arguments);
  out.directory = std::move(x.directory);
  out.environment = std::move(x.environment);
  out.limit = in_milliseconds(x.limit);
  out.with_input = x.with_input;
  return out;
}

session_view to_view(const guest::session_row& x) {
  session_view out;
  out.session = x.session;
  out.kind = x.kind;
  out.command = x.command;
  out.arguments = x.arguments;
  out.started_at = x.started_at;
  out.last_input_at = x.last_input_at;
  out.last_output_at = x.last_output_at;
  out.next_offset = x.next_offset;
  out.dropped_bytes = x.dropped_bytes;
  out.state = x.state;
  out.attached = x.attached;
  out.exit_code = x.exit_code;
  out.signal = x.signal;
  out.pid = x.pid;
  out.signalled = x.signalled;
  return out;
}

struct job_of {
  workspace::guest_job operator()(run_spec& x) const {
    if (!x.detach)
      return workspace::run_job{to_command(std::move(x))};
    guest::detached_run out;
    if (!x.execution.empty())
      out.execution_id = std::move(x.execution);
    out.leave = x.leave;
    out.what = to_command(std::move(x));
    return workspace::detached_job{std::move(out)};
  }
  workspace::guest_job operator()(attach_spec& x) const {
    return workspace::attach_job{{std::move(x.execution), x.from}};
  }
  workspace::guest_job operator()(shell_spec& x) const {
    const guest::window_size size{x.columns, x.rows};
    if (x.attach)
      return workspace::rejoin_job{{std::move(x.session), x.from, size}};
    guest::terminal_request out;
    if (!x.program.empty())
      out.program = std::move(x.program);
    out.arguments = std::move(x.arguments);
    out.directory = std::move(x.directory);
    out.environment = std::move(x.environment);
    out.size = size;
    if (!x.session.empty())
      out.session = std::move(x.session);
    return workspace::terminal_job{std::move(out)};
  }
  workspace::guest_job operator()(forward_spec& x) const {
    return workspace::tcp_job{std::move(x.host), x.port};
  }
  workspace::guest_job operator()(read_spec& x) const {
    return workspace::read_job{std::move(x.path), {x.offset, x.length}};
  }
  workspace::guest_job operator()(write_spec& x) const {
    return workspace::write_job{std::move(x.path), x.size};
  }
  workspace::guest_job operator()(walk_spec& x) const {
    return workspace::walk_job{
      {std::move(x.root), std::move(x.pattern), x.include_hidden, x.max_depth, x.max_entries, x.max_visited_entries}};
  }
};

struct question_of {
  workspace::question operator()(sessions_question&) const {
    return workspace::list_sessions{};
  }
  workspace::question operator()(session_start_question& x) const {
    return workspace::start_detached{
      {std::move(x.session), std::move(x.program), std::move(x.arguments), std::move(x.directory), std::move(x.environment)}};
  }
  workspace::question operator()(session_kill_question& x) const {
    return workspace::kill_session{std::move(x.session), x.signal.empty() ? std::nullopt : std::optional<std::string>{std::move(x.signal)}};
  }
  workspace::question operator()(quiesce_question& x) const {
    return workspace::quiesce_guest{{in_milliseconds(x.grace), x.only_if_idle}};
  }
  workspace::question operator()(flush_question& x) const {
    return workspace::flush_guest{in_milliseconds(x.bound)};
  }
  workspace::question operator()(cancel_question& x) const {
    return workspace::cancel_execution{std::move(x.execution)};
  }
};

struct answer_from {
  guest_answer operator()(const std::monostate&) const {
    return {done_answer{}};
  }
  guest_answer operator()(const std::vector<guest::session_row>& x) const {
    sessions_answer out;
    for (const auto& row : x)
      out.sessions.push_back(to_view(row));
    return {std::move(out)};
  }
  guest_answer operator()(const guest::session_row& x) const {
    return {to_view(x)};
  }
  guest_answer operator()(const guest::quiesce_report& x) const {
    quiesce_answer out{{}, x.scope, x.grace_ms, x.rounds};
    for (const auto& one : x.stopped)
      out.stopped.push_back({one.pid, one.command, one.signal});
    return {std::move(out)};
  }
  guest_answer operator()(const guest::flush_report& x) const {
    return {flush_answer{x.duration_ms, x.workspace}};
  }
};

} // namespace

workspace::guest_job to_job(call_spec x) {
  return std::visit(job_of{}, x.what);
}

call_end to_end(const workspace::job_end& x) {
  call_end out;
  out.exit_code = x.how.exit_code;
  out.signal = x.how.signal;
  out.timed_out = x.how.timed_out;
  out.took = x.how.took;
  out.out_truncated = x.how.out_truncated;
  out.err_truncated = x.how.err_truncated;
  out.lossy = x.how.lossy;
  out.size = x.size;
  out.execution = x.execution;
  out.outcome = x.outcome;
  out.next_offset = x.next_offset;
  out.dropped_bytes = x.dropped_bytes;
  return out;
}

call_note to_note(const workspace::job_note& x) {
  using kind = workspace::job_note::kind;
  call_note out;
  switch (x.what) {
    case kind::named: out.what = "named"; break;
    case kind::attached: out.what = "attached"; break;
    case kind::ready: out.what = "ready"; break;
    case kind::gap: out.what = "gap"; break;
  }
  out.execution = x.execution;
  out.state = x.state;
  out.from_offset = x.from_offset;
  out.dropped_bytes = x.dropped_bytes;
  out.next_offset = x.next_offset;
  return out;
}

workspace::question to_question(guest_question x) {
  return std::visit(question_of{}, x.what);
}

guest_answer to_answer(const workspace::reply& x) {
  return std::visit(answer_from{}, x);
}

tl::expected<guest::pin, guest::pin_incomplete> to_pin(const pin_spec& x) {
  guest::pin_input out;
  out.sandbox_uid = x.sandbox_uid;
  out.pod = x.pod_uid;
  out.boot = x.guest_boot_id;
  for (const auto& [claim, uid] : x.volume_claim_uids)
    out.claims.emplace(claim, uid);
  return guest::pin::of(out);
}

} // namespace paddock
