#pragma once

#include "guest/flows/host_connection.hpp"
#include "guest/flows/transport.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace paddock::guest {

/// Takes the events of a terminated stream, one by one and in order; the connection is not read meanwhile.
class event_sink {
public:
  virtual ~event_sink() = default;
  /// One payload that is not blank, and not parsed. A failure ends the stream, and is what the call fails with. It must
  /// end when it is cancelled.
  virtual boost::asio::awaitable<result<void>> take(std::string payload) = 0;
  /// Whether the event that ends the stream has been taken, so that the terminator may come.
  [[nodiscard]] virtual bool complete() const = 0;
};

/// What one terminated stream is about.
struct framed_stream {
  endpoint where;
  std::string frame;           // the whole request
  std::string name = "stream"; // in texts
  std::string last = "end";    // in texts: the event that ends it
  /// Silence while the host reads; the time in `take` does not count. Absent: silence is no failure.
  std::optional<std::chrono::milliseconds> idle{};
  std::uint64_t ceiling = 16 * 1024 * 1024; // of one event
  std::shared_ptr<trace> seen = std::make_shared<trace>();
};

/// Runs a terminated stream to its end ([G] 16.6): dials until `dial_until`, sends the request, and hands every event to
/// `to`. Success proves that the stream was complete, that its terminator came next, and that the peer then closed with
/// nothing more to say. A connection that ends early is `lost`; everything that may not come is `protocol_failure`. It has
/// no bound in all: whoever starts it stops it (`bounded_call`). `to` and `time` outlive it.
boost::asio::awaitable<result<void>> run_framed_stream(flow_time& time, transport_options with, framed_stream it, event_sink& to,
                                                       deadline dial_until);

} // namespace paddock::guest
