#include "k8s/flows/authorized.hpp"

namespace paddock::k8s {

namespace asio = boost::asio;

namespace {

asio::awaitable<io_result<http_response>> exchanged(http_exchange& over, http_server_address to, http_request what, answer_way how) {
  if (how.on_bytes)
    return over.stream(std::move(to), std::move(what), how.limits, std::move(how.on_bytes), how.silence, how.until);
  return over.send(std::move(to), std::move(what), how.limits, how.until);
}

} // namespace

asio::awaitable<tl::expected<http_response, unanswered>> send_authorized(http_exchange& over, std::shared_ptr<credential_source> from,
                                                                         const time_source& time, http_server_address to, http_request what,
                                                                         answer_way how, deadline by) {
  for (auto repeated = false;; repeated = true) {
    auto shown = credential{};
    if (from) {
      auto got = co_await credential_by(from, time, by);
      if (!got)
        co_return tl::unexpected{unanswered{std::move(got.error()), true}};
      shown = std::move(*got);
    }
    auto where = to;
    auto bearing = what;
    if (auto good = show(shown, where, bearing); !good)
      co_return tl::unexpected{unanswered{std::move(good.error()), true}};
    auto got = co_await exchanged(over, std::move(where), std::move(bearing), how);
    if (!got)
      co_return tl::unexpected{unanswered{std::move(got.error()), false}};
    // Asked of each refusal: the next request may need to know.
    const auto renewable = got->status == 401 && from && from->refused(shown, time);
    if (!renewable || repeated || what.method != "GET")
      co_return std::move(*got);
  }
}

} // namespace paddock::k8s
