#pragma once

#include "base/secret.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

/// The audience of tokens that are for the API server itself, and who issues all of them.
inline constexpr auto server_audience = "https://kubernetes.default.svc";

/// The object that a token ends with: `Pod`, `Secret` or `Node`.
struct bound_object {
  std::string kind;
  std::string name;
  std::string uid;
  friend bool operator==(const bound_object&, const bound_object&) = default;
};

/// What a service account's token says.
struct service_account_claims {
  std::string name_space;
  std::string name;
  std::string uid;
  std::optional<bound_object> bound;
  std::vector<std::string> audiences;
  std::string id;          // `jti`: a new UUID for each token
  std::int64_t issued = 0; // seconds since 1970
  std::int64_t expires = 0;
  friend bool operator==(const service_account_claims&, const service_account_claims&) = default;
};

/// Makes and reads the tokens of service accounts: JSON Web Tokens (RFC 7519) with HMAC-SHA-256 under the cluster's key.
/// Who has not the key can ask with a TokenReview; there is no public half to publish.
class service_account_tokens {
public:
  /// @pre at least 32 bytes of randomness
  explicit service_account_tokens(secret key);

  [[nodiscard]] secret mint(const service_account_claims& what) const;
  /// The claims of a token of ours that is for one of `audiences` at `now`. The failure is a text for people without any
  /// part of the token. That the account and the bound object still exist is the caller's to check. Nothing: no token of
  /// this kind at all, so another method may know it.
  [[nodiscard]] std::optional<tl::expected<service_account_claims, std::string>>
  verify(std::string_view token, const std::vector<std::string>& audiences, std::int64_t now) const;

private:
  secret key_;
};

/// Whether two secrets are the same. How long that takes depends on their lengths only.
[[nodiscard]] bool same_secret(std::string_view a, std::string_view b);

/// HMAC with SHA-256 (RFC 2104), as raw bytes.
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view text);

} // namespace paddock::embedded
