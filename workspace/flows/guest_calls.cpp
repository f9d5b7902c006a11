#include "workspace/flows/guest_calls.hpp"

#include "base/random.hpp"
#include "guest/rebind_judge.hpp"
#include "workspace/flows/guest_jobs.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace paddock::workspace {

namespace {

namespace asio = boost::asio;

constexpr std::size_t most_steers = 64; // of one call that wait; more are dropped

/// The calls that run, by ticket.
struct registry {
  std::mutex guard;
  std::map<ticket, shared_call> live;

  shared_call find(ticket name) {
    auto lock = std::lock_guard{guard};
    auto it = live.find(name);
    return it == live.end() ? nullptr : it->second;
  }
  bool add(ticket name, shared_call call) {
    auto lock = std::lock_guard{guard};
    return live.emplace(name, std::move(call)).second;
  }
  void drop(ticket name) {
    auto lock = std::lock_guard{guard};
    live.erase(name);
  }
};

/// What makes the terminal of a call end: a session is left running, anything else is killed.
std::function<void()> ending_of(const guest_job& what, const shared_call& call) {
  const auto* opened = std::get_if<terminal_job>(&what);
  if (opened != nullptr && !opened->what.session)
    return [call] {
      call->steers.push_front(signal_terminal{"SIGKILL"});
      call->steer_bell.cancel();
    };
  return [call] {
    call->leaving = true;
    call->steer_bell.cancel();
  };
}

bool is_terminal(const guest_job& what) {
  return std::holds_alternative<terminal_job>(what) || std::holds_alternative<rejoin_job>(what);
}

/// The asker knows the name before anything runs under it, and keeps it in another place.
void name_execution(guest_job& what) {
  if (auto* detached = std::get_if<detached_job>(&what); detached != nullptr && !detached->what.execution_id)
    detached->what.execution_id = "exec_" + new_uuid();
}

/// Whether the end of a first attempt is the end of the call. What a guest or the asker has a part of is never begun again, a pinned
/// call goes nowhere else, and neither does one whose asker knows of no other place.
guest::rebind_verdict judge(const call_state& call, const result<job_end>& got, const guest::endpoint& where) {
  const auto* why = got ? nullptr : std::get_if<guest::failure>(&got.error());
  if (why == nullptr || where.pinned || call.begun || call.broken)
    return guest::rebind_verdict::rethrow;
  const auto verdict = guest::judge_rebind(*why, {guest::is_host_name(where.host), call.withdrawn});
  return verdict == guest::rebind_verdict::reread && !call.refused ? guest::rebind_verdict::rethrow : verdict;
}

asio::awaitable<void> carry_question(guest_hosts in, guest::endpoint where, question what, deadline until,
                                     std::function<void(result<reply>)> to) {
  co_await asio::post(asio::use_awaitable);
  auto got = co_await put(in, std::move(where), std::move(what), until);
  to(std::move(got));
}

class guest_calls final : public guest_port {
public:
  guest_calls(guest_hosts in, flow_time& time, flow_group& flows, open_terminals* terminals) :
    in_(in), time_(time), flows_(flows), terminals_(terminals) {
  }

  void start(ticket name, guest::endpoint where, guest_job what, deadline until, call_events events) override {
    auto call = std::make_shared<call_state>(flows_.executor());
    call->output = std::move(events.output);
    call->wants_input = std::move(events.wants_input);
    call->noted = std::move(events.noted);
    call->refused = std::move(events.refused);
    if (live_.add(name, call)) {
      if (flows_.start(name,
                       [this, name, call, where, what, until, end = events.end] { return carry(name, call, where, what, until, end); }))
        return;
      live_.drop(name);
    }
    asio::post(flows_.executor(), [end = std::move(events.end)] { end(fail(guest::withdrawn{})); });
  }
  void ask(ticket name, guest::endpoint where, question what, deadline until, std::function<void(result<reply>)> to) override {
    if (flows_.start(name, [in = in_, where, what, until, to] { return carry_question(in, where, what, until, to); }))
      return;
    asio::post(flows_.executor(), [to = std::move(to)] { to(fail(guest::withdrawn{})); });
  }
  void grant(ticket name, std::size_t bytes) override {
    with(name, [bytes](call_state& call) {
      call.credit += std::min(bytes, SIZE_MAX - call.credit);
      call.credit_bell.cancel();
    });
  }
  void input(ticket name, std::vector<std::byte> piece, bool last) override {
    with(name, [name, &flows = flows_, piece = std::move(piece), last](call_state& call) {
      if (piece.size() > call.wanted) {
        call.broken = guest::protocol_failure{std::to_string(piece.size()) + " bytes of input were given where "
                                              + std::to_string(call.wanted) + " were wanted"};
        call.withdraw();
        flows.cancel(name);
        return;
      }
      call.wanted -= piece.size();
      call.given.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      if (last) {
        call.complete = true;
        call.wanted = 0;
      }
      call.input_bell.cancel();
    });
  }
  void steer(ticket name, steering how) override {
    with(name, [how = std::move(how)](call_state& call) {
      // Of sizes only the last counts.
      if (std::holds_alternative<resize_terminal>(how))
        std::erase_if(call.steers, [](const steering& x) { return std::holds_alternative<resize_terminal>(x); });
      if (std::holds_alternative<leave_running>(how))
        call.leaving = true;
      else if (call.steers.size() < most_steers)
        call.steers.push_back(how);
      call.steer_bell.cancel();
    });
  }
  void move(ticket name, std::optional<guest::endpoint> to) override {
    with(name, [to = std::move(to)](call_state& call) {
      call.next_place = to;
      call.place_bell.cancel();
    });
  }
  void cancel(ticket name) override {
    with(name, [](call_state& call) { call.withdraw(); });
    flows_.cancel(name);
  }

private:
  /// Carries one call to its end. The ticket names no call any more when the asker hears of it.
  asio::awaitable<void> carry(ticket name, shared_call call, guest::endpoint where, guest_job what, deadline until,
                              std::function<void(result<job_end>)> end) {
    // One turn of the strand, so that a call withdrawn at once does not begin.
    co_await asio::post(asio::use_awaitable);
    name_execution(what);
    auto got = co_await carry_out_at(name, call, where, what, until);
    const auto verdict = judge(*call, got, where);
    if (verdict == guest::rebind_verdict::unresolvable)
      got = fail(guest::address_unresolvable{where.host, to_string(got.error())});
    if (verdict == guest::rebind_verdict::reread) {
      auto next = co_await another_place(call, std::get<guest::failure>(got.error()), time_, until);
      call->rewind();
      if (next)
        got = co_await carry_out_at(name, call, std::move(*next), std::move(what), until);
    }
    live_.drop(name);
    end(std::move(got));
  }
  /// One attempt, in one place.
  asio::awaitable<result<job_end>> carry_out_at(ticket name, shared_call call, guest::endpoint where, guest_job what, deadline until) {
    auto entry = std::shared_ptr<void>{};
    if (terminals_ != nullptr && is_terminal(what))
      entry = terminals_->enter({where, ending_of(what, call), [this, name] { cancel(name); }});
    auto at = job_place{in_, time_, call, std::move(where), until};
    auto got = co_await carry_out_job(std::move(at), std::move(what));
    co_return got;
  }
  /// Does `what` to the call on its strand; a ticket that names no call is no error.
  template <class What>
  void with(ticket name, What what) {
    if (auto call = live_.find(name))
      asio::post(flows_.executor(), [call = std::move(call), what = std::move(what)] { what(*call); });
  }

  guest_hosts in_;
  flow_time& time_;
  flow_group& flows_;
  open_terminals* terminals_;
  registry live_;
};

} // namespace

std::unique_ptr<guest_port> make_guest_calls(guest_hosts in, flow_time& time, flow_group& flows, open_terminals* terminals) {
  return std::make_unique<guest_calls>(in, time, flows, terminals);
}

} // namespace paddock::workspace
