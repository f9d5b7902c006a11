#include "workspace/flows/probe.hpp"

#include "guest/privilege_probe.hpp"
#include "guest/rebind_judge.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

constexpr auto most_probe_output = std::size_t{64} * 1024;

/// Keeps what the probe prints, up to a bound.
class probe_sink final : public guest::output_sink {
public:
  explicit probe_sink(guest::probe_outcome& to) : to_(to) {
  }
  asio::awaitable<void> take(guest::stream which, std::string bytes) override {
    auto& text = which == guest::stream::out ? to_.out : to_.err;
    const auto room = most_probe_output - text.size();
    to_.out_overflown = to_.out_overflown || (which == guest::stream::out && bytes.size() > room);
    text.append(bytes, 0, room);
    co_return;
  }

private:
  guest::probe_outcome& to_;
};

} // namespace

asio::awaitable<probed> probe_guest(world& on, std::string sandbox_name, guest::endpoint where, deadline until) {
  const auto budget = guest::probe_budget(on.how.ready_timeout);
  auto what = guest::command{};
  what.program = guest::probe_program;
  what.arguments = {std::string{guest::probe_argument}};
  what.limit = budget;
  auto seen = guest::probe_outcome{};
  auto said = probe_sink{seen};
  const auto own = deadline{on.time, budget};
  auto ended = co_await on.guests.execute(std::move(where), std::move(what), said, nullptr, until.no_later_than(own));
  auto over = co_await withdrawn();
  if (over)
    co_return probed{tl::unexpected{withdrawal()}};
  seen.end = ended.map(&guest::execution::end);
  if (!ended && own.passed(on.time))
    seen.expired = budget;
  auto no = guest::judge_probe(sandbox_name, seen);
  if (!no)
    co_return probed{ended->boot};
  auto got = probed{tl::unexpected{failure{privilege_refused{std::move(no->reason), std::move(no->text)}}}};
  if (!ended && guest::proves_nothing_ran(ended.error()))
    got.not_run = ended.error();
  co_return got;
}

} // namespace paddock::workspace
