// `attach-execution`: what a retained execution has printed so far, and what it goes on to print ([G] 6.6).

#include "guest/agent/ops.hpp"
#include "guest/agent/retained_output.hpp"
#include "guest/attach_request.hpp"
#include "guest/replies.hpp"

#include <utility>

namespace paddock::guest {

namespace {

class attach_op final : public op_handler, public output_reader, public std::enable_shared_from_this<attach_op> {
public:
  attach_op(std::string id, std::shared_ptr<output_log> log, log_sender sender, shared_channel to) :
    id_(std::move(id)), log_(std::move(log)), sender_(std::move(sender)), to_(std::move(to)) {
  }

  void follow(std::shared_ptr<retained_output> output) {
    output_ = std::move(output);
    output_->join(shared_from_this());
    sender_.pump();
  }

  // -- op_handler -------------

  void frame(std::string) override {
    to_->destroy();
  }
  void drained() override {
    sender_.pump();
  }
  void closed() override {
    if (auto output = std::exchange(output_, nullptr))
      output->leave(this);
  }
  [[nodiscard]] bool takes_frames() const override {
    return true;
  }
  /// Nothing is taken: what a header announces is never waited for.
  [[nodiscard]] std::uint64_t frame_ceiling() const override {
    return 0;
  }

  // -- output_reader ----------

  void more(stream which, std::string_view bytes, std::uint64_t offset) override {
    sender_.more(which, bytes, offset);
  }
  void ended(const execution_end& how) override {
    output_ = nullptr;
    sender_.end(attach_result_event(id_, how, log_->end_offset()));
  }
  void sever() override {
    output_ = nullptr;
    to_->destroy();
  }

private:
  std::string id_;
  std::shared_ptr<output_log> log_;
  log_sender sender_;
  shared_channel to_;
  std::shared_ptr<retained_output> output_; // until it is terminal
};

} // namespace

shared_handler start_attach_execution(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto refuse = [&](std::string event) {
    to->end_stream(std::move(event));
    return nullptr;
  };
  auto wanted = read_execution_attach(body);
  if (!wanted.id)
    return refuse(error_event("invalid_execution_id"));
  const auto* record = core->registry.find(*wanted.id, core->time.now());
  if (record == nullptr)
    return refuse(error_event("unknown_execution"));
  if (!record->log)
    return refuse(output_not_retained_event(record->state));
  auto log = record->log;
  if (!wanted.from || *wanted.from > log->end_offset())
    return refuse(error_event("invalid_offset"));
  auto from = std::max(*wanted.from, log->start_offset());
  to->send(attached_event(*wanted.id, record->state, from, from - *wanted.from));
  auto made =
    std::make_shared<attach_op>(*wanted.id, log, log_sender{to, log, from, core->config.execution_log_bytes, wanted.as_base64}, to);
  if (record->state == execution_state::terminal)
    made->ended(record->end);
  else if (auto at = core->retained.find(*wanted.id); at != core->retained.end())
    made->follow(at->second);
  else
    to->destroy(); // it will never be terminal
  return made;
}

} // namespace paddock::guest
