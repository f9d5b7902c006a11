// `attach-session`: follows a session, or reads what it has printed so far ([G] 9.4).

#include "guest/agent/attachment.hpp"
#include "guest/agent/session_table.hpp"
#include "guest/replies.hpp"

#include <deque>
#include <utility>

namespace paddock::guest {

namespace {

constexpr std::size_t window = 256 * 1024;

/// Sends what the log held at one moment, as the host takes it, and nothing that came after. Disturbs no attachment.
class session_read final : public op_handler {
public:
  session_read(shared_channel to, std::vector<output_log::piece> pieces, bool as_base64) :
    to_(std::move(to)), left_(std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end())), as_base64_(as_base64) {
  }

  /// True: all is queued, and the stream has ended.
  bool pump() {
    for (; !left_.empty() && to_->unsent() <= window; left_.pop_front())
      to_->send(session_data_event(left_.front().which, left_.front().bytes, left_.front().offset, as_base64_));
    if (!left_.empty())
      return false;
    to_->send_terminator();
    to_->finish();
    return true;
  }

  void frame(std::string) override {
  }
  void drained() override {
    auto to = to_;
    pump();
  }
  void closed() override {
    left_.clear();
  }
  [[nodiscard]] bool takes_frames() const override {
    return false;
  }
  [[nodiscard]] std::uint64_t frame_ceiling() const override {
    return 0;
  }

private:
  shared_channel to_;
  std::deque<output_log::piece> left_;
  bool as_base64_;
};

} // namespace

shared_handler start_attach_session(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto refuse = [&](std::string event) {
    to->end_stream(std::move(event));
    return nullptr;
  };
  auto id = session_id_in(body);
  if (!id)
    return refuse(error_event("invalid_session_id"));
  auto& table = *core->sessions;
  table.prune(core->time.now());
  auto found = table.live.find(*id);
  if (found == table.live.end())
    return refuse(error_event("unknown_session"));
  auto session = found->second;
  auto wanted = read_attach_opening(body);
  if (!wanted.from || *wanted.from > session->log().end_offset())
    return refuse(invalid_offset_event(session->log().end_offset()));
  if (wanted.follow) {
    auto made = std::make_shared<attachment>(core, to, stream_terms{wanted.heartbeat, wanted.as_base64});
    made->begin(std::move(session), *wanted.from, wanted.size);
    return made->is_closed() ? nullptr : made;
  }
  auto held = session->log().read(*wanted.from);
  to->send(session_ready_event(core->boot, session->summary(), held->from, held->dropped, {std::nullopt, wanted.as_base64}));
  auto made = std::make_shared<session_read>(to, std::move(held->pieces), wanted.as_base64);
  return made->pump() ? nullptr : made;
}

} // namespace paddock::guest
