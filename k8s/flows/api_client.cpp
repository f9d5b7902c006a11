#include "k8s/flows/api_client.hpp"

#include "base/flows/wire.hpp"
#include "k8s/answer_class.hpp"

#include <boost/asio/this_coro.hpp>

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
    const bool throwing = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    const auto by = bounded(until);
    auto how = sending{&over_, options_.limits, by};
    auto got = co_await ask(std::move(what), by, std::chrono::ceil<milliseconds>(by.left(time_)), std::move(how));
    co_await asio::this_coro::throw_if_cancelled(throwing);
    co_return got;
  }

  asio::awaitable<result<void>> stream(call what, std::function<bool(std::string_view)> on_bytes, time_source::clock::duration silence,
                                       deadline until) override {
    const bool throwing = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    auto how = streaming{&over_, options_.limits, std::move(on_bytes), silence, until};
    const auto bound = std::chrono::ceil<milliseconds>(std::min(silence, until.left(time_)));
    auto got = co_await ask(std::move(what), bounded(until), bound, std::move(how));
    co_await asio::this_coro::throw_if_cancelled(throwing);
    if (!got)
      co_return tl::unexpected{std::move(got.error())};
    co_return result<void>{};
  }

private:
  /// The two ways to have a request answered.
  struct sending {
    http_exchange* over;
    http_limits limits;
    deadline by;

    asio::awaitable<io_result<http_response>> operator()(http_server_address where, http_request what) {
      return over->send(std::move(where), std::move(what), limits, by);
    }
  };
  struct streaming {
    http_exchange* over;
    http_limits limits;
    std::function<bool(std::string_view)> on_bytes;
    time_source::clock::duration silence;
    deadline until;

    asio::awaitable<io_result<http_response>> operator()(http_server_address where, http_request what) {
      return over->stream(std::move(where), std::move(what), limits, on_bytes, silence, until);
    }
  };

  [[nodiscard]] deadline bounded(deadline until) const {
    return until.no_later_than(deadline{time_, milliseconds{options_.request_timeout_ms}});
  }

  /// `by` bounds how long a credential may take, `bound` is what a late answer is told to have had.
  template <class How>
  asio::awaitable<result<answer>> ask(call what, deadline by, milliseconds bound, How how) {
    auto gone = co_await withdrawn();
    if (gone)
      co_return tl::unexpected{failure{cancelled{what.method, what.path, false}}};
    if (by.passed(time_))
      co_return no_answer(what, late(), bound);
    const auto request = request_for(what);
    if (!request)
      co_return no_answer(what, request.error(), bound);
    for (auto repeated = false;; repeated = true) {
      auto shown = credential{};
      if (options_.credentials) {
        auto got = co_await credential_by(options_.credentials, time_, by);
        if (!got)
          co_return no_answer(what, got.error(), bound);
        shown = std::move(*got);
      }
      auto where = options_.server;
      auto bearing = *request;
      if (auto good = show(shown, where, bearing); !good)
        co_return no_answer(what, good.error(), bound);
      auto got = co_await how(std::move(where), std::move(bearing));
      if (!got)
        co_return no_answer(what, got.error(), bound);
      const auto renewable = got->status == 401 && options_.credentials && options_.credentials->refused(shown, time_);
      if (!renewable || repeated || what.method != "GET")
        co_return classify(what, raw(std::move(*got)), time_.wall());
    }
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
    auto text = text_of(what.body);
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

  /// Nothing when some text in it is not UTF-8: it must not reach an object changed.
  static std::optional<std::string> text_of(const nlohmann::json& body) {
    try {
      return body.dump();
    } catch (const nlohmann::json::type_error&) {
      return std::nullopt;
    }
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
