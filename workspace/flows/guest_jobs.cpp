#include "workspace/flows/guest_jobs.hpp"

#include <boost/asio/this_coro.hpp>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

/// What is known of a job that ended without an answer: never that it did not happen, where it may have.
struct without_answer {
  const job_place& at;
  const std::string& why;

  failure operator()(const run_job&) const {
    return cancellation_unknown();
  }
  failure operator()(const walk_job&) const {
    return cancellation_unknown();
  }
  failure operator()(const detached_job& x) const {
    return detached(x.what.execution_id.value_or(std::string{}), 0);
  }
  failure operator()(const attach_job& x) const {
    return detached(x.what.execution_id, x.what.from_offset);
  }
  failure operator()(const write_job&) const {
    const auto& call = *at.call;
    if (call.broken)
      return guest::failure{*call.broken};
    // The target is replaced only after the whole input, so without its end nothing was written.
    const auto whole = call.complete && call.given.empty();
    if (!whole && at.until.passed(at.time))
      return lost("the time was up before the input was complete; nothing was written");
    if (!whole)
      return guest::failure{guest::withdrawn{}};
    return lost("the call ended without an answer, the file may be written: " + why);
  }
  template <class Job>
  failure operator()(const Job&) const {
    return lost("the call ended without an answer: " + why);
  }

private:
  static failure lost(std::string text) {
    return guest::failure{guest::lost{std::move(text)}};
  }
  [[nodiscard]] failure cancellation_unknown() const {
    return guest::failure{guest::cancellation_unknown{"the call ended without an answer: " + why, std::nullopt, std::nullopt}};
  }
  [[nodiscard]] failure detached(std::string execution, std::uint64_t from) const {
    return guest::failure{guest::execution_detached{std::move(execution), from, "the call ended without an answer: " + why, false}};
  }
};

template <class T>
result<reply> to_reply(guest::result<T> x) {
  if (!x)
    return fail(std::move(x.error()));
  return reply{std::move(*x)};
}

asio::awaitable<result<reply>> put_to(guest_hosts in, guest::endpoint where, list_sessions, deadline until) {
  auto got = co_await in.work.sessions(std::move(where), until);
  co_return to_reply(std::move(got));
}
asio::awaitable<result<reply>> put_to(guest_hosts in, guest::endpoint where, start_detached x, deadline until) {
  auto got = co_await in.work.start_detached(std::move(where), std::move(x.what), until);
  co_return to_reply(std::move(got));
}
asio::awaitable<result<reply>> put_to(guest_hosts in, guest::endpoint where, kill_session x, deadline until) {
  auto got = co_await in.work.kill_session(std::move(where), std::move(x.session), std::move(x.signal), until);
  co_return to_reply(std::move(got));
}
asio::awaitable<result<reply>> put_to(guest_hosts in, guest::endpoint where, quiesce_guest x, deadline until) {
  auto got = co_await in.work.quiesce(std::move(where), x.how, until);
  co_return to_reply(std::move(got));
}
asio::awaitable<result<reply>> put_to(guest_hosts in, guest::endpoint where, flush_guest x, deadline until) {
  auto got = co_await in.work.flush(std::move(where), x.bound, until);
  co_return to_reply(std::move(got));
}
asio::awaitable<result<reply>> put_to(guest_hosts in, guest::endpoint where, cancel_execution x, deadline until) {
  auto got = co_await in.work.cancel(std::move(where), std::move(x.execution), until);
  if (!got)
    co_return fail(std::move(got.error()));
  co_return reply{};
}

} // namespace

job_flow carry_out_job(job_place at, guest_job what) {
  const auto state = co_await asio::this_coro::cancellation_state;
  if (is_cancelled(state))
    co_return fail(guest::withdrawn{});
  auto problem = std::string{};
  try {
    auto flow = std::visit([&](const auto& x) { return carry_out(at, x); }, what);
    co_return co_await std::move(flow);
  } catch (const std::exception& x) {
    problem = x.what();
  }
  auto why = without_answer{at, problem};
  co_return tl::unexpected{std::visit(why, what)};
}

asio::awaitable<result<reply>> put(guest_hosts in, guest::endpoint where, question what, deadline until) {
  auto problem = std::string{};
  try {
    auto flow = std::visit([&](auto& x) { return put_to(in, where, std::move(x), until); }, what);
    co_return co_await std::move(flow);
  } catch (const std::exception& x) {
    problem = x.what();
  }
  co_return fail(guest::lost{"the question ended without an answer: " + problem});
}

} // namespace paddock::workspace
