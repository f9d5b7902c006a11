#include "guest/agent/attachment.hpp"

#include <utility>

namespace paddock::guest {

namespace {

constexpr std::size_t window = 256 * 1024; // on the connection; the rest waits in the log

} // namespace

attachment::attachment(shared_core core, shared_channel to, stream_terms terms) :
  core_(std::move(core)), to_(std::move(to)), terms_(terms), events_(to_, terms.as_base64) {
}

void attachment::begin(std::shared_ptr<live_session> session, std::uint64_t from, std::optional<terminal_size> size) {
  session_ = std::move(session);
  const auto& log = session_->log();
  at_ = std::max(from, log.start_offset());
  auto current = session_; // `pump` may end this
  if (!current->exited())
    heart_ = stream_heart::arm(*core_, to_, terms_.heartbeat);
  to_->send(session_ready_event(core_->boot, current->summary(), at_, at_ - from, terms_));
  if (!current->exited()) {
    current->attach(shared_from_this());
    if (size)
      current->program()->resize(*size);
  }
  pump();
  if (!over_ && !current->exited())
    events_.begin(current->program(), current);
}

void attachment::pump() {
  while (!over_ && to_->unsent() <= window && at_ < session_->log().end_offset()) {
    auto found = session_->log().read(at_, output_log::piece_size);
    if (!found)
      break;
    if (found->dropped > 0) {
      leave();
      return to_->cut_off(detached_event("slow_reader"));
    }
    for (const auto& piece : found->pieces) {
      to_->send(session_data_event(piece.which, piece.bytes, piece.offset, terms_.as_base64));
      at_ = piece.next_offset();
    }
  }
  if (over_ || !session_->exited() || at_ < session_->log().end_offset())
    return;
  auto last = exit_event(*session_->exited(), session_->log().end_offset());
  leave();
  to_->end_stream(std::move(last));
}

void attachment::more(stream which, std::string_view bytes, std::uint64_t offset) {
  if (over_)
    return;
  if (at_ == offset && to_->unsent() <= window) {
    to_->send(session_data_event(which, bytes, offset, terms_.as_base64));
    at_ = offset + bytes.size();
  } else if (at_ < session_->log().start_offset()) {
    leave();
    to_->cut_off(detached_event("slow_reader"));
  }
}

void attachment::ended() {
  heart_ = nullptr;
  if (!over_)
    pump();
}

void attachment::superseded() {
  leave();
  to_->end_stream(detached_event("superseded"));
}

void attachment::leave() {
  over_ = true;
  heart_ = nullptr;
  events_.end();
  if (session_)
    session_->leave(this);
}

void attachment::frame(std::string payload) {
  events_.frame(payload);
}

void attachment::drained() {
  if (!over_ && session_)
    pump();
}

void attachment::input_drained() {
  if (!over_)
    events_.drained();
}

void attachment::closed() {
  leave();
}

} // namespace paddock::guest
