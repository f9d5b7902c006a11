#include "client/target.hpp"

#include "messages/error.hpp"

#include <utility>

namespace paddock::client {

namespace {

template <class T>
result<T> expect(result<guest_answer> got) {
  if (!got)
    return tl::unexpected{std::move(got.error())};
  if (auto* known = std::get_if<T>(&got->what))
    return std::move(*known);
  return tl::unexpected{make_problem(verdict::failed, "RemoteProtocol", "the answer is none to this question")};
}

} // namespace

effect effect_of(const job& what) {
  const auto reads =
    std::holds_alternative<read_spec>(what) || std::holds_alternative<walk_spec>(what) || std::holds_alternative<attach_spec>(what);
  return reads ? effect::reads : effect::changes;
}

result<call> target::start(job what) const {
  const auto kind = effect_of(what);
  auto in = std::make_shared<inbox>();
  if (in->bell() < 0) // nobody would be woken
    return tl::unexpected{make_problem(verdict::failed, "LocalFile", "no file descriptor is left for a call")};
  auto started = begin({std::move(what), call::window}, in);
  if (!started)
    return tl::unexpected{std::move(started.error())};
  return call{std::move(*started), std::move(in), kind};
}

result<std::vector<session_view>> target::sessions() const {
  return expect<sessions_answer>(ask({sessions_question{}})).map([](sessions_answer&& x) { return std::move(x.sessions); });
}

result<session_view> target::start_session(session_start_question what) const {
  return expect<session_view>(ask({std::move(what)}));
}

result<session_view> target::kill_session(std::string session, std::string signal) const {
  return expect<session_view>(ask({session_kill_question{std::move(session), std::move(signal)}}));
}

result<quiesce_answer> target::quiesce(quiesce_question what) const {
  return expect<quiesce_answer>(ask({what}));
}

result<flush_answer> target::flush(flush_question what) const {
  return expect<flush_answer>(ask({what}));
}

result<void> target::cancel_execution(std::string execution) const {
  return expect<done_answer>(ask({cancel_question{std::move(execution)}})).map([](const done_answer&) {});
}

} // namespace paddock::client
