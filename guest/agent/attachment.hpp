#pragma once

#include "guest/agent/live_session.hpp"
#include "guest/agent/ops.hpp"
#include "guest/agent/stream_heart.hpp"
#include "guest/agent/terminal_events.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace paddock::guest {

/// The connection that is attached to a session, from its opening ([G] 9.3) or later ([G] 9.4).
///
/// It holds no output of its own: it reads the log as the host takes it. So what is unsent is what the log holds, and a host that is
/// further behind is cut off as a slow reader.
class attachment final : public op_handler, public attached_reader, public std::enable_shared_from_this<attachment> {
public:
  attachment(shared_core core, shared_channel to, stream_terms terms);

  /// Says `ready`, becomes the attachment unless the program has ended, and sends what the log holds from `from` on, which is
  /// not beyond its end: one step for whoever else asks. `size`: resizes the terminal once it is attached.
  void begin(std::shared_ptr<live_session> session, std::uint64_t from, std::optional<terminal_size> size);

  [[nodiscard]] bool is_closed() const noexcept {
    return over_;
  }

  // -- op_handler -------------

  void frame(std::string payload) override;
  void drained() override;
  void closed() override;
  [[nodiscard]] bool takes_frames() const override {
    return true;
  }
  [[nodiscard]] std::uint64_t frame_ceiling() const override {
    return core_->config.max_frame_bytes;
  }

  // -- attached_reader ---------

  void more(stream which, std::string_view bytes, std::uint64_t offset) override;
  void ended() override;
  void superseded() override;
  void input_drained() override;

private:
  void pump();
  void leave();

  shared_core core_;
  shared_channel to_;
  stream_terms terms_;
  terminal_events events_;
  std::shared_ptr<live_session> session_;
  std::shared_ptr<stream_heart> heart_;
  std::uint64_t at_ = 0; // sent up to here
  bool over_ = false;
};

} // namespace paddock::guest
