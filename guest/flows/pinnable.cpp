#include "guest/flows/pinnable.hpp"

#include "base/flows/unthrown.hpp"
#include "guest/features.hpp"
#include "guest/flows/features_of.hpp"

namespace paddock::guest {

namespace asio = boost::asio;

asio::awaitable<result<void>> pinnable(flow_time& time, transport_options with, feature_cache& cache, endpoint where, deadline until) {
  if (!where.pinned)
    co_return result<void>{};
  auto asking = features_of(time, std::move(with), cache, std::move(where), until);
  auto known = co_await unthrown(std::move(asking));
  if (!known)
    co_return tl::unexpected{std::move(known.error())};
  if (auto problem = lacks_pin(where, *known))
    co_return tl::unexpected{std::move(*problem)};
  co_return result<void>{};
}

} // namespace paddock::guest
