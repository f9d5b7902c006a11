#pragma once

#include "base/flows/http.hpp"
#include "base/flows/sleep.hpp"
#include "base/secret.hpp"
#include "k8s/call.hpp"
#include "k8s/flows/credentials.hpp"
#include "k8s/flows/kubeconfig.hpp"

#include <boost/asio/awaitable.hpp>
#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <string>

namespace paddock::embedded {

/// An answer that is not 2xx, or none.
struct call_failure {
  unsigned status = 0; // 0: no answer
  std::string reason;  // of the Status object: `AlreadyExists`, `NotFound`, …
  std::string message; // for people
};

/// The API server as the controllers and the kubelet reach it: HTTP with a bearer token or a client certificate, like every
/// other client. Unlike the host's client it keeps the server's reason and message, which controllers report. One `send` is
/// one request; the credential is asked for at each.
class control_client {
public:
  control_client(http_exchange& exchange, flow_time& time, k8s::cluster_access access);
  control_client(http_exchange& exchange, flow_time& time, http_server_address where, secret token);
  /// The object answered; null where there is none. Over within 10 s.
  boost::asio::awaitable<tl::expected<nlohmann::json, call_failure>> send(k8s::call what);
  /// A watch: the bytes of the answer go to `on_bytes` as they come; false ends it well. Ends with the stream, after
  /// `silence` without a byte, at `until`, or with the failure.
  boost::asio::awaitable<tl::expected<void, call_failure>> stream(k8s::call what, std::function<bool(std::string_view)> on_bytes,
                                                                  time_source::clock::duration silence, deadline until);
  [[nodiscard]] flow_time& time() noexcept {
    return time_;
  }

private:
  struct outgoing {
    http_server_address where;
    http_request what;
    k8s::credential shown;
  };
  /// The request with its credential, or why there is none.
  boost::asio::awaitable<tl::expected<outgoing, call_failure>> request(k8s::call what);
  tl::expected<void, call_failure> judge(const outgoing& sent, const io_result<http_response>& got);

  http_exchange& exchange_;
  flow_time& time_;
  k8s::cluster_access access_;
};

} // namespace paddock::embedded
