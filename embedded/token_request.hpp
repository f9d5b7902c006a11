#pragma once

#include "embedded/authentication.hpp"

namespace paddock::embedded {

/// Answers a TokenRequest for a service account: its spec with what the server fills in, and the token. One that is bound to an
/// object names it with its uid.
[[nodiscard]] api_result<json> answer_token_request(const service_account_tokens& accounts, const store& objects,
                                                    const std::string& name_space, const std::string& name, json request,
                                                    store::instant now);

} // namespace paddock::embedded
