#include "guest/flows/transport.hpp"

#include "base/flows/unthrown.hpp"
#include "guest/features.hpp"
#include "guest/flows/bounded_call.hpp"
#include "guest/flows/controller.hpp"
#include "guest/flows/feature_cache.hpp"
#include "guest/flows/features_of.hpp"
#include "guest/flows/pinnable.hpp"
#include "guest/host_replies.hpp"
#include "guest/host_requests.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

// Around the content of a reply.
constexpr std::uint64_t reply_overhead = 64 * 1024;

tl::unexpected<failure> fail(failure x) {
  return tl::unexpected{std::move(x)};
}

/// Collects an input that has to fit one request. Stops reading once it no longer does.
asio::awaitable<std::string> whole_input(input_source& input) {
  auto all = std::string{};
  while (all.size() <= request_ceiling) {
    auto piece = co_await input.next();
    if (piece.empty())
      break;
    all += piece;
  }
  co_return all;
}

health health_of(readiness x) {
  return {x.ok, x.retiring, x.protocol_version, std::move(x.features)};
}

class tcp_host final : public host {
public:
  tcp_host(flow_time& time, transport_options with) : time_(time), with_(std::move(with)), features_(with_.cached_endpoints) {
  }

  asio::awaitable<result<execution>> execute(endpoint where, command what, output_sink& output, input_source* input,
                                             deadline until) override {
    return execute_timed(std::move(where), std::move(what), output, input, until, nullptr);
  }

  asio::awaitable<result<execution>> execute_timed(endpoint where, command what, output_sink& output, input_source* input, deadline until,
                                                   std::shared_ptr<execution_timing> spent) override {
    return unthrown(prepared(std::move(where), std::move(what), &output, input, until, std::move(spent)));
  }

  asio::awaitable<result<health>> look(endpoint where, deadline until) override {
    auto reply = co_await ask(where, healthz_frame(), control_ceiling, until);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    auto seen = read_health(*reply);
    if (!seen)
      co_return tl::unexpected{std::move(seen.error())};
    if (seen->ok)
      features_.keep(where, seen->features);
    co_return health_of(std::move(*seen));
  }

  asio::awaitable<result<file_content>> read_file(endpoint where, std::string path, std::size_t limit, deadline until) override {
    auto frame = read_file_frame(where, path);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    auto may = co_await pinnable(time_, with_, features_, where, until);
    if (!may)
      co_return tl::unexpected{std::move(may.error())};
    const auto room = (std::min<std::uint64_t>(limit, with_.reply_ceiling) + 2) / 3 * 4 + reply_overhead;
    auto reply = co_await ask(where, std::move(*frame), std::min(room, with_.reply_ceiling), until);
    if (!reply) {
      const auto* why = std::get_if<refused>(&reply.error());
      if (why != nullptr && why->code == "reply_too_large")
        co_return too_long(limit);
      co_return tl::unexpected{std::move(reply.error())};
    }
    auto bytes = read_content(*reply);
    if (!bytes)
      co_return tl::unexpected{std::move(bytes.error())};
    if (bytes->size() > limit)
      co_return too_long(limit);
    co_return file_content{std::move(*bytes), boot_in(*reply)};
  }

  asio::awaitable<result<file_written>> write_file(endpoint where, std::string path, std::string bytes, deadline until) override {
    auto frame = write_file_frame(where, path, bytes);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    auto may = co_await pinnable(time_, with_, features_, where, until);
    if (!may)
      co_return tl::unexpected{std::move(may.error())};
    const auto size = bytes.size();
    bytes = {};
    auto reply = co_await ask(where, std::move(*frame), control_ceiling, until);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    auto written = read_written(*reply, size);
    if (!written)
      co_return tl::unexpected{std::move(written.error())};
    co_return file_written{*written, boot_in(*reply)};
  }

private:
  static tl::unexpected<failure> too_long(std::size_t limit) {
    return fail(refused{"file_too_large", "file_too_large: the file has more than " + std::to_string(limit) + " bytes"});
  }

  asio::awaitable<result<nlohmann::json>> ask(endpoint where, std::string frame, std::uint64_t ceiling, deadline until) {
    return guest::ask(time_, with_, std::move(where), std::move(frame), ceiling, until);
  }

  /// What has to be known before anything is reserved, then the execution. `throw_if_cancelled` is off.
  asio::awaitable<result<execution>> prepared(endpoint where, command what, output_sink* output, input_source* input, deadline until,
                                              std::shared_ptr<execution_timing> spent) {
    const auto began = time_.now();
    const bool gone = co_await was_withdrawn();
    if (gone)
      co_return nothing_ran(began);
    if (until.passed(time_))
      co_return fail(lost{"the time was up before anything was sent"});
    what.with_input = input != nullptr;
    // A request that no guest would take is refused before any guest is asked.
    auto plain = execute_frame(where, std::string{model_execution_id}, what, execution_form{});
    if (!plain)
      co_return tl::unexpected{std::move(plain.error())};
    auto known = co_await features_of(time_, with_, features_, where, until);
    if (!known) {
      if (std::holds_alternative<withdrawn>(known.error()))
        co_return nothing_ran(began);
      co_return tl::unexpected{std::move(known.error())};
    }
    if (auto problem = lacks_pin(where, *known))
      co_return fail(std::move(*problem));
    auto plan = execution_plan{where, std::move(what), {}, output, nullptr, std::move(spent)};
    plan.form.bytes = has_feature(*known, feature::exec_bytes);
    if (plan.form.bytes) {
      plan.input = input;
    } else if (input != nullptr) {
      auto collected = co_await collect(*input, until);
      if (!collected) {
        if (std::holds_alternative<withdrawn>(collected.error()))
          co_return nothing_ran(began);
        co_return tl::unexpected{std::move(collected.error())};
      }
      plan.form.text_input = std::move(*collected);
    }
    auto whole = execute_frame(where, std::string{model_execution_id}, plan.what, plan.form);
    if (!whole)
      co_return tl::unexpected{std::move(whole.error())};
    co_return co_await run_execution(time_, with_, std::move(plan), until, began);
  }

  [[nodiscard]] execution nothing_ran(time_source::clock::time_point began) const {
    return {synthetic_end(std::chrono::duration_cast<std::chrono::milliseconds>(time_.now() - began)), std::nullopt};
  }

  asio::awaitable<result<std::string>> collect(input_source& input, deadline until) {
    auto lane = co_await asio::this_coro::executor;
    auto kin = std::make_shared<family>(time_, lane);
    auto reading = kin->start(whole_input(input));
    const auto why = co_await kin->settle(reading, until.at(), true);
    co_await kin->close();
    if (why == woke::withdrawn)
      co_return fail(withdrawn{});
    if (why == woke::late)
      co_return fail(lost{"the time was up before the input was whole; nothing was sent"});
    if (!reading->value)
      co_return fail(lost{reading->thrown().value_or("the input ended early") + "; nothing was sent"});
    co_return std::move(*reading->value);
  }

  flow_time& time_;
  transport_options with_;
  feature_cache features_;
};

} // namespace

std::unique_ptr<host> make_host(flow_time& time, transport_options options) {
  return std::make_unique<tcp_host>(time, std::move(options));
}

} // namespace paddock::guest
