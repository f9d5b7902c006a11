#pragma once

#include "base/flows/http.hpp"
#include "embedded/flows/control_client.hpp"
#include "embedded/flows/informer_set.hpp"
#include "tests/embedded/gated_world.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace paddock::test {

/// An API server that is asked without a connection, and whose watches tell nothing: what a controller knows is its first lists
/// and the answers to its own writes. A test may have a request answered otherwise, or its answer lost.
class served_world final : public http_exchange {
public:
  enum class fate { answered, lost, refused }; // lost: carried out, and no answer; refused: 503

  boost::asio::awaitable<io_result<http_response>> send(http_server_address, http_request what, http_limits, deadline) override {
    asked.push_back(what);
    auto how = judge ? judge(what) : fate::answered;
    if (how == fate::refused)
      co_return http_response{503, {}, "{}"};
    auto other = in_place ? in_place(what) : std::nullopt;
    auto got = other ? std::move(*other) : carry_out(what);
    if (how == fate::lost)
      co_return tl::unexpected{io_failure{io_failure::stage::receive, true, "the connection was lost"}};
    co_return got;
  }

  boost::asio::awaitable<io_result<http_response>> stream(http_server_address, http_request, http_limits,
                                                          std::function<bool(std::string_view)>, time_source::clock::duration,
                                                          deadline) override {
    if (expired > 0) {
      --expired;
      co_return http_response{410, {}, "{}"};
    }
    auto lane = co_await boost::asio::this_coro::executor;
    auto never = boost::asio::steady_timer{lane, time_source::clock::time_point::max()};
    [[maybe_unused]] auto [error] = co_await never.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return tl::unexpected{io_failure{io_failure::stage::cancelled, true, "withdrawn"}};
  }

  json get(const std::string& path) {
    auto got = world.ask(world.root, "GET", path);
    return got.status == 200 ? got.body : json{};
  }
  void patch(const std::string& path, const json& body) {
    auto got = world.ask(world.root, "PATCH", path, body, "application/merge-patch+json");
    if (got.status != 200)
      CAF_FAIL(path << ": " << got.body.dump());
  }
  [[nodiscard]] std::size_t count(const std::string& method, const std::string& path) const {
    return static_cast<std::size_t>(
      std::count_if(asked.begin(), asked.end(), [&](const auto& x) { return x.method == method && x.target.starts_with(path); }));
  }

  gated_world world;
  std::function<fate(const http_request&)> judge;
  std::function<std::optional<http_response>(const http_request&)> in_place;
  std::vector<http_request> asked;
  int expired = 0; // watches that are answered 410

private:
  http_response carry_out(const http_request& what) {
    auto type = header(what.headers, "content-type");
    auto got = world.ask(world.root, what.method, what.target, what.body.empty() ? json{} : json::parse(what.body),
                         std::string{type.value_or("application/json")});
    return {got.status, {}, got.body.dump()};
  }
};

/// What a controller or a kubelet is made of in such a world.
struct served_agent {
  boost::asio::io_context on;
  real_flow_time time;
  served_world server;
  control_client client{server, time, http_server_address{}, secret{"t"}};
  std::vector<std::string> log;
  std::function<void(std::string)> say = [this](std::string line) { log.push_back(std::move(line)); };
  informer_set watched{client, on.get_executor(), say};

  [[nodiscard]] bool logged(const std::string& what) const {
    return std::any_of(log.begin(), log.end(), [&](const auto& x) { return x.find(what) != std::string::npos; });
  }
  /// Ends the watches.
  void close() {
    auto over = false;
    watched.close([&over] { over = true; });
    run_until(on, [&over] { return over; });
  }
};

} // namespace paddock::test
