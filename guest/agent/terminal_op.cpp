// `terminal`: bound to its connection ([G] 8), or persistent ([G] 9.3).

#include "guest/agent/attachment.hpp"
#include "guest/agent/session_table.hpp"
#include "guest/replies.hpp"

#include <utility>

namespace paddock::guest {

namespace {

constexpr std::size_t output_window = 64 * 1024;

void refuse_terminal(channel& to, std::string_view error) {
  to.reply(error_event(error));
}

/// What may have happened while the directory was made. True: refused, nothing is to be started.
bool refused_meanwhile(const start_permit& permit, channel& to, const session_program& run, int directory_failure) {
  if (directory_failure != 0)
    refuse_terminal(to, system_message(directory_failure, "mkdir", run.directory));
  else if (permit.taken_back())
    to.end_stream(error_event("quiesce_in_progress"));
  else
    return false;
  return true;
}

/// A terminal whose program ends with the connection.
class terminal_op final : public op_handler, public program_owner, public std::enable_shared_from_this<terminal_op> {
public:
  terminal_op(shared_core core, shared_channel to, terminal_opening wanted) :
    core_(std::move(core)), to_(std::move(to)), wanted_(std::move(wanted)), events_(to_, wanted_.as_base64) {
  }

  void launch(const start_permit& permit, int directory_failure) {
    if (closed_ || refused_meanwhile(permit, *to_, wanted_.run, directory_failure))
      return;
    auto started = live_program::start(core_, wanted_.run, wanted_.size);
    if (!started)
      return refuse_terminal(*to_, started.error());
    program_ = std::move(*started);
    heart_ = stream_heart::arm(*core_, to_, wanted_.heartbeat);
    to_->send(terminal_ready_event(core_->boot, {wanted_.heartbeat, wanted_.as_base64}));
    program_->watch(weak_from_this());
    events_.begin(program_, nullptr);
  }

  // -- op_handler -------------

  void frame(std::string payload) override {
    events_.frame(payload);
  }
  void drained() override {
    if (program_ && !congested())
      program_->resume();
  }
  void closed() override {
    closed_ = true;
    heart_ = nullptr;
    events_.end();
    if (auto lost = std::exchange(program_, nullptr))
      lost->end_all();
  }
  [[nodiscard]] bool ends_with_host() const override {
    return true;
  }
  [[nodiscard]] bool takes_frames() const override {
    return true;
  }
  [[nodiscard]] std::uint64_t frame_ceiling() const override {
    return core_->config.max_frame_bytes;
  }

  // -- program_owner ----------

  void take_output(stream, std::string_view bytes) override {
    to_->send(terminal_data_event(bytes, wanted_.as_base64));
  }
  [[nodiscard]] bool congested() const override {
    return to_->unsent() > output_window;
  }
  void input_drained() override {
    events_.drained();
  }
  void ended(const session_exit& how) override {
    auto self = shared_from_this(); // the channel forgets it
    heart_ = nullptr;
    events_.end();
    if (auto over = std::exchange(program_, nullptr))
      over->let_go();
    to_->reply(exit_event(how, std::nullopt));
  }

private:
  shared_core core_;
  shared_channel to_;
  terminal_opening wanted_;
  terminal_events events_;
  std::shared_ptr<live_program> program_;
  std::shared_ptr<stream_heart> heart_;
  bool closed_ = false;
};

shared_handler start_bound(shared_core core, shared_channel to, terminal_opening wanted) {
  auto directory = wanted.run.directory;
  auto made = std::make_shared<terminal_op>(core, std::move(to), std::move(wanted));
  core->elsewhere([directory = std::move(directory)] { return make_directories(directory); },
                  [made, permit = std::make_shared<start_permit>(core)](int failure) { made->launch(*permit, failure); });
  return made;
}

void launch_session(const shared_core& core, const shared_channel& to, const terminal_opening& wanted, attachment& opened,
                    const start_permit& permit, int failure) {
  const auto& id = *wanted.session;
  auto& registry = core->sessions->registry;
  if (opened.is_closed())
    return registry.withdraw(id); // nobody knows of it
  if (refused_meanwhile(permit, *to, wanted.run, failure))
    return registry.withdraw(id);
  auto started = live_program::start(core, wanted.run, wanted.size);
  if (!started) {
    registry.withdraw(id);
    return refuse_terminal(*to, started.error());
  }
  auto session = std::make_shared<live_session>(core, id, session_kind::terminal, wanted.run);
  session->begin(std::move(*started));
  opened.begin(std::move(session), 0, std::nullopt);
}

shared_handler start_persistent(const shared_core& core, const shared_channel& to, terminal_opening wanted) {
  const auto& id = *wanted.session;
  auto& table = *core->sessions;
  table.prune(core->time.now());
  if (table.registry.taken(id) || !table.registry.has_room()) {
    refuse_terminal(*to, table.registry.taken(id) ? "session_exists" : "session_capacity");
    return nullptr;
  }
  table.forget(table.registry.create(id));
  auto directory = wanted.run.directory;
  auto made = std::make_shared<attachment>(core, to, stream_terms{wanted.heartbeat, wanted.as_base64});
  core->elsewhere([directory = std::move(directory)] { return make_directories(directory); },
                  [core, to, made, wanted = std::move(wanted), permit = std::make_shared<start_permit>(core)](int failure) {
                    launch_session(core, to, wanted, *made, *permit, failure);
                  });
  return made;
}

} // namespace

shared_handler start_terminal(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto wanted = read_terminal_opening(body, core->config.workspace);
  if (!wanted) {
    refuse_terminal(*to, wanted.error());
    return nullptr;
  }
  if (wanted->session)
    return start_persistent(core, to, std::move(*wanted));
  return start_bound(std::move(core), std::move(to), std::move(*wanted));
}

} // namespace paddock::guest
