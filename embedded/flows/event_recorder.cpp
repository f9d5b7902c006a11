#include "embedded/flows/event_recorder.hpp"

#include "base/flows/withdrawal.hpp"
#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

namespace {

constexpr std::size_t most_waiting = 256;

/// What an Event says of its subject, which may be large.
nlohmann::json identity_of(const nlohmann::json& subject) {
  return {{"apiVersion", text_in(subject, "/apiVersion")},
          {"kind", text_in(subject, "/kind")},
          {"metadata",
           {{"name", name_of(subject)},
            {"namespace", namespace_of(subject)},
            {"uid", uid_of(subject)},
            {"resourceVersion", text_in(subject, "/metadata/resourceVersion")}}}};
}

} // namespace

event_recorder::event_recorder(control_client& client, boost::asio::any_io_executor lane, event_source from) :
  client_(client), book_(std::move(from)), arrived_(std::move(lane)) {
}

void event_recorder::tell(const nlohmann::json& subject, happening what) {
  if (waiting_.size() >= most_waiting)
    waiting_.pop_front();
  waiting_.emplace_back(identity_of(subject), std::move(what));
  arrived_.raise();
}

boost::asio::awaitable<void> event_recorder::write(nlohmann::json subject, happening what) {
  auto next = book_.tell(subject, what, client_.time().wall());
  if (!next)
    co_return;
  auto told = co_await client_.send(next->call);
  if (told)
    co_return;
  // Old Events go; a new one that was not taken is not there either.
  book_.forget(next->key);
  if (told.error().status != 404 || next->call.method != "PATCH")
    co_return;
  auto again = book_.tell(subject, what, client_.time().wall());
  if (again)
    co_await client_.send(again->call);
}

boost::asio::awaitable<void> event_recorder::run() {
  for (;;) {
    auto over = co_await withdrawn();
    if (over)
      co_return;
    if (waiting_.empty()) {
      co_await arrived_.wait();
      continue;
    }
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    co_await write(std::move(next.first), std::move(next.second));
  }
}

} // namespace paddock::embedded
