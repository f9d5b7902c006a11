#include "embedded/admission.hpp"

#include "embedded/authentication_review.hpp"
#include "embedded/rbac_aggregation.hpp"
#include "embedded/rbac_defaults.hpp"
#include "embedded/rbac_escalation.hpp"
#include "embedded/rbac_review.hpp"

namespace paddock::embedded {

request_gate::request_gate(store& objects, std::vector<known_token> tokens, secret signing_key) :
  objects_(objects), who_(std::move(tokens), std::move(signing_key)) {
}

api_result<void> request_gate::bootstrap(store::instant now) {
  auto made = make_default_roles(objects_, now);
  catch_up();
  return made;
}

void request_gate::start_over() noexcept {
  rights_.start_over();
  policies_.start_over();
}

void request_gate::catch_up() {
  if (rights_.catch_up(objects_) && aggregate_roles(objects_))
    rights_.catch_up(objects_);
  if (policies_.catch_up(objects_))
    policies_.write_status(objects_);
}

std::optional<api_status> request_gate::denies(const user_info& who, const access_attributes& what) const {
  if (rights_.decide(who, what).allowed)
    return std::nullopt;
  return access_denied(what, who.name);
}

api_result<void> request_gate::admit(const admission_request& what, std::vector<std::string>& warnings) const {
  if (what.object != nullptr)
    if (auto granted = check_grant(rights_, what.who, what.what, what.kind, *what.object, what.old); !granted)
      return granted;
  return policies_.admit(what, objects_, warnings);
}

api_result<json> request_gate::review(const user_info& who, const resource_kind& kind, const std::string& name_space, json review,
                                      store::instant now) const {
  object_at(review, "metadata");
  if (kind.kind == "TokenReview")
    return review_token(who_, std::move(review), objects_, now);
  if (kind.kind == "SelfSubjectReview")
    return review_self(who, std::move(review), now);
  if (kind.kind == "SelfSubjectRulesReview")
    return review_rules(rights_, who, std::move(review));
  return review_access(rights_, who, kind, name_space, std::move(review));
}

} // namespace paddock::embedded
