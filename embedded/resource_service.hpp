#pragma once

#include "embedded/admission.hpp"
#include "embedded/pod_log_request.hpp"
#include "embedded/store.hpp"
#include "embedded/store_watch.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::embedded {

/// A request as far as its answer depends on it. The user is known already.
struct api_call {
  std::string method;
  std::string target;
  std::string content_type; // empty: none was sent
  std::string accept;
  std::string body;
  user_info user;
  std::string user_agent = {};
};

struct api_answer {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// A watch that may begin, and how long it may last if the client says so.
struct watch_start {
  watch_request request;
  std::optional<std::chrono::seconds> timeout;
};

/// What a request leads to: an answer, or something that goes on for a while.
using outcome = std::variant<api_answer, watch_start, log_request>;

/// Answers one request; without a gate, everybody may do everything. Checks in the order path, right, content type, form, then the
/// store's own. What is not served is refused with the API's error for it (404, 405, 406, 415, 422), never done in part.
[[nodiscard]] outcome serve(store& objects, const api_call& call, const request_gate* gate, store::instant now);

/// The answer to the paths about the server itself: `/healthz`, `/livez`, `/readyz` and `/version`; nothing for another path.
[[nodiscard]] std::optional<api_answer> serve_public(std::string_view method, std::string_view path);

/// The answer that carries a refusal.
[[nodiscard]] api_answer to_answer(const api_status& x);

} // namespace paddock::embedded
