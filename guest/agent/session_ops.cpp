// The three ops of sessions with one reply: `start-detached`, `list-sessions` and `kill-session` ([G] 9.2, 9.5, 9.6).

#include "guest/agent/live_session.hpp"
#include "guest/agent/ops.hpp"
#include "guest/agent/session_table.hpp"
#include "guest/replies.hpp"

#include <boost/asio/steady_timer.hpp>

#include <csignal>
#include <utility>

namespace paddock::guest {

namespace {

void launch_detached(const shared_core& core, channel& to, const std::string& id, const session_program& run, const start_permit& permit,
                     int failure) {
  auto& registry = core->sessions->registry;
  if (failure != 0 || permit.taken_back()) {
    registry.withdraw(id);
    return to.reply(refusal(failure != 0 ? system_message(failure, "mkdir", run.directory) : "quiesce_in_progress"));
  }
  auto started = live_program::start(core, run, std::nullopt);
  if (!started) {
    registry.withdraw(id);
    return to.reply(spawn_failed_reply(started.error()));
  }
  auto pid = (*started)->pid();
  auto session = std::make_shared<live_session>(core, id, session_kind::detached, run);
  session->begin(std::move(*started));
  to.reply(detached_reply(session->summary(), pid));
}

/// Waits for the end of a program that was signalled, for as long as a kill may take.
class kill_wait : public std::enable_shared_from_this<kill_wait> {
public:
  kill_wait(agent_core& core, shared_channel to, std::shared_ptr<live_session> session) :
    to_(std::move(to)), session_(std::move(session)), limit_(core.io) {
  }

  void start(std::chrono::milliseconds bound, int number) {
    limit_.expires_after(bound);
    limit_.async_wait([self = shared_from_this()](boost::system::error_code) {
      self->over_ = true;
      self->answer();
    });
    session_->when_ended(weak_from_this(), [this] { limit_.cancel(); });
    session_->program()->signal(number, [self = shared_from_this()](std::size_t reached) {
      self->signalled_ = reached;
      self->answer();
    });
  }

private:
  void answer() {
    if (over_ && signalled_)
      to_->reply(killed_reply(session_->summary(), signalled_));
  }

  shared_channel to_;
  std::shared_ptr<live_session> session_;
  boost::asio::steady_timer limit_;
  bool over_ = false; // the program has ended, or the time is up
  std::optional<std::size_t> signalled_;
};

} // namespace

void answer_start_detached(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto id = session_id_in(body);
  if (!id)
    return to->reply(refusal("invalid_session_id"));
  core->sessions->prune(core->time.now());
  auto& table = *core->sessions;
  if (table.registry.taken(*id))
    return to->reply(refusal("session_exists"));
  if (!names_program(body))
    return to->reply(refusal("missing_command"));
  if (!table.registry.has_room())
    return to->reply(refusal("session_capacity"));
  auto run = read_detached_program(body, core->config.workspace);
  if (!run)
    return to->reply(refusal(run.error()));
  // From the first check to here nothing else has had a turn.
  table.forget(table.registry.create(*id));
  auto directory = run->directory;
  core->elsewhere([directory = std::move(directory)] { return make_directories(directory); },
                  [core, to, id = std::move(*id), run = std::move(*run), permit = std::make_shared<start_permit>(core)](int failure) {
                    launch_detached(core, *to, id, run, *permit, failure);
                  });
}

void answer_list_sessions(shared_core core, shared_channel to) {
  core->sessions->prune(core->time.now());
  auto rows = std::vector<session_summary>{};
  for (const auto& id : core->sessions->registry.ids())
    if (auto found = core->sessions->live.find(id); found != core->sessions->live.end())
      rows.push_back(found->second->summary());
  to->reply(sessions_reply(rows));
}

void answer_kill_session(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto id = session_id_in(body);
  if (!id)
    return to->reply(refusal("invalid_session_id"));
  core->sessions->prune(core->time.now());
  auto found = core->sessions->live.find(*id);
  if (found == core->sessions->live.end())
    return to->reply(refusal("unknown_session"));
  auto session = found->second;
  if (session->exited())
    return to->reply(killed_reply(session->summary(), std::nullopt));
  auto wait = std::make_shared<kill_wait>(*core, std::move(to), session);
  wait->start(core->config.session_kill_confirm_timeout, signal_in(body, SIGKILL));
}

} // namespace paddock::guest
