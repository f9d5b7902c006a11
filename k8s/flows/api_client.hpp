#pragma once

#include "base/flows/http.hpp"
#include "k8s/flows/api_stream.hpp"
#include "k8s/flows/credentials.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace paddock::k8s {

struct api_client_options {
  http_server_address server;
  std::string base_path;                          // of the server's URL, before every path; no slash at its end
  std::shared_ptr<credential_source> credentials; // null: nothing is added to what `server` shows
  std::int64_t request_timeout_ms = 30'000;       // `apiRequestTimeoutMs`: at least 1000; cannot be off
  http_limits limits;                             // of one answer
};

/// The API server over HTTP ([C] 2): headers as 2.1, classes as 2.5. The bound of a request starts before its credential is
/// asked for and ends when the body is read; a source that never answers is left behind. A credential that a 401 refused is
/// given back to its source. `over` and `time` outlive the client. Refused, with a text that names the option, when the bound
/// is not allowed.
[[nodiscard]] tl::expected<std::unique_ptr<streaming_api>, std::string> make_api_client(http_exchange& over, const time_source& time,
                                                                                        api_client_options options);

} // namespace paddock::k8s
