#include "guest/flows/bounded_call.hpp"

#include "guest/flows/requests.hpp"

namespace paddock::guest {

namespace asio = boost::asio;

failure stopped(woke why, const endpoint& where, const trace& seen) {
  if (why == woke::withdrawn)
    return seen.connected ? failure{lost{"withdrawn by the caller after the request was sent"}} : failure{withdrawn{}};
  if (seen.connected)
    return lost{"the time was up before the answer"};
  return dial_failed{where.host, where.port, "the time was up" + (seen.last.empty() ? "" : ", " + seen.last), seen.unresolved};
}

asio::awaitable<result<nlohmann::json>> ask(flow_time& time, transport_options with, endpoint where, std::string frame,
                                            std::uint64_t ceiling, deadline until) {
  auto seen = std::make_shared<trace>();
  auto asking = one_reply(time, std::move(with), where, std::move(frame), ceiling, until, seen);
  auto got = co_await bounded_call<nlohmann::json>(time, std::move(where), std::move(seen), std::move(asking), until);
  co_return got;
}

} // namespace paddock::guest
