#pragma once

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace paddock::k8s {

// The error classes of [C] 2.5. `method` is the HTTP verb, `resource` the path with its query. None carries a token.

/// 401 or 403. The answer's body is left out: it may repeat what was sent.
struct credential_failure {
  std::string verb;
  std::string resource;
  unsigned status = 0;
};

/// 404 or 410.
struct already_gone {
  std::string method;
  std::string resource;
  unsigned status = 0;
};

/// 409: a taken name, a stale version, or a failed precondition; the answer does not tell which.
struct conflict {
  std::string method;
  std::string resource;
};

/// 422 on a JSON patch: a test failed or the patch is malformed; the answer does not tell which.
struct patch_not_applied {
  std::string method;
  std::string resource;
  unsigned status = 0;
};

/// Every other answer, and no answer at all.
struct api_failure {
  enum class transport { status, connect };
  transport how = transport::connect;
  std::string method;
  std::string path;
  std::optional<unsigned> status;                       // absent: no answer
  std::optional<std::chrono::milliseconds> retry_after; // 429 and 503 only
  bool sent = false;                                    // some byte of the request left this process
  std::string cause;                                    // the server's text, or what the transport said
};

/// No answer within the bound. Says nothing about whether a write was applied.
struct api_timeout {
  std::string verb;
  std::string resource;
  std::chrono::milliseconds bound{0};
  bool sent = false;
};

/// The caller withdrew.
struct cancelled {
  std::string method;
  std::string resource;
  bool sent = false;
};

using failure = std::variant<credential_failure, already_gone, conflict, patch_not_applied, api_failure, api_timeout, cancelled>;

template <class T>
using result = tl::expected<T, failure>;

/// For people: names method, path and status.
[[nodiscard]] std::string to_string(const failure& x);

/// The reason of [W] 7.3 without `Kubernetes` and `Error`: `Credential`, `AlreadyGone`, `Conflict`, `PatchNotApplied`, `Api`,
/// `ApiTimeout`; `Cancelled` for the caller's own.
[[nodiscard]] std::string_view reason_of(const failure& x);

/// The fields of the error, for programs. Carries no token.
[[nodiscard]] nlohmann::json details_of(const failure& x);

/// Whether a write that failed so may have been applied all the same ([W] P13): a timeout, a 5xx, a 429, or a connection lost or
/// cancelled after a byte was sent. A refused connection and every other 4xx: nothing happened.
[[nodiscard]] bool outcome_unknown(const failure& x);

} // namespace paddock::k8s
