#pragma once

#include "base/flows/http.hpp"

#include <boost/asio/buffer.hpp>

#include <memory>

namespace paddock {

struct received_request {
  http_request what;
  bool keep = false; // the connection is for another request, too
  bool old = false;  // HTTP/1.0
};

/// Reads the requests of one connection from its bytes, one after another. Of one request at a time: `read` until it is not `more`, and
/// between two calls bytes of the connection go to `room`.
class http_request_reader {
public:
  enum class progress { more, whole, refused };

  explicit http_request_reader(http_limits bound);
  ~http_request_reader();
  http_request_reader(const http_request_reader&) = delete;
  http_request_reader& operator=(const http_request_reader&) = delete;

  /// Where the next bytes go. `arrived` says how many have come.
  [[nodiscard]] boost::asio::mutable_buffer room();
  void arrived(std::size_t n);
  /// Goes as far as the bytes at hand do; `more`: they are not the whole request.
  [[nodiscard]] progress read();
  /// True once in a request whose client sends no body before it is told to go on.
  [[nodiscard]] bool invites();
  /// After `whole`. What is read next is another request.
  [[nodiscard]] received_request take();
  /// After `refused`: the status that says why. Nothing is read any more.
  [[nodiscard]] unsigned refusal() const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace paddock
