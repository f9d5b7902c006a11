#pragma once

#include "base/secret.hpp"
#include "embedded/authentication_token.hpp"
#include "embedded/status.hpp"
#include "embedded/store.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

/// Who asks, as far as rights and reviews depend on it.
struct user_info {
  user_info() = default;
  user_info(std::string user, std::vector<std::string> of = {}) : name(std::move(user)), groups(std::move(of)) {
  }
  user_info(const char* user) : name(user) {
  }

  std::string name;
  std::string uid; // empty: none
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  friend bool operator==(const user_info&, const user_info&) = default;
};

/// As reviews and policies see it.
[[nodiscard]] json to_json(const user_info& x);

/// Who shows neither a certificate nor a token.
[[nodiscard]] user_info anonymous_user();

/// A token that stands for a user from the start of the server to its end.
struct known_token {
  secret token;
  user_info user;
};

/// What the certificate says that a client proved to hold: its common name, its organisations and the SHA-256 of it.
struct certificate_name {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string fingerprint; // lower-case hex
};

/// A token that was accepted.
struct authenticated {
  user_info user;
  std::vector<std::string> audiences; // of those asked for, the ones that the token is for
};

/// Knows who asks. A certificate counts before a token; a bad token is refused and never taken for nobody's.
class authenticator {
public:
  authenticator(std::vector<known_token> tokens, secret signing_key);

  /// The user of a request; nothing when what was shown is not good (401).
  [[nodiscard]] std::optional<user_info> user_of(const std::optional<certificate_name>& certificate, std::string_view authorization,
                                                 const store& objects, store::instant now) const;
  /// Whose token that is, if it is for one of `audiences` (none: the server itself). The failure is worded as a TokenReview
  /// words it. How long it takes says nothing about the known tokens but how long they are.
  [[nodiscard]] tl::expected<authenticated, std::string> accept(std::string_view token, const std::vector<std::string>& audiences,
                                                                const store& objects, store::instant now) const;
  [[nodiscard]] const service_account_tokens& accounts() const noexcept {
    return accounts_;
  }

private:
  std::vector<known_token> known_;
  service_account_tokens accounts_;
};

} // namespace paddock::embedded
