#include "guest/flows/work_transport.hpp"

#include "base/flows/unthrown.hpp"
#include "base/random.hpp"
#include "guest/execution_registry.hpp"
#include "guest/features.hpp"
#include "guest/flows/attach.hpp"
#include "guest/flows/bounded_call.hpp"
#include "guest/flows/confirmed_cancel.hpp"
#include "guest/flows/detached.hpp"
#include "guest/flows/feature_cache.hpp"
#include "guest/flows/features_of.hpp"
#include "guest/flows/session_calls.hpp"
#include "guest/host_work_requests.hpp"

#include <algorithm>
#include <initializer_list>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

using features = std::vector<std::string>;

tl::unexpected<failure> fail(failure x) {
  return tl::unexpected{std::move(x)};
}

tl::unexpected<failure> not_an_execution() {
  return fail(protocol_failure{"an execution id is `exec_` and a UUID"});
}

class tcp_work_host final : public work_host {
public:
  tcp_work_host(flow_time& time, transport_options with, work_options work) :
    time_(time), with_(std::move(with)), work_(work), features_(with_.cached_endpoints) {
  }

  asio::awaitable<result<attached_end>> run_detached(endpoint where, detached_run what, log_sink& output, deadline until) override {
    return unthrown(detached(std::move(where), std::move(what), &output, until));
  }
  asio::awaitable<result<attached_end>> attach(endpoint where, attach_request what, log_sink& output, deadline until) override {
    return unthrown(attached(std::move(where), std::move(what), &output, until));
  }
  asio::awaitable<result<void>> cancel(endpoint where, std::string execution_id, deadline until) override {
    return unthrown(cancelled(std::move(where), std::move(execution_id), until));
  }
  asio::awaitable<result<std::vector<session_row>>> sessions(endpoint where, deadline until) override {
    return unthrown(listed(std::move(where), until));
  }
  asio::awaitable<result<session_row>> start_detached(endpoint where, session_start what, deadline until) override {
    auto frame = start_detached_frame(where, what);
    return unthrown(session_call(std::move(where), std::move(what.session), std::move(frame), until));
  }
  asio::awaitable<result<session_row>> kill_session(endpoint where, std::string session, std::optional<std::string> signal,
                                                    deadline until) override {
    auto frame = kill_session_frame(where, session, signal);
    return unthrown(session_call(std::move(where), std::move(session), std::move(frame), until));
  }
  asio::awaitable<result<session_chunk>> read_session(endpoint where, std::string session, std::uint64_t from_offset,
                                                      deadline until) override {
    return unthrown(session_read(std::move(where), std::move(session), from_offset, until));
  }
  asio::awaitable<result<quiesce_report>> quiesce(endpoint where, quiesce_request how, deadline until) override {
    return unthrown(quiesced(std::move(where), how, until));
  }
  asio::awaitable<result<flush_report>> flush(endpoint where, std::optional<std::chrono::milliseconds> bound, deadline until) override {
    return unthrown(flushed(std::move(where), bound, until));
  }

private:
  // -- what has to be known first ------------------------------------------------

  /// What the guest advertises, or the first of `wanted` that it does not. Nothing but the probe is sent before that.
  asio::awaitable<result<features>> able(endpoint where, std::string_view wanted, deadline until) {
    auto known = co_await features_of(time_, with_, features_, where, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    if (auto problem = lacks_pin(where, *known))
      co_return fail(std::move(*problem));
    if (!has_feature(*known, wanted))
      co_return fail(unsupported{std::string{wanted}});
    co_return std::move(*known);
  }

  /// One request to a guest that has `wanted`.
  asio::awaitable<result<nlohmann::json>> asked(endpoint where, std::string_view wanted, result<std::string> frame, deadline until) {
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    auto known = co_await able(where, wanted, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    co_return co_await ask(time_, with_, std::move(where), std::move(*frame), control_ceiling, until);
  }

  // -- executions --------------------------------------------------------------

  asio::awaitable<result<attached_end>> detached(endpoint where, detached_run what, log_sink* output, deadline until) {
    auto of = std::make_shared<observation>();
    of->execution_id = what.execution_id ? std::move(*what.execution_id) : "exec_" + new_uuid();
    of->output = output;
    if (!is_execution_id(of->execution_id))
      co_return not_an_execution();
    what.what.with_input = false;
    // A command that no guest would take is refused before any guest is asked.
    auto form = execution_form{};
    form.retain = true;
    auto whole = execute_frame(where, of->execution_id, what.what, form);
    if (!whole)
      co_return tl::unexpected{std::move(whole.error())};
    const bool gone = co_await was_withdrawn();
    if (gone)
      co_return never_started(*of, std::nullopt);
    auto known = co_await able(where, feature::execution_attach, until);
    if (!known) {
      if (std::holds_alternative<withdrawn>(known.error()))
        co_return never_started(*of, std::nullopt);
      co_return tl::unexpected{std::move(known.error())};
    }
    of->bytes = has_feature(*known, feature::exec_bytes);
    auto plan = detached_plan{std::move(where), std::move(what.what), what.leave, std::move(of)};
    co_return co_await guest::run_detached(time_, with_, work_, std::move(plan), until);
  }

  asio::awaitable<result<attached_end>> attached(endpoint where, attach_request what, log_sink* output, deadline until) {
    if (!is_execution_id(what.execution_id))
      co_return not_an_execution();
    auto known = co_await able(where, feature::execution_attach, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    auto of = std::make_shared<observation>();
    of->execution_id = std::move(what.execution_id);
    of->bytes = has_feature(*known, feature::exec_bytes);
    of->output = output;
    of->cursor = detached_cursor{what.from_offset};
    co_return co_await run_attach(time_, with_, std::move(where), std::move(of), until);
  }

  asio::awaitable<result<void>> cancelled(endpoint where, std::string execution_id, deadline until) {
    const bool gone = co_await was_withdrawn();
    if (gone)
      co_return fail(withdrawn{});
    if (where.pinned) {
      auto known = co_await able(where, feature::pinned_guest, until);
      if (!known)
        co_return tl::unexpected{std::move(known.error())};
    }
    auto lane = co_await asio::this_coro::executor;
    auto kin = std::make_shared<family>(time_, lane);
    auto running = kin->start(confirmed_cancel(time_, with_, std::move(where), std::move(execution_id), judge_plain_cancel));
    const auto why = co_await kin->settle(running, until.at(), true);
    co_await kin->close();
    if (why == woke::over && running->value && *running->value)
      co_return result<void>{};
    if (why == woke::over && running->value)
      co_return tl::unexpected{std::move(running->value->error())};
    auto text = std::string{why == woke::withdrawn ? "the caller withdrew" : "the time was up"};
    if (why == woke::over)
      text = running->thrown().value_or("the cancellation was stopped");
    co_return fail(cancellation_unknown{std::move(text), std::nullopt, std::nullopt});
  }

  // -- sessions ----------------------------------------------------------------

  asio::awaitable<result<std::vector<session_row>>> listed(endpoint where, deadline until) {
    auto frame = list_sessions_frame(where);
    auto reply = co_await asked(std::move(where), feature::sessions, std::move(frame), until);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    co_return read_sessions(*reply);
  }

  asio::awaitable<result<session_row>> session_call(endpoint where, std::string session, result<std::string> frame, deadline until) {
    auto reply = co_await asked(std::move(where), feature::sessions, std::move(frame), until);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    co_return read_session_reply(*reply, session);
  }

  asio::awaitable<result<session_chunk>> session_read(endpoint where, std::string session, std::uint64_t from_offset, deadline until) {
    auto plain = read_session_frame(where, session, from_offset, false);
    if (!plain)
      co_return tl::unexpected{std::move(plain.error())};
    const auto bound = until.no_later_than(time_.now() + work_.read_session);
    auto known = co_await able(where, feature::sessions, bound);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    const auto bytes = has_feature(*known, feature::stream_bytes);
    auto frame = read_session_frame(where, session, from_offset, bytes);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    co_return co_await run_session_read(time_, with_, std::move(where), std::move(session), std::move(*frame), bytes, bound);
  }

  // -- quiesce and flush ---------------------------------------------------------

  asio::awaitable<result<quiesce_report>> quiesced(endpoint where, quiesce_request how, deadline until) {
    auto frame = quiesce_frame(where, how);
    auto known = co_await able(where, feature::quiesce, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    // An older guest would ignore the option, and stop everything.
    const auto wanted = how.idle_only ? feature::quiesce_idle_only : feature::quiesce;
    auto reply = co_await asked(std::move(where), wanted, std::move(frame), until);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    co_return read_quiesce(*reply);
  }

  asio::awaitable<result<flush_report>> flushed(endpoint where, std::optional<std::chrono::milliseconds> bound, deadline until) {
    auto frame = flush_frame(where, bound);
    auto reply = co_await asked(std::move(where), feature::flush, std::move(frame), until);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    co_return read_flush(*reply);
  }

  flow_time& time_;
  transport_options with_;
  work_options work_;
  feature_cache features_;
};

} // namespace

std::unique_ptr<work_host> make_work_host(flow_time& time, transport_options options, work_options work) {
  return std::make_unique<tcp_work_host>(time, std::move(options), work);
}

} // namespace paddock::guest
