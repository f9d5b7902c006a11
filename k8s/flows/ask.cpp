#include "k8s/flows/ask.hpp"

#include "base/flows/withdrawal.hpp"

namespace paddock::k8s {

namespace asio = boost::asio;

asio::awaitable<result<answer>> ask(api& server, const time_source& time, call what, deadline until) {
  auto over = co_await withdrawn();
  if (over)
    co_return tl::unexpected{failure{cancelled{what.method, what.path, false}}};
  if (until.passed(time))
    co_return tl::unexpected{failure{api_timeout{what.method, what.path, std::chrono::milliseconds{0}, false}}};
  auto got = co_await server.send(std::move(what), until);
  co_return got;
}

asio::awaitable<result<nlohmann::json>> read(api& server, const time_source& time, std::string path, deadline until) {
  const auto what = get(std::move(path));
  auto got = co_await ask(server, time, what, until);
  if (!got)
    co_return tl::unexpected{got.error()};
  if (!*got)
    co_return tl::unexpected{failure{
      api_failure{api_failure::transport::status, what.method, what.path, std::nullopt, std::nullopt, true, "the answer has no body"}}};
  co_return std::move(**got);
}

} // namespace paddock::k8s
