#pragma once

#include "base/flows/http.hpp"
#include "tests/support/certificates.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test {

/// How one request goes wrong on its way.
struct mishap {
  enum class kind {
    none,          // it passes
    lose_request,  // the client's connection ends once the request was read; the server never sees it
    lose_answer,   // the server has answered, so it has committed; the client's connection ends after `after` bytes of that
    stall_request, // nothing is forwarded and nothing is closed; the server never sees the request
    stall_answer,  // the server has answered; after `after` bytes of that nothing is forwarded and nothing is closed
    drip,          // the answer comes in pieces of `piece` bytes, `gap` apart
    answer,        // the proxy answers `text` itself; the server never sees the request
  };
  kind what = kind::none;
  bool reset = false; // a connection that ends does so by a TCP reset
  std::size_t after = 0;
  std::size_t piece = 1;
  std::chrono::milliseconds gap{1};
  std::string text = {}; // a whole HTTP answer, such as `script::answer` makes
};

/// A mishap and the requests that it happens to: the next `times` whose first line begins with `match` (`GET /api/`, `PATCH `,
/// or nothing for every request). Of several steps that fit, the earliest that is not used up.
struct proxy_step {
  std::string match;
  mishap what;
  unsigned times = 1;
};

struct fault_proxy_options {
  http_server_address server;           // where requests go; over TLS and as whom, if it says so
  std::optional<identity_pem> identity; // speaks TLS to clients; absent: plain
  std::vector<proxy_step> steps;
};

/// A proxy on loopback in front of any API server: forwards HTTP/1.1 request by request, each client connection over one of its
/// own, and has happen what its steps say. What is no plain request any more (a chunked body, an upgrade) is forwarded as bytes
/// from there on. It runs on a thread of its own; every function may be called from any thread. The port is the kernel's choice.
class fault_proxy {
public:
  explicit fault_proxy(fault_proxy_options how);
  ~fault_proxy();
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// More steps, after those that are there.
  void add(proxy_step step);
  /// `METHOD /target` of every request read so far.
  [[nodiscard]] std::vector<std::string> requests() const;
  /// Client connections accepted so far, those whose TLS handshake failed included.
  [[nodiscard]] std::size_t connections() const;
  /// Waits until `n` client connections have ended, whoever ended them. False: not within `bound`.
  [[nodiscard]] bool wait_for_closed(std::size_t n, std::chrono::seconds bound = std::chrono::seconds{10}) const;

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace paddock::test
