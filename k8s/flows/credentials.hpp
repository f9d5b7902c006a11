#pragma once

#include "base/flows/http.hpp"
#include "base/io_failure.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace paddock::k8s {

/// What one request shows of us.
struct credential {
  secret token;            // empty: no bearer token is sent
  std::string certificate; // PEM, for a client certificate; empty: the one of the server's address, if any
  secret key;              // of `certificate`
  friend bool operator==(const credential&, const credential&) = default;
};

/// Where the credential of a request comes from.
class credential_source {
public:
  virtual ~credential_source() = default;
  /// Asked once before each sending of a request, on the lane of the request; may take its time and may be cancelled. The
  /// text of a failure carries no secret. `time` lives as long as the program.
  virtual boost::asio::awaitable<io_result<credential>> get(const time_source& time) = 0;
  /// The server answered 401 to a request that showed `shown`. True: the next `get` may give another one.
  virtual bool refused(const credential& shown, const time_source& time);
};

/// What `from` gives, or why it has given nothing by `until`. Only the deadline and the caller end the wait; a source that does
/// not answer is left behind. `throw_if_cancelled` has to be off.
boost::asio::awaitable<io_result<credential>> credential_by(std::shared_ptr<credential_source> from, const time_source& time,
                                                            deadline until);

/// Has a request to `to` show it: the token in a header of `in`, the certificate where `to` has none of its own. Refused when
/// the token is not one line.
[[nodiscard]] io_result<void> show(const credential& shown, http_server_address& to, http_request& in);

/// A credential that is kept somewhere. What is a file is read anew for each request, because a cluster rotates it.
struct stored_credential {
  secret token;
  std::filesystem::path token_file;       // wins over `token`; white space at either end is dropped
  std::filesystem::path certificate_file; // with `key_file`, or both empty
  std::filesystem::path key_file;
};

/// A file that is unreadable, empty or too large (64 KiB for a token, 1 MiB for the others) is a failure that names it.
[[nodiscard]] std::shared_ptr<credential_source> stored_credentials(stored_credential where);

/// Always the same token.
[[nodiscard]] std::shared_ptr<credential_source> fixed_token(secret token);
/// The token in `file`.
[[nodiscard]] std::shared_ptr<credential_source> token_file(std::filesystem::path file);

} // namespace paddock::k8s
