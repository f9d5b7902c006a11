#pragma once

#include "base/time.hpp"
#include "guest/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace paddock::guest {

/// An op that owns its connection until it ends: what it hears of it. Wire thread only.
class op_handler {
public:
  virtual ~op_handler() = default;
  /// A later frame of the host, the empty one included.
  virtual void frame(std::string payload) = 0;
  /// Some of what was unsent has gone.
  virtual void drained() {
  }
  /// The host has left, or the connection was destroyed. Once, unless the op ended the stream and it was flushed. What is
  /// sent from now on is dropped; what was queued before may still reach a host that has only ended its side.
  virtual void closed() = 0;
  /// Whether it ends with its host even while that is not read: then what the host had sent and was not read is lost.
  [[nodiscard]] virtual bool ends_with_host() const {
    return false;
  }
  /// Whether it wants later frames at all; otherwise their payloads are dropped as they arrive.
  [[nodiscard]] virtual bool takes_frames() const = 0;
  /// The largest later frame that is taken; an announced length above it destroys the connection, unless `drops`.
  [[nodiscard]] virtual std::uint64_t frame_ceiling() const = 0;
  /// Whether a frame above the ceiling is dropped as it arrives, and the connection stays.
  [[nodiscard]] virtual bool drops(std::uint64_t /*announced*/) const {
    return false;
  }
};

/// The connection, as its op sees it. Kept by whoever holds it; a channel that is closed ignores every call.
class channel {
public:
  virtual ~channel() = default;

  virtual void send(std::string payload) = 0;
  /// As `send`, of a frame that has its header already: bulk is not copied once more.
  virtual void send_frame(std::string frame) {
    send(frame.substr(frame_header_size));
  }
  virtual void send_terminator() = 0;
  /// The guest's side ends after what is queued; nothing is sent any more.
  virtual void finish() = 0;
  /// Destroys the connection at once; `closed` follows on the op that owns it.
  virtual void destroy() = 0;
  /// Destroys the connection of a host that does not keep up: of what is unsent only the frame that has begun is finished, then
  /// `last` is sent, if the host takes both within the grace of a refusal.
  virtual void cut_off(std::string last) = 0;

  /// A reply op's only frame.
  void reply(std::string payload) {
    send(std::move(payload));
    finish();
  }
  /// The last frame of a terminated stream.
  virtual void end_stream(std::string event) {
    send(std::move(event));
    send_terminator();
    finish();
  }

  /// Queued, and not yet taken by the kernel.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// The host can neither be heard nor told anything any more.
  [[nodiscard]] virtual bool gone() const = 0;

  /// Back-pressure toward the host. Frames that were read already are still handed over.
  virtual void pause_reading() = 0;
  virtual void resume_reading() = 0;
  [[nodiscard]] virtual bool reading_paused() const = 0;
  /// When the last byte of the host arrived.
  [[nodiscard]] virtual time_source::clock::time_point last_byte() const = 0;
};

} // namespace paddock::guest
