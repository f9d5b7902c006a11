#include "k8s/flows/api_client.hpp"

#include "base/flows/unthrown.hpp"
#include "base/flows/wire.hpp"
#include "k8s/answer_class.hpp"
#include "k8s/flows/authorized.hpp"

#include <algorithm>
#include <limits>

namespace paddock::k8s {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t shortest_bound = 1000;
constexpr std::int64_t longest_bound = std::numeric_limits<std::int32_t>::max();

io_failure late() {
  return {io_failure::stage::timeout, false, "out of time"};
}

class api_client final : public streaming_api {
public:
  api_client(http_exchange& over, const time_source& time, api_client_options options) :
    over_(over), time_(time), options_(std::move(options)) {
  }

  asio::awaitable<result<answer>> send(call what, deadline until) override {
    const auto by = bounded(until);
    return unthrown(ask(std::move(what), answer_way{nullptr, {}, options_.limits, by}, left_of(by)));
  }

  asio::awaitable<result<void>> stream(call what, std::function<bool(std::string_view)> on_bytes, time_source::clock::duration silence,
                                       deadline until) override {
    auto how = answer_way{std::move(on_bytes), silence, options_.limits, until};
    return unthrown(streamed(std::move(what), std::move(how), std::min(std::chrono::ceil<milliseconds>(silence), left_of(until))));
  }

private:
  [[nodiscard]] deadline bounded(deadline until) const {
    return until.no_later_than(deadline{time_, milliseconds{options_.request_timeout_ms}});
  }
  [[nodiscard]] milliseconds left_of(deadline until) const {
    return std::chrono::ceil<milliseconds>(until.left(time_));
  }

  asio::awaitable<result<void>> streamed(call what, answer_way how, milliseconds bound) {
    auto got = co_await ask(std::move(what), std::move(how), bound);
    if (!got)
      co_return tl::unexpected{std::move(got.error())};
    co_return result<void>{};
  }

  /// `bound` is what a late answer is told to have had.
  asio::awaitable<result<answer>> ask(call what, answer_way how, milliseconds bound) {
    auto gone = co_await withdrawn();
    if (gone)
      co_return tl::unexpected{failure{cancelled{what.method, what.path, false}}};
    const auto by = bounded(how.until);
    const auto credential_bound = left_of(by);
    if (by.passed(time_))
      co_return no_answer(what, late(), credential_bound);
    auto request = request_for(what);
    if (!request)
      co_return no_answer(what, request.error(), bound);
    auto got = co_await send_authorized(over_, options_.credentials, time_, options_.server, std::move(*request), std::move(how), by);
    if (!got)
      co_return no_answer(what, got.error().why, got.error().of_credential ? credential_bound : bound);
    co_return classify(what, raw(std::move(*got)), time_.wall());
  }

  /// The request without its credential.
  [[nodiscard]] io_result<http_request> request_for(const call& what) const {
    auto request = http_request{};
    request.method = what.method;
    request.target = options_.base_path + what.path;
    request.headers.emplace_back("Accept", "application/json");
    if (what.type == call::content::none)
      return request;
    request.headers.emplace_back("Content-Type", content_type(what.type));
    auto text = body_text(what);
    if (!text)
      return tl::unexpected{io_failure{io_failure::stage::protocol, false, "the body is not UTF-8"}};
    request.body = std::move(*text);
    return request;
  }

  static raw_answer raw(http_response from) {
    auto got = raw_answer{};
    got.status = from.status;
    if (auto type = header(from.headers, "Content-Type"))
      got.content_type = std::string{*type};
    if (auto after = header(from.headers, "Retry-After"))
      got.retry_after = std::string{*after};
    got.body = std::move(from.body);
    return got;
  }

  static result<answer> no_answer(const call& what, const io_failure& why, milliseconds bound) {
    if (why.at == io_failure::stage::cancelled)
      return tl::unexpected{failure{cancelled{what.method, what.path, why.sent}}};
    if (why.at == io_failure::stage::timeout)
      return tl::unexpected{failure{api_timeout{what.method, what.path, bound, why.sent}}};
    return tl::unexpected{
      failure{api_failure{api_failure::transport::connect, what.method, what.path, std::nullopt, std::nullopt, why.sent, to_string(why)}}};
  }

  http_exchange& over_;
  const time_source& time_;
  api_client_options options_;
};

} // namespace

tl::expected<std::unique_ptr<streaming_api>, std::string> make_api_client(http_exchange& over, const time_source& time,
                                                                          api_client_options options) {
  if (options.request_timeout_ms < shortest_bound || options.request_timeout_ms > longest_bound)
    return tl::unexpected{"apiRequestTimeoutMs must be an integer from " + std::to_string(shortest_bound) + " to "
                          + std::to_string(longest_bound) + ", not " + std::to_string(options.request_timeout_ms)};
  return std::make_unique<api_client>(over, time, std::move(options));
}

} // namespace paddock::k8s
