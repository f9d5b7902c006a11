#pragma once

#include "embedded/admission_policies.hpp"
#include "embedded/authentication.hpp"
#include "embedded/rbac_authorizer.hpp"

namespace paddock::embedded {

/// What stands between a request and the store: who asks, what it may, and which writes are admitted. It looks at the
/// store's own roles, bindings and policies.
class request_gate {
public:
  /// `objects` outlives it. The key signs service accounts' tokens: 32 random bytes that a durable store keeps.
  request_gate(store& objects, std::vector<known_token> tokens, secret signing_key);

  /// Makes the roles that every cluster has.
  api_result<void> bootstrap(store::instant now);
  /// Takes in what was written since the last call, and writes what follows from it: the rules of roles that aggregate, the status of
  /// policies. To be called before a request and after a write.
  void catch_up();
  /// A group of writes has been undone, and some of it was taken in.
  void start_over() noexcept;

  [[nodiscard]] const authenticator& who() const noexcept {
    return who_;
  }
  [[nodiscard]] const rbac_authorizer& rights() const noexcept {
    return rights_;
  }
  /// The 403 for what the user may not do.
  [[nodiscard]] std::optional<api_status> denies(const user_info& who, const access_attributes& what) const;
  /// Whether the write is admitted. `warnings` grows by what the client shall be told.
  [[nodiscard]] api_result<void> admit(const admission_request& what, std::vector<std::string>& warnings) const;
  /// The answer to one of the kinds that are created to ask something.
  [[nodiscard]] api_result<json> review(const user_info& who, const resource_kind& kind, const std::string& name_space, json review,
                                        store::instant now) const;

private:
  store& objects_;
  authenticator who_;
  rbac_authorizer rights_;
  admission_policies policies_;
};

} // namespace paddock::embedded
