#include "guest/flows/features_of.hpp"

#include "guest/features.hpp"
#include "guest/flows/bounded_call.hpp"
#include "guest/host_replies.hpp"
#include "guest/host_requests.hpp"

#include <algorithm>

namespace paddock::guest {

namespace asio = boost::asio;

asio::awaitable<result<std::vector<std::string>>> features_of(flow_time& time, transport_options with, feature_cache& cache, endpoint where,
                                                              deadline until) {
  auto known = cache.find(where);
  if (known)
    co_return std::move(*known);
  const auto bound = until.no_later_than(time.now() + with.control);
  auto reply = co_await ask(time, with, where, healthz_frame(), control_ceiling, bound);
  if (!reply) {
    // Withdrawn or not, nothing has been started by asking.
    const bool gone = co_await was_withdrawn();
    if (gone)
      co_return tl::unexpected{failure{withdrawn{}}};
    co_return tl::unexpected{std::move(reply.error())};
  }
  auto seen = read_health(*reply);
  if (!seen)
    co_return tl::unexpected{std::move(seen.error())};
  // The pin is judged before the fence, and a pinned cancel is served behind it, so both are for the guest to judge ([G] 4).
  if (!seen->ok && seen->retiring && where.pinned)
    co_return std::move(seen->features);
  if (!seen->ok) {
    if (seen->retiring)
      co_return tl::unexpected{failure{retiring{}}};
    co_return tl::unexpected{refusal_in(*reply).value_or(failure{refused{"not_ready", "the guest is not ready"}})};
  }
  cache.keep(where, seen->features);
  co_return std::move(seen->features);
}

bool has_feature(const std::vector<std::string>& all, std::string_view wanted) {
  return std::ranges::find(all, wanted) != all.end();
}

std::optional<failure> lacks_pin(const endpoint& where, const std::vector<std::string>& all) {
  if (!where.pinned || has_feature(all, feature::pinned_guest))
    return std::nullopt;
  return unsupported{std::string{feature::pinned_guest}};
}

} // namespace paddock::guest
