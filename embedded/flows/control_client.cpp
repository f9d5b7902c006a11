#include "embedded/flows/control_client.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

namespace {

using namespace std::chrono_literals;

constexpr auto request_bound = 10s;

call_failure failure_of(const http_response& answer) {
  auto body = nlohmann::json::parse(answer.body, nullptr, false);
  auto result = call_failure{answer.status, {}, {}};
  if (body.is_object()) {
    result.reason = text_in(body, "/reason");
    result.message = text_in(body, "/message");
  }
  if (result.message.empty())
    result.message = "the API server answered " + std::to_string(answer.status);
  return result;
}

} // namespace

control_client::control_client(http_exchange& exchange, flow_time& time, k8s::cluster_access access) :
  exchange_(exchange), time_(time), access_(std::move(access)) {
}

control_client::control_client(http_exchange& exchange, flow_time& time, http_server_address where, secret token) :
  control_client(exchange, time, k8s::cluster_access{std::move(where), {}, k8s::fixed_token(std::move(token)), {}}) {
}

boost::asio::awaitable<tl::expected<control_client::outgoing, call_failure>> control_client::request(k8s::call what) {
  auto result = outgoing{};
  result.where = access_.server;
  result.what.method = what.method;
  result.what.target = access_.base_path + what.path;
  result.what.headers.emplace_back("accept", "application/json");
  if (what.type != k8s::call::content::none) {
    result.what.headers.emplace_back("content-type", std::string{k8s::content_type(what.type)});
    result.what.body = what.body.dump();
  }
  if (access_.credentials) {
    auto got = co_await access_.credentials->get(time_);
    if (!got)
      co_return tl::unexpected{call_failure{0, {}, to_string(got.error())}};
    result.shown = std::move(*got);
    if (auto good = k8s::show(result.shown, result.where, result.what); !good)
      co_return tl::unexpected{call_failure{0, {}, to_string(good.error())}};
  }
  co_return result;
}

tl::expected<void, call_failure> control_client::judge(const outgoing& sent, const io_result<http_response>& got) {
  if (!got)
    return tl::unexpected{call_failure{0, {}, to_string(got.error())}};
  if (got->status == 401 && access_.credentials)
    access_.credentials->refused(sent.shown, time_); // the next request may show another
  if (got->status < 200 || got->status > 299)
    return tl::unexpected{failure_of(*got)};
  return {};
}

boost::asio::awaitable<tl::expected<nlohmann::json, call_failure>> control_client::send(k8s::call what) {
  auto message = co_await request(std::move(what));
  if (!message)
    co_return tl::unexpected{message.error()};
  const auto by = deadline{time_, request_bound};
  auto got = co_await exchange_.send(message->where, message->what, http_limits{}, by);
  if (auto good = judge(*message, got); !good)
    co_return tl::unexpected{good.error()};
  auto body = nlohmann::json::parse(got->body, nullptr, false);
  co_return body.is_discarded() ? nlohmann::json() : std::move(body);
}

boost::asio::awaitable<tl::expected<void, call_failure>> control_client::stream(k8s::call what,
                                                                                std::function<bool(std::string_view)> on_bytes,
                                                                                time_source::clock::duration silence, deadline until) {
  auto message = co_await request(std::move(what));
  if (!message)
    co_return tl::unexpected{message.error()};
  auto got = co_await exchange_.stream(message->where, message->what, http_limits{}, std::move(on_bytes), silence, until);
  co_return judge(*message, got);
}

} // namespace paddock::embedded
