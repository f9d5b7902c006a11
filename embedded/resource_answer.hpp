#pragma once

#include "embedded/resource_service.hpp"

namespace paddock::embedded {

// Answers, as data.

/// The text gets its line end.
[[nodiscard]] api_answer make_answer(unsigned status, std::string text, std::string content_type = "application/json");
[[nodiscard]] api_answer page_not_found();
/// What a DELETE answers whose object has gone.
[[nodiscard]] api_answer gone_answer(const resource_kind& kind, const stored_object& gone);
/// What a subresource answers that has been carried out and has nothing to show.
[[nodiscard]] api_answer done_answer(unsigned status);
/// Once for each answer. As the server does it: each text once; when they are too long together, each is cut, and no more are told than
/// that holds.
void add_warnings(api_answer& out, const std::vector<std::string>& texts);

} // namespace paddock::embedded
