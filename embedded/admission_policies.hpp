#pragma once

#include "embedded/admission_policy.hpp"
#include "embedded/authentication.hpp"
#include "embedded/store.hpp"

namespace paddock::embedded {

/// One write that is about to be kept.
struct admission_request {
  const user_info& who;
  const access_attributes& what;
  const resource_kind& kind;
  std::string_view operation; // CREATE, UPDATE or DELETE
  bool dry_run = false;
  const json* object = nullptr; // null: it goes
  const json* old = nullptr;    // null: it is new
};

/// The policies and bindings of a store, ready to be asked.
class admission_policies {
public:
  /// Takes in what was written since the last call. Answers whether a policy was among it.
  bool catch_up(const store& objects);
  /// What was taken in has been undone: the next `catch_up` reads everything.
  void start_over() noexcept {
    seen_ = 0;
  }
  /// Writes the status of the policies that have changed: which expressions this server cannot evaluate.
  void write_status(store& objects);

  /// Asks every policy that is bound and about this write. The failure is the first denial, in the order of policies and
  /// bindings by name; `warnings` grows by what the client shall be told.
  [[nodiscard]] api_result<void> admit(const admission_request& what, const store& objects, std::vector<std::string>& warnings) const;

private:
  bool take(const stored_object& object, bool deleted);

  std::uint64_t seen_ = 0;
  std::map<std::string, admission_policy> policies_;
  std::map<std::string, admission_binding> bindings_;
};

} // namespace paddock::embedded
