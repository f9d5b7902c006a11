#include "apps/paddock/guest_target.hpp"

#include "actors/translate.hpp"
#include "base/flows/flow_group.hpp"
#include "base/flows/io_lane.hpp"
#include "base/flows/sleep.hpp"
#include "guest/flows/hosts.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/guest_jobs.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>

namespace paddock::cli {

namespace {

/// What calls outlive their target with.
struct ways {
  explicit ways(const guest_place& where) :
    guests(guest::make_hosts(time, where.walker)),
    flows(lane.context().get_executor()),
    port(workspace::make_guest_calls({*guests.commands, *guests.files, *guests.streams, *guests.work}, time, flows)) {
  }
  real_flow_time time;
  guest::hosts guests;
  io_lane lane;
  flow_group flows;
  std::unique_ptr<workspace::guest_port> port;
  std::atomic<workspace::ticket> last{0};
};

class direct_call final : public client::running_call {
public:
  direct_call(std::shared_ptr<ways> through, workspace::ticket name) : through_(std::move(through)), name_(name) {
  }
  ~direct_call() override {
    through_->port->cancel(name_);
  }
  direct_call(const direct_call&) = delete;
  direct_call& operator=(const direct_call&) = delete;

  void grant(std::uint64_t n) override {
    through_->port->grant(name_, n);
  }
  void input(bytes piece, bool last) override {
    through_->port->input(name_, std::move(piece), last);
  }
  void cancel() override {
    through_->port->cancel(name_);
  }
  void leave() override {
    through_->port->steer(name_, workspace::leave_running{});
  }
  void resize(int columns, int rows) override {
    through_->port->steer(name_, workspace::resize_terminal{{columns, rows}});
  }
  void signal(std::string which) override {
    through_->port->steer(name_, workspace::signal_terminal{std::move(which)});
  }
  void drain() override {
  }

private:
  std::shared_ptr<ways> through_;
  workspace::ticket name_;
};

boost::asio::awaitable<guest::result<guest::health>> looked(guest::host& by, guest::endpoint where, deadline until) {
  co_return co_await by.look(std::move(where), until);
}

class direct_target final : public guest_target {
public:
  explicit direct_target(guest_place where) :
    through_(std::make_shared<ways>(where)), where_{where.host, where.port, secret{where.token}}, budget_(where.budget) {
  }

  tl::expected<guest_answer, problem> ask(guest_question what) const override {
    auto promise = std::make_shared<std::promise<workspace::result<workspace::reply>>>();
    auto future = promise->get_future();
    through_->port->ask(++through_->last, where_, to_question(std::move(what)), until(),
                        [promise](workspace::result<workspace::reply> x) { promise->set_value(std::move(x)); });
    auto got = future.get();
    if (!got)
      return tl::unexpected{to_problem(got.error())};
    return to_answer(*got);
  }

  tl::expected<health, problem> look() override {
    auto got =
      boost::asio::co_spawn(through_->lane.context(), looked(*through_->guests.commands, where_, until()), boost::asio::use_future).get();
    if (!got)
      return tl::unexpected{to_problem(workspace::failure{std::move(got.error())})};
    return health{got->ok, got->retiring, got->protocol_version, std::move(got->features)};
  }

private:
  client::result<std::unique_ptr<client::running_call>> begin(call_spec what, std::shared_ptr<client::inbox> to) const override {
    const auto name = ++through_->last;
    auto events = workspace::call_events{};
    events.output = [to](guest::stream which, bytes piece) { to->put(client::output_piece{static_cast<int>(which), std::move(piece)}); };
    events.wants_input = [to](std::size_t n) { to->put(client::input_wanted{n}); };
    events.noted = [to](const workspace::job_note& x) { to->put(to_note(x)); };
    events.end = [to](workspace::result<workspace::job_end> x) {
      if (x)
        to->put(to_end(*x));
      else
        to->put(to_problem(x.error()));
    };
    const auto credit = what.credit;
    through_->port->start(name, where_, to_job(std::move(what)), until(), std::move(events));
    through_->port->grant(name, credit);
    return std::make_unique<direct_call>(through_, name);
  }

  [[nodiscard]] deadline until() const {
    return {through_->time, std::chrono::duration_cast<time_source::clock::duration>(budget_)};
  }

  std::shared_ptr<ways> through_;
  guest::endpoint where_;
  caf::timespan budget_;
};

} // namespace

std::unique_ptr<guest_target> make_guest_target(guest_place where) {
  return std::make_unique<direct_target>(std::move(where));
}

} // namespace paddock::cli
