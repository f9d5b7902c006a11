#pragma once

#include "embedded/authentication.hpp"

namespace paddock::embedded {

/// Whether a body that is sent there may hold a token: it is a TokenReview however the path is written, or the path cannot be read.
[[nodiscard]] bool carries_token(std::string_view target);

/// The answer to a TokenReview: whose token it names. Its token stays in it, as the API has it, and nowhere else.
[[nodiscard]] api_result<json> review_token(const authenticator& known, json review, const store& objects, store::instant now);

/// The answer to a SelfSubjectReview: who asks.
[[nodiscard]] json review_self(const user_info& who, json review, store::instant now);

} // namespace paddock::embedded
