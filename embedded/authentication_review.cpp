#include "embedded/authentication_review.hpp"

#include "embedded/rbac.hpp"

namespace paddock::embedded {

bool carries_token(std::string_view target) {
  const auto read = parse_target(target);
  return !read || read_attributes("POST", *read).resource == "tokenreviews";
}

api_result<json> review_token(const authenticator& known, json review, const store& objects, store::instant now) {
  const auto token = text_at(review, {"spec", "token"});
  if (token.empty())
    return tl::unexpected{bad_request("token is required for TokenReview in authentication")};
  const auto found = known.accept(token, texts_of(review["spec"], "audiences"), objects, now);
  if (found)
    review["status"] = {{"authenticated", true}, {"user", to_json(found->user)}, {"audiences", found->audiences}};
  else
    review["status"] = {{"user", json::object()}, {"error", found.error()}};
  return review;
}

json review_self(const user_info& who, json review, store::instant now) {
  object_at(review, "metadata")["creationTimestamp"] = rfc3339_seconds(now);
  review["status"] = {{"userInfo", to_json(who)}};
  return review;
}

} // namespace paddock::embedded
