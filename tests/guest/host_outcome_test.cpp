#define CAF_SUITE host_outcome

#include "guest/host_outcome.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::guest;
using outcome = acknowledgement::outcome;

namespace {

constexpr auto took = std::chrono::milliseconds{9};

command_end ended(int code) {
  auto x = command_end{};
  x.exit_code = code;
  return x;
}

confirmation acknowledged(outcome state, bool started, std::optional<command_end> end = std::nullopt) {
  return acknowledgement{state, started, std::move(end), std::nullopt};
}

confirmation silence() {
  return tl::unexpected{unconfirmed{"silence"}};
}

failure lost_stream() {
  return lost{"closed before exec stream terminator"};
}

template <class T>
bool failed_with(const result<command_end>& got) {
  return !got && std::holds_alternative<T>(got.error());
}

std::optional<result<command_end>> drained(result<command_end> x) {
  return x;
}

} // namespace

SCENARIO("an unconfirmed cancellation is unknown in every row but the result's") {
  for (auto why : {cancel_reason::caller, cancel_reason::observation_timeout, cancel_reason::out_of_time, cancel_reason::reconcile}) {
    CHECK(failed_with<cancellation_unknown>(outcome_before_execute(silence(), took)));
    CHECK(failed_with<cancellation_unknown>(outcome_of_cancel(why, silence(), drained(ended(0)), took)));
    CHECK(failed_with<cancellation_unknown>(outcome_of_error(lost_stream(), why, true, silence(), took)));
    CHECK_EQ(outcome_of_result(ended(7), why, silence()).exit_code, 7);
  }
}

SCENARIO("between reservation and execute only what was not started has an end") {
  CHECK_EQ(outcome_before_execute(acknowledged(outcome::cancelled, false, ended(1)), took)->exit_code, 1);
  const auto synthetic = outcome_before_execute(acknowledged(outcome::cancelled, false), took);
  CHECK_EQ(synthetic->exit_code, 1);
  CHECK(synthetic->took == took);
  CHECK(failed_with<result_incomplete>(outcome_before_execute(acknowledged(outcome::completed, true, ended(0)), took)));
}

SCENARIO("a confirmed cancellation of what was not started gives its end") {
  const auto got = outcome_of_cancel(cancel_reason::caller, acknowledged(outcome::cancelled, false), {}, took);
  REQUIRE(got.has_value());
  CHECK_EQ(got->exit_code, 1);
  CHECK(!got->timed_out);
  CHECK(outcome_of_cancel(cancel_reason::observation_timeout, acknowledged(outcome::cancelled, false), {}, took)->timed_out);
}

SCENARIO("a drained result is the truth, and time is named when it was the cause") {
  const auto cancelled = acknowledged(outcome::cancelled, true, ended(-1));
  CHECK(!outcome_of_cancel(cancel_reason::caller, cancelled, drained(ended(-1)), took)->timed_out);
  CHECK(outcome_of_cancel(cancel_reason::observation_timeout, cancelled, drained(ended(-1)), took)->timed_out);
  CHECK(outcome_of_cancel(cancel_reason::out_of_time, cancelled, drained(ended(-1)), took)->timed_out);
  const auto completed = acknowledged(outcome::completed, true, ended(0));
  CHECK(!outcome_of_cancel(cancel_reason::observation_timeout, completed, drained(ended(0)), took)->timed_out);
  CHECK(outcome_of_result(ended(-1), cancel_reason::out_of_time, cancelled).timed_out);
  CHECK(!outcome_of_result(ended(0), cancel_reason::out_of_time, completed).timed_out);
  CHECK(!outcome_of_result(ended(0), cancel_reason::caller, {}).timed_out);
}

SCENARIO("a started command without its result is incomplete") {
  const auto got = outcome_of_cancel(cancel_reason::caller, acknowledged(outcome::completed, true, ended(0)), {}, took);
  REQUIRE(failed_with<result_incomplete>(got));
  CHECK_EQ(std::get<result_incomplete>(got.error()).state, "completed");
  CHECK(std::get<result_incomplete>(got.error()).started);
  CHECK(failed_with<result_incomplete>(
    outcome_of_cancel(cancel_reason::caller, acknowledged(outcome::failed, true), drained(tl::unexpected{lost_stream()}), took)));
  CHECK(failed_with<result_incomplete>(
    outcome_of_error(lost_stream(), cancel_reason::reconcile, false, acknowledged(outcome::completed, true), took)));
}

SCENARIO("the command's own failure is passed on only when the guest confirms it") {
  const auto error = failure{command_failed{"spawn x ENOENT"}};
  const auto failed = acknowledged(outcome::failed, true);
  const auto completed = acknowledged(outcome::completed, true);
  CHECK(failed_with<command_failed>(outcome_of_error(error, cancel_reason::reconcile, false, failed, took)));
  CHECK(failed_with<result_incomplete>(outcome_of_error(error, cancel_reason::reconcile, false, completed, took)));
  CHECK(failed_with<command_failed>(outcome_of_cancel(cancel_reason::caller, failed, drained(tl::unexpected{error}), took)));
  CHECK(failed_with<result_incomplete>(outcome_of_cancel(cancel_reason::caller, completed, drained(tl::unexpected{error}), took)));
}

SCENARIO("an error of what was never started is passed on unless the caller withdrew") {
  const auto cancelled = acknowledged(outcome::cancelled, false, ended(1));
  CHECK(failed_with<lost>(outcome_of_error(lost_stream(), cancel_reason::reconcile, false, cancelled, took)));
  CHECK_EQ(outcome_of_error(lost_stream(), cancel_reason::caller, true, cancelled, took)->exit_code, 1);
  CHECK(failed_with<lost>(outcome_of_error(lost_stream(), cancel_reason::caller, true, acknowledged(outcome::failed, false), took)));
}
