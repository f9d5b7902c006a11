#include "guest/agent/live_session.hpp"

#include "guest/agent/session_table.hpp"

#include <chrono>
#include <utility>

namespace paddock::guest {

void session_table::forget(const std::vector<std::string>& ids) {
  for (const auto& id : ids) {
    auto found = live.find(id);
    if (found == live.end())
      continue;
    found->second->program()->let_go();
    live.erase(found);
  }
}

void session_table::prune(session_registry::time_point now) {
  forget(registry.prune(now));
}

void session_table::abandon() {
  live.clear();
  auto leaders = std::set<pid_t>{};
  for (const auto& each : std::exchange(programs, {}))
    if (auto leader = each->abandon())
      leaders.insert(*leader);
  kill_sessions_now(leaders);
}

live_session::live_session(std::shared_ptr<agent_core> core, std::string id, session_kind kind, const session_program& run) :
  core_(std::move(core)),
  id_(std::move(id)),
  kind_(kind),
  command_(run.program),
  arguments_(run.arguments),
  started_at_ms_(wall_ms()),
  log_(core_->config.session_log_bytes) {
}

std::int64_t live_session::wall_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(core_->time.wall().time_since_epoch()).count();
}

void live_session::begin(std::shared_ptr<live_program> program) {
  program_ = std::move(program);
  core_->sessions->registry.run(id_);
  core_->sessions->live.emplace(id_, shared_from_this());
  program_->watch(weak_from_this());
}

session_summary live_session::summary() const {
  auto result = session_summary{};
  result.id = id_;
  result.kind = kind_;
  result.command = command_;
  result.arguments = arguments_;
  result.started_at_ms = started_at_ms_;
  result.last_input_at_ms = last_input_at_ms_;
  result.last_output_at_ms = last_output_at_ms_;
  result.next_offset = log_.end_offset();
  result.dropped_bytes = log_.dropped_bytes();
  result.state = exited_ ? session_state::exited : session_state::running;
  result.attached = reader_ != nullptr;
  result.exit = exited_.value_or(session_exit{});
  return result;
}

void live_session::attach(std::shared_ptr<attached_reader> reader) {
  if (auto before = std::exchange(reader_, std::move(reader)))
    before->superseded();
}

void live_session::leave(const attached_reader* reader) {
  if (reader_.get() == reader)
    reader_ = nullptr;
}

void live_session::note_input() {
  if (!exited_ && kind_ == session_kind::terminal)
    last_input_at_ms_ = wall_ms();
}

void live_session::when_ended(std::weak_ptr<void> who, std::function<void()> then) {
  std::erase_if(waiting_, [](const waiter& x) { return x.who.expired(); });
  waiting_.push_back({std::move(who), std::move(then)});
}

void live_session::take_output(stream which, std::string_view bytes) {
  last_output_at_ms_ = wall_ms();
  auto offset = log_.append(which, bytes);
  if (auto reader = reader_)
    reader->more(which, bytes, offset);
}

void live_session::input_drained() {
  if (auto reader = reader_)
    reader->input_drained();
}

void live_session::ended(const session_exit& how) {
  exited_ = how;
  core_->sessions->registry.leave(id_, core_->time.now());
  if (auto reader = std::exchange(reader_, nullptr))
    reader->ended();
  for (auto& each : std::exchange(waiting_, {}))
    if (auto alive = each.who.lock())
      each.then();
  program_->rest();
}

} // namespace paddock::guest
