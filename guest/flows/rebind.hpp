#pragma once

#include "base/flows/sleep.hpp"
#include "base/flows/unthrown.hpp"
#include "guest/flows/family.hpp"
#include "guest/flows/host.hpp"
#include "guest/rebind_judge.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace paddock::guest {

/// The pod could not be read again.
struct reread_failed {
  std::string text;
};
/// Another object stands under the name now: nothing is retried, and whoever reads keeps its own account of it.
struct owner_replaced {};

using reread_answer = std::variant<endpoint, reread_failed, owner_replaced>;
/// Reads which pod is behind the handle now. It is asked under no caller's cancellation.
using reread = std::function<boost::asio::awaitable<reread_answer>()>;

// For calls of who has no actor that owns the session: a WORKSPACE looks for the new pod itself (actors/workspace_rebind.cpp), by the
// same rules.

/// The pod behind a workspace or sandbox, shared by all calls into it ([G] 18.2). Address and token change together, and
/// only by a re-read that found another token. For one executor (a strand or one thread): that of all its calls.
class pod_handle {
public:
  /// `how` may be empty: then nothing is ever read again.
  pod_handle(flow_time& time, boost::asio::any_io_executor lane, endpoint now, reread how,
             std::chrono::milliseconds bound = std::chrono::milliseconds{10'000});
  /// Ends a re-read that is under way.
  ~pod_handle();
  pod_handle(const pod_handle&) = delete;
  pod_handle& operator=(const pod_handle&) = delete;

  [[nodiscard]] const endpoint& current() const;
  /// How often it has moved to another pod.
  [[nodiscard]] std::uint64_t moves() const;

  /// Where to try again what was sent when it had moved `since` times: at once when it has moved meanwhile, else after a
  /// re-read, which all who wait share. `reread_failed` when there is no other pod, or the caller was cancelled. The
  /// running coroutine must have `throw_if_cancelled(false)`.
  boost::asio::awaitable<reread_answer> moved(std::uint64_t since);

private:
  struct flight;
  struct state;
  static boost::asio::awaitable<reread_answer> read(std::shared_ptr<state> of);
  static void landed(const std::shared_ptr<state>& of, reread_answer got);

  std::shared_ptr<state> state_;
};

/// The answer of a call that may have been made twice.
template <class T>
struct rebound_end {
  result<T> answer;
  endpoint by;                 // the pod that it was sent to
  bool retried = false;        // by another pod than the first
  bool owner_replaced = false; // `answer` is the failure, and the re-read found another owner
};

/// An input that tells whether it has been touched: what was read from it cannot be given to another pod.
class watched_input final : public input_source {
public:
  explicit watched_input(input_source& from) : from_(from) {
  }
  boost::asio::awaitable<std::string> next() override {
    touched_ = true;
    return from_.next();
  }
  [[nodiscard]] bool touched() const noexcept {
    return touched_;
  }

private:
  input_source& from_;
  bool touched_ = false;
};

/// Makes the call `op`, a function from an endpoint to an `awaitable<result<T>>`, on the current pod, and once more on
/// another when the first is proven to have run nothing and the pod turns out to be another one. `op` is not a coroutine
/// with captures: it calls one. `input` is what the call reads, if anything: once touched, nothing is retried. A pinned
/// endpoint is never left. The cancellation of the caller is the call's, and stays visible afterwards.
template <class T, class Op>
boost::asio::awaitable<rebound_end<T>> rebound_quietly(std::shared_ptr<pod_handle> to, Op op, const watched_input* input) {
  auto end = rebound_end<T>{tl::unexpected{failure{withdrawn{}}}, to->current(), false, false};
  const auto since = to->moves();
  auto first = op(end.by);
  end.answer = co_await std::move(first);
  const bool gone = co_await was_withdrawn();
  if (end.answer || end.by.pinned || (input != nullptr && input->touched()))
    co_return end;
  const auto facts = rebind_facts{is_host_name(end.by.host), gone};
  const auto verdict = judge_rebind(end.answer.error(), facts);
  if (verdict == rebind_verdict::unresolvable) {
    auto why = address_unresolvable{end.by.host, to_string(end.answer.error())};
    end.answer = tl::unexpected{failure{std::move(why)}};
  }
  if (verdict != rebind_verdict::reread)
    co_return end;
  auto next = co_await to->moved(since);
  end.owner_replaced = std::holds_alternative<owner_replaced>(next);
  auto* other = std::get_if<endpoint>(&next);
  if (other == nullptr)
    co_return end;
  end.by = *other;
  end.retried = true;
  auto second = op(std::move(*other));
  end.answer = co_await std::move(second);
  co_return end;
}

template <class T, class Op>
boost::asio::awaitable<rebound_end<T>> rebound(std::shared_ptr<pod_handle> to, Op op, const watched_input* input = nullptr) {
  return unthrown(rebound_quietly<T, Op>(std::move(to), std::move(op), input));
}

/// `host::execute` as a rebound call. `timed` may be empty; it is called exactly once, with the sum of all attempts ([G]
/// 18.5), before this answers.
boost::asio::awaitable<rebound_end<execution>> rebound_execute(std::shared_ptr<pod_handle> to, host& guest, command what,
                                                               output_sink& output, input_source* input, deadline until,
                                                               std::function<void(const execution_timing&)> timed);

} // namespace paddock::guest
