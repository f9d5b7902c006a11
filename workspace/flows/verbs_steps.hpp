#pragma once

#include "base/flows/withdrawal.hpp"
#include "k8s/fenced_write.hpp"
#include "k8s/flows/ask.hpp"
#include "workspace/flows/verbs.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <string>
#include <utility>

namespace paddock::workspace {

// What the verbs share.

/// The operation names that failures carry ([W] 4.7).
namespace operation {
inline constexpr const char* create = "createKubernetesWorkspace";
inline constexpr const char* suspend = "suspend";
inline constexpr const char* resume = "resume";
inline constexpr const char* destroy = "destroy";
inline constexpr const char* clean_up = "start-cleanup";
inline constexpr const char* rebind = "rebind";
inline constexpr const char* suspend_by_id = "suspendKubernetesWorkspace"; // no session is held
inline constexpr const char* remove_by_id = "deleteKubernetesWorkspace";
inline constexpr const char* reset = "reset-epoch";
inline constexpr const char* stamp = "stamp";
} // namespace operation

/// `k8s::ask` and `k8s::read` of this cluster.
boost::asio::awaitable<k8s::result<k8s::answer>> ask(world& on, k8s::call what, deadline until);
boost::asio::awaitable<k8s::result<nlohmann::json>> read(world& on, std::string path, deadline until);

/// Waits until `at`. False: the caller has withdrawn.
boost::asio::awaitable<bool> pause(world& on, time_source::clock::time_point at);

/// Runs `flow` so that cancellation does not throw out of the coroutines below but is seen as the answer of a request.
template <class T>
boost::asio::awaitable<T> without_throwing(boost::asio::awaitable<T> flow) {
  const bool throws = co_await boost::asio::this_coro::throw_if_cancelled();
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  auto got = co_await std::move(flow);
  co_await boost::asio::this_coro::throw_if_cancelled(throws);
  co_return got;
}

/// The failure of a verb that its caller has withdrawn.
[[nodiscard]] failure withdrawal();

/// The outcome of a write that did not succeed: the failure itself, or `write_unknown` where it may have been applied.
[[nodiscard]] failure of_write(const char* operation, const k8s::failure& x);

using k8s::is_gone;

/// Raises the epoch of `now` when `why` says that a write of its epoch may still arrive ([W] P1). True: it does.
bool note_unknown(const world& on, session& now, const failure& why);

/// On whose behalf the next write of `now` goes out.
[[nodiscard]] k8s::holder holder_of(const session& now);

/// Makes sure that `now` may write to `object` and knows its uid and its own epoch ([W] P1, P3): a uid other than the known
/// one is `replaced`; where the epoch is not known yet it follows from the stored one; an epoch that the object overtook is
/// `precondition`. On a failure `now` is as it was.
[[nodiscard]] result<void> take_hold(const world& on, const id& which, const char* operation, session& now, const nlohmann::json& object);

/// A retained uid without a text names nothing ([W] 3.11).
[[nodiscard]] result<void> check_expected(const std::optional<sandbox_uid>& expect);

/// Something stands under the name, so it is not deleted.
void note_standing(session& now);

/// The object was seen Running, so it is not suspended, whoever woke it ([W] P4).
void note_running(session& now);

/// After a write of ours landed: the object carries our epoch, where there is one.
void note_written(session& now);

/// Ends the session: no pod is bound any more. The state is for the caller to say.
void drop(session& now);

/// Ends the session of a pod that a suspend reached: the next bind must see it replaced.
void retire(session& now);

template <class T>
[[nodiscard]] transition<T> end_with(session now, failure why) {
  return {std::move(now), tl::unexpected{std::move(why)}};
}

/// A started session as the answer of the verb that opened it.
[[nodiscard]] transition<opened> opened_as(transition<done> started, origin from);

} // namespace paddock::workspace
