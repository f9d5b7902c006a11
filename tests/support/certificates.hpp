#pragma once

#include <memory>
#include <string>
#include <vector>

namespace paddock::test {

/// A certificate and its key as PEM texts.
struct identity_pem {
  std::string certificate;
  std::string key;
};

/// A certificate authority made for one test. Its certificates are good from an hour ago for a day.
class test_authority {
public:
  explicit test_authority(const std::string& name);
  ~test_authority();
  test_authority(const test_authority&) = delete;
  test_authority& operator=(const test_authority&) = delete;

  [[nodiscard]] const std::string& certificate() const;
  /// A certificate for `names`, as OpenSSL writes subject alternative names: `DNS:a,IP:127.0.0.1`.
  [[nodiscard]] identity_pem issue(const std::string& names) const;
  /// A certificate for a client of that common name in these organisations.
  [[nodiscard]] identity_pem issue_client(const std::string& name, const std::vector<std::string>& organizations) const;

private:
  struct keys;
  std::unique_ptr<keys> keys_;
};

} // namespace paddock::test
