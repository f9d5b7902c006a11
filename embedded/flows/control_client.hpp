#pragma once

#include "base/flows/http.hpp"
#include "base/flows/sleep.hpp"
#include "base/secret.hpp"
#include "k8s/call.hpp"
#include "k8s/flows/authorized.hpp"
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
/// one request, and a second one where `k8s/flows/authorized.hpp` says so; the credential is asked for at each, and comes
/// within 10 s or not at all. A cancelled coroutine ends as any failure.
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
  /// The request without its credential, or why there is none.
  [[nodiscard]] tl::expected<http_request, call_failure> request_for(const k8s::call& what) const;
  boost::asio::awaitable<tl::expected<http_response, call_failure>> ask(k8s::call what, k8s::answer_way how);
  boost::asio::awaitable<tl::expected<nlohmann::json, call_failure>> sent(k8s::call what, k8s::answer_way how);
  boost::asio::awaitable<tl::expected<void, call_failure>> streamed(k8s::call what, k8s::answer_way how);

  http_exchange& exchange_;
  flow_time& time_;
  k8s::cluster_access access_;
};

} // namespace paddock::embedded
