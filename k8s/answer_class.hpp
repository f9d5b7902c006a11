#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"
#include "k8s/failure.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::k8s {

/// What a server answered, as far as its class depends on it.
struct raw_answer {
  unsigned status = 0;
  std::optional<std::string> content_type;
  std::optional<std::string> retry_after;
  std::string body;
};

/// The class of an answer ([C] 2.4, 2.5): the value, no value, or which failure. `now` is for a Retry-After that is a date.
[[nodiscard]] result<std::optional<nlohmann::json>> classify(const call& asked, const raw_answer& got,
                                                             time_source::wall_clock::time_point now);

/// A Retry-After: seconds or an HTTP date; negative or past is 0, unreadable is absent.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(std::string_view text, time_source::wall_clock::time_point now);

} // namespace paddock::k8s
