#pragma once

#include "k8s/flows/credentials.hpp"

#include <functional>
#include <string_view>

namespace paddock::k8s {

/// How the answer to a request comes: whole, or, with `on_bytes`, piece by piece as with `http_exchange::stream`.
struct answer_way {
  std::function<bool(std::string_view)> on_bytes;
  time_source::clock::duration silence{}; // with `on_bytes`
  http_limits limits;
  deadline until;
};

/// Why there is no answer.
struct unanswered {
  io_failure why;
  bool of_credential = false; // it did not come: nothing was sent
};

/// Sends `what` to `to` with what `from` gives (null: nothing is added), which has to come by `by`. After a 401 a GET goes out once
/// more when the source says that it may give another credential; whatever else was refused stays so, and so does a second
/// refusal. `throw_if_cancelled` has to be off.
boost::asio::awaitable<tl::expected<http_response, unanswered>> send_authorized(http_exchange& over,
                                                                                std::shared_ptr<credential_source> from,
                                                                                const time_source& time, http_server_address to,
                                                                                http_request what, answer_way how, deadline by);

} // namespace paddock::k8s
