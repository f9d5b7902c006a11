#pragma once

#include "base/time.hpp"
#include "guest/command.hpp"
#include "guest/failure.hpp"
#include "guest/flows/observer.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::guest {

/// Takes the output of a command. The guest is read only as fast as these coroutines return, so a slow taker bounds memory
/// at every hop.
class output_sink {
public:
  virtual ~output_sink() = default;
  virtual boost::asio::awaitable<void> take(stream which, std::string bytes) = 0;
};

/// Gives the input of a command, at most 64 KiB a piece.
class input_source {
public:
  virtual ~input_source() = default;
  /// The next piece; empty at the end of the input.
  virtual boost::asio::awaitable<std::string> next() = 0;
};

struct health {
  bool ok = false;
  bool retiring = false;
  int protocol_version = 0;
  std::vector<std::string> features;
};

struct file_content {
  std::string bytes;
  std::optional<guest_boot_id> boot;
};

struct file_written {
  std::uint64_t bytes = 0;
  std::optional<guest_boot_id> boot;
};

struct execution {
  command_end end;
  std::optional<guest_boot_id> boot; // of the guest that accepted the reservation
};

/// The host's side of the guest protocol ([G] 16-20), over a fresh connection a request. Every call is over by `until`
/// plus, for `execute`, the confirmed cancel of [G] 20.2 (8 s). `guest/flows/transport.hpp` makes the real one; tests
/// script their own (tests/support/scripted_guest.hpp).
class host {
public:
  virtual ~host() = default;

  /// Reserves, executes, and on cancellation of this coroutine or at `until` cancels and confirms ([G] 20). `input` may
  /// be null. A coroutine that is cancelled still answers: the end when it is confirmed, `cancellation_unknown` otherwise.
  virtual boost::asio::awaitable<result<execution>> execute(endpoint where, command what, output_sink& output, input_source* input,
                                                            deadline until) = 0;
  /// As `execute`, and adds to `spent` what it took, however it ends.
  virtual boost::asio::awaitable<result<execution>> execute_timed(endpoint where, command what, output_sink& output, input_source* input,
                                                                  deadline until, std::shared_ptr<execution_timing> /*spent*/) {
    return execute(std::move(where), std::move(what), output, input, until);
  }
  virtual boost::asio::awaitable<result<health>> look(endpoint where, deadline until) = 0;
  /// The whole file; more than `limit` bytes is `refused` with the code `file_too_large`.
  virtual boost::asio::awaitable<result<file_content>> read_file(endpoint where, std::string path, std::size_t limit, deadline until) = 0;
  /// Durable and atomically visible when it succeeds ([G] 7.4).
  virtual boost::asio::awaitable<result<file_written>> write_file(endpoint where, std::string path, std::string bytes, deadline until) = 0;
};

} // namespace paddock::guest
