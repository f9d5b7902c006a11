// `execute`: from the request to the last frame ([G] 6.3), with the input and output of `exec-bytes`.

#include "base/base64.hpp"
#include "guest/agent/live_execution.hpp"
#include "guest/agent/ops.hpp"
#include "guest/agent/retained_output.hpp"
#include "guest/child_environment.hpp"
#include "guest/envelope.hpp"
#include "guest/execution_request.hpp"
#include "guest/features.hpp"
#include "guest/replies.hpp"

#include <deque>
#include <utility>

namespace paddock::guest {

namespace {

constexpr std::uint64_t input_frame_ceiling = 128 * 1024;
constexpr std::size_t most_unsent_text = 32 * 1024 * 1024;

// The client of its execution, or one reader of many when the output is retained.
class execute_op final : public op_handler, public execution_client, public output_reader, public std::enable_shared_from_this<execute_op> {
public:
  execute_op(shared_core core, shared_channel to) : core_(std::move(core)), to_(std::move(to)) {
  }

  /// False: refused, and the stream has ended.
  bool begin(const nlohmann::json& body);

  // -- op_handler -------------

  void frame(std::string payload) override;
  void drained() override;
  void closed() override;
  [[nodiscard]] std::uint64_t frame_ceiling() const override {
    return std::min(input_frame_ceiling, core_->config.max_frame_bytes);
  }
  [[nodiscard]] bool takes_frames() const override {
    return takes_input_;
  }

  // -- output_reader ----------

  void more(stream which, std::string_view bytes, std::uint64_t offset) override;

  // -- execution_client -------

  void take_output(stream which, std::string_view bytes) override;
  [[nodiscard]] bool congested() const override;
  void input_drained() override;
  void ended(const execution_end& how) override;
  void sever() override;

private:
  void launch(execution_request wanted, int directory_failure, const start_permit& permit);
  [[nodiscard]] std::shared_ptr<execution_client> client();
  void take_input(std::string bytes);
  bool refuse(std::string_view error);
  void fail(const execution_request& wanted, std::string error, bool started);
  void end(std::string event);

  shared_core core_;
  shared_channel to_;
  std::shared_ptr<live_execution> execution_;
  std::shared_ptr<retained_output> output_; // of a retained execution
  std::optional<log_sender> sender_;        // then, once it runs
  bool closed_ = false;
  bool over_ = false;        // the last frame is sent, or follows what is being sent
  bool bytes_ = false;       // deltas in base64, under back-pressure
  bool takes_input_ = false; // frames after the first are input
  bool input_ended_ = false;
  std::deque<std::string> early_input_; // arrived before the command was started
  std::size_t early_bytes_ = 0;
};

bool execute_op::refuse(std::string_view error) {
  to_->end_stream(error_event(error));
  return false;
}

bool execute_op::begin(const nlohmann::json& body) {
  auto wanted = read_execution_request(body, core_->config.workspace, core_->config.max_timeout_ms);
  if (!wanted)
    return refuse(wanted.error());
  if (wanted->id)
    if (auto begun = core_->registry.begin(*wanted->id, core_->time.now(), wanted->retain); !begun)
      return refuse(begun.error());
  if (wanted->retain)
    output_ = retained_output::begin(core_, *wanted->id);
  bytes_ = wanted->output_as_base64;
  takes_input_ = wanted->input_stream;
  auto directory = wanted->directory;
  core_->elsewhere([directory = std::move(directory)] { return make_directories(directory); },
                   [self = shared_from_this(), wanted = std::move(*wanted), permit = std::make_shared<start_permit>(core_)](
                     int failure) mutable { self->launch(std::move(wanted), failure, *permit); });
  return true;
}

void execute_op::launch(execution_request wanted, int directory_failure, const start_permit& permit) {
  auto& core = *core_;
  if (directory_failure != 0)
    return fail(wanted, "mkdir_failed: " + system_message(directory_failure, "mkdir", wanted.directory), false);
  auto plan = process_plan{};
  plan.environment = child_environment(core.config.environment, wanted.environment);
  for (auto* words : {&wanted.arguments, &plan.environment})
    for (const auto& word : *words)
      if (word.find('\0') != std::string::npos)
        return fail(wanted, "spawn: a string holds a NUL byte", false);
  if (wanted.program.find('\0') != std::string::npos)
    return fail(wanted, "spawn: a string holds a NUL byte", false);
  auto taken_back = permit.taken_back();
  if (wanted.id && taken_back)
    cancel_unstarted(core, *wanted.id);
  if (wanted.id ? !core.registry.run(*wanted.id) : taken_back)
    return end(error_event(wanted.id ? "execution_cancelled" : "quiesce_in_progress"));
  plan.program = wanted.program;
  plan.arguments = std::move(wanted.arguments);
  plan.directory = wanted.directory;
  plan.with_input = wanted.input.has_value() || wanted.input_stream;
  auto child = start_process(plan);
  if (!child)
    return fail(wanted, "spawn " + wanted.program + " " + errno_name(child.error()), true);
  auto rules = live_execution::rules{wanted.timeout, core.config.cancel_grace, core.config.cancel_confirm_timeout, wanted.max_output_bytes};
  auto weak_core = std::weak_ptr{core_};
  auto made = std::make_shared<std::weak_ptr<live_execution>>();
  auto on = live_execution::events{};
  on.leader_exited = [weak_core, id = wanted.id] {
    if (auto owner = weak_core.lock(); owner && id)
      owner->registry.leader_exited(*id);
  };
  on.settled = [weak_core, id = wanted.id, made, leader = child->pid](const execution_end& how) {
    auto owner = weak_core.lock();
    if (!owner)
      return;
    owner->owned_sessions.erase(leader);
    if (id) {
      owner->registry.settle(*id, how, owner->time.now());
      owner->running.erase(*id);
    }
    owner->live.erase(made->lock());
  };
  on.fence = [weak_core](std::string_view reason) {
    if (auto owner = weak_core.lock())
      owner->fence(reason);
  };
  core.owned_sessions.insert(child->pid);
  auto started = std::make_shared<live_execution>(core.io, core.time, core.scratch, std::move(*child), rules, std::move(on));
  *made = started;
  core.live.insert(started);
  if (wanted.id)
    core.running.emplace(*wanted.id, started);
  if (!closed_)
    execution_ = started;
  started->start(client(), std::move(wanted.input));
  for (auto& piece : early_input_)
    started->feed(std::move(piece));
  early_input_.clear();
  early_bytes_ = 0;
  if (takes_input_ && (input_ended_ || closed_))
    started->end_input();
  input_drained();
}

std::shared_ptr<execution_client> execute_op::client() {
  if (!output_)
    return closed_ ? nullptr : shared_from_this();
  if (closed_)
    return output_;
  sender_.emplace(to_, output_->log(), 0, core_->config.execution_log_bytes, bytes_);
  output_->join(shared_from_this());
  output_->when_input_drains([weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->input_drained();
  });
  return output_;
}

void execute_op::fail(const execution_request& wanted, std::string error, bool started) {
  early_input_.clear();
  if (wanted.id) {
    auto how = execution_end{};
    how.outcome = execution_outcome::failed;
    how.started = started;
    how.error = error;
    settle_failed(*core_, *wanted.id, std::move(how));
  }
  end(error_event(error));
}

void execute_op::end(std::string event) {
  over_ = true;
  takes_input_ = false;
  to_->end_stream(std::move(event));
}

// -- the connection ----------------------------------------------------------------------------------------------------

void execute_op::frame(std::string payload) {
  if (input_ended_)
    return;
  // The usual form is taken as it is: parsing it costs more than all the rest of bulk input.
  constexpr auto head = std::string_view{R"({"type":"stdin","data":")"};
  constexpr auto tail = std::string_view{"\"}"};
  if (auto text = std::string_view{payload}; text.starts_with(head) && text.ends_with(tail) && text.size() >= head.size() + tail.size())
    if (auto bytes = from_base64(text.substr(head.size(), text.size() - head.size() - tail.size())))
      return take_input(std::move(*bytes));
  auto message = parse_payload(payload);
  if (!message || !message->is_object())
    return;
  auto type = message->find("type");
  if (type == message->end() || !type->is_string())
    return;
  if (*type == "stdin_end") {
    input_ended_ = true;
    if (execution_)
      execution_->end_input();
    return;
  }
  if (*type != "stdin")
    return;
  auto data = message->find("data");
  auto bytes = data != message->end() && data->is_string() ? from_base64(data->get_ref<const std::string&>()) : std::nullopt;
  if (!bytes)
    return to_->destroy(); // guessing at input would run the command on something else
  take_input(std::move(*bytes));
}

void execute_op::take_input(std::string bytes) {
  if (bytes.size() > exec_bytes_piece)
    return to_->destroy();
  if (execution_) {
    execution_->feed(std::move(bytes));
  } else if (!over_) {
    early_bytes_ += bytes.size();
    early_input_.push_back(std::move(bytes));
  }
  if (early_bytes_ + (execution_ ? execution_->waiting_input() : 0) > exec_bytes_window)
    to_->pause_reading(); // `input_drained` goes on
}

void execute_op::drained() {
  if (sender_)
    return sender_->pump();
  if (execution_ && !congested())
    execution_->resume();
}

void execute_op::closed() {
  closed_ = true;
  if (output_)
    output_->leave(this);
  auto lost = std::exchange(execution_, nullptr);
  if (!lost)
    return;
  if (takes_input_ && !std::exchange(input_ended_, true))
    lost->end_input();
  if (!output_)
    lost->detach();
}

// -- the execution -----------------------------------------------------------------------------------------------------

void execute_op::more(stream which, std::string_view bytes, std::uint64_t offset) {
  sender_->more(which, bytes, offset);
}

void execute_op::take_output(stream which, std::string_view bytes) {
  if (closed_ || over_)
    return;
  // Text has no flow control toward the command ([G] 6.3): a host that falls this far behind is given up like one that has left.
  if (!bytes_ && to_->unsent() > most_unsent_text)
    return to_->destroy();
  to_->send_frame(delta_frame(which, bytes, bytes_));
}

bool execute_op::congested() const {
  return bytes_ && !closed_ && !over_ && to_->unsent() > exec_bytes_window;
}

void execute_op::input_drained() {
  if (takes_input_ && early_bytes_ == 0 && (!execution_ || execution_->waiting_input() <= exec_bytes_window))
    to_->resume_reading();
}

void execute_op::ended(const execution_end& how) {
  execution_ = nullptr;
  auto last = how.result ? result_event(*how.result) : error_event(how.error.value_or("failed"));
  if (!sender_)
    return end(std::move(last));
  over_ = true;
  takes_input_ = false;
  sender_->end(std::move(last));
}

void execute_op::sever() {
  execution_ = nullptr;
  to_->destroy();
}

} // namespace

shared_handler start_execute(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto made = std::make_shared<execute_op>(std::move(core), std::move(to));
  return made->begin(body) ? made : nullptr;
}

} // namespace paddock::guest
