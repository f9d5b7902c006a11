#pragma once

#include "base/flows/http.hpp"
#include "base/flows/wire.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace paddock {

/// The connections of a client that wait for their next request. One is given out again only to a request for an equal
/// address (authorities, certificate and proxy included) on the io_context that it was opened on. Whatever waits too long
/// is closed, and so is the longest waiting one where a server has too many, or all together. Thread-safe; goes before those
/// io_contexts.
class http_pool {
public:
  explicit http_pool(http_pool_limits limits);
  ~http_pool();
  http_pool(const http_pool&) = delete;
  http_pool& operator=(const http_pool&) = delete;

  /// The connection that has waited shortest and that its peer has not closed; null when there is none.
  [[nodiscard]] std::unique_ptr<wire> take(const http_server_address& to, const boost::asio::any_io_executor& lane);
  void keep(http_server_address to, const boost::asio::any_io_executor& lane, std::unique_ptr<wire> on);

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace paddock
