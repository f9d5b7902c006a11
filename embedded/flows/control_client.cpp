#include "embedded/flows/control_client.hpp"

#include "base/flows/unthrown.hpp"
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

tl::expected<http_request, call_failure> control_client::request_for(const k8s::call& what) const {
  auto result = http_request{};
  result.method = what.method;
  result.target = access_.base_path + what.path;
  result.headers.emplace_back("accept", "application/json");
  result.headers.emplace_back("user-agent", "paddock-cluster");
  if (what.type == k8s::call::content::none)
    return result;
  result.headers.emplace_back("content-type", std::string{k8s::content_type(what.type)});
  auto text = k8s::body_text(what);
  if (!text)
    return tl::unexpected{call_failure{0, {}, what.method + " " + what.path + ": the body is not UTF-8"}};
  result.body = std::move(*text);
  return result;
}

boost::asio::awaitable<tl::expected<http_response, call_failure>> control_client::ask(k8s::call what, k8s::answer_way how) {
  auto message = request_for(what);
  if (!message)
    co_return tl::unexpected{std::move(message.error())};
  const auto by = how.until.no_later_than(deadline{time_, request_bound});
  auto got = co_await k8s::send_authorized(exchange_, access_.credentials, time_, access_.server, std::move(*message), std::move(how), by);
  if (!got)
    co_return tl::unexpected{call_failure{0, {}, (got.error().of_credential ? "the credential: " : "") + to_string(got.error().why)}};
  if (got->status < 200 || got->status > 299)
    co_return tl::unexpected{failure_of(*got)};
  co_return std::move(*got);
}

boost::asio::awaitable<tl::expected<nlohmann::json, call_failure>> control_client::sent(k8s::call what, k8s::answer_way how) {
  auto got = co_await ask(std::move(what), std::move(how));
  if (!got)
    co_return tl::unexpected{std::move(got.error())};
  auto body = nlohmann::json::parse(got->body, nullptr, false);
  co_return body.is_discarded() ? nlohmann::json() : std::move(body);
}

boost::asio::awaitable<tl::expected<void, call_failure>> control_client::streamed(k8s::call what, k8s::answer_way how) {
  auto got = co_await ask(std::move(what), std::move(how));
  if (!got)
    co_return tl::unexpected{std::move(got.error())};
  co_return tl::expected<void, call_failure>{};
}

boost::asio::awaitable<tl::expected<nlohmann::json, call_failure>> control_client::send(k8s::call what) {
  return unthrown(sent(std::move(what), k8s::answer_way{nullptr, {}, http_limits{}, deadline{time_, request_bound}}));
}

boost::asio::awaitable<tl::expected<void, call_failure>> control_client::stream(k8s::call what,
                                                                                std::function<bool(std::string_view)> on_bytes,
                                                                                time_source::clock::duration silence, deadline until) {
  return unthrown(streamed(std::move(what), k8s::answer_way{std::move(on_bytes), silence, http_limits{}, until}));
}

} // namespace paddock::embedded
