#include "tests/sim/network.hpp"

#include "guest/features.hpp"
#include "guest/privilege_probe.hpp"
#include "k8s/paths.hpp"
#include "tests/support/scripted_api.hpp"
#include "tests/support/scripted_guest.hpp"

#include <algorithm>

namespace paddock::sim {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto request_bound = 1s;

std::string short_of(const k8s::call& x) {
  auto path = x.path.substr(x.path.find("/namespaces/ns/") + 15);
  return x.method + " " + path + (x.method == "GET" ? "" : " " + x.body.dump());
}

template <class T>
std::shared_ptr<T> take(std::vector<std::shared_ptr<T>>& from, std::size_t nth) {
  auto it = from.at(nth);
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(nth));
  return it;
}

guest::result<guest::execution> lost() {
  return tl::unexpected{guest::failure{guest::lost{"the connection ended"}}};
}

} // namespace

// -- requests -----------------------------------------------------------------------

k8s::result<k8s::answer> network::carry_out(const std::string& host, const shared_verb& by, const k8s::call& what, const char* remark) {
  const auto of_sandbox = what.path.find("/sandboxes") != std::string::npos;
  const auto before = of_sandbox ? on.sandbox() : std::nullopt;
  auto got = on.serve(what);
  eye.note(host + " " + short_of(what) + (got ? "" : " -> " + std::string{k8s::reason_of(got.error())}) + remark);
  if (what.method != "GET" && got)
    eye.applied(by, what, before);
  return got;
}

void network::decide(std::size_t nth, fate how) {
  auto it = take(requests, nth);
  const auto hear = [&](k8s::result<k8s::answer> x) {
    if (it->by)
      eye.heard(*it->by, it->what, x);
    it->answer(std::move(x));
  };
  switch (how) {
    case fate::answered: {
      auto got = carry_out(it->host, it->by, it->what, "");
      return hear(std::move(got));
    }
    case fate::answer_lost:
      static_cast<void>(carry_out(it->host, it->by, it->what, ", the answer is lost"));
      return hear(test::unreachable(it->what, true));
    case fate::server_error:
      static_cast<void>(carry_out(it->host, it->by, it->what, ", answered 500"));
      return hear(test::status(it->what, 500));
    case fate::given_up:
      eye.note(it->host + " gives up " + short_of(it->what));
      late.push_back({it->by, it->host, it->what});
      return hear(test::timed_out(it->what));
    case fate::never_sent: eye.note(it->host + " cannot send " + short_of(it->what)); return hear(test::unreachable(it->what, false));
  }
}

void network::deliver_late(std::size_t nth) {
  auto it = late.at(nth);
  late.erase(late.begin() + static_cast<std::ptrdiff_t>(nth));
  static_cast<void>(carry_out(it.host, it.by, it.what, ", late"));
}

// -- commands -----------------------------------------------------------------------

guest::result<guest::execution> network::run(const shared_verb& by, const dialled& what) {
  const auto* there = on.guest_at(what.where.host);
  if (there == nullptr)
    return tl::unexpected{guest::failure{guest::dial_failed{what.where.host, what.where.port, "refused"}}};
  if (there->pod != what.where.token.reveal() && !(bug != nullptr && bug->knows_nobody))
    return tl::unexpected{guest::failure{guest::unauthorized{}}};
  if (what.where.pinned && what.where.pinned->text() != there->boot)
    return tl::unexpected{guest::failure{guest::guest_mismatch{guest_boot_id{there->boot}}}};
  eye.note((what.command.empty() ? "the probe" : what.command) + " runs in pod " + there->pod + " (" + there->boot + ")");
  eye.ran(what.command.empty() ? by : nullptr, what.command, *there);
  auto end = guest::execution{};
  end.boot = guest_boot_id{there->boot};
  return end;
}

void network::decide_command(std::size_t nth, fate how) {
  auto it = take(commands, nth);
  switch (how) {
    case fate::answered: return it->answer(run(it->by, it->what));
    case fate::answer_lost:
    case fate::server_error: static_cast<void>(run(it->by, it->what)); return it->answer(lost());
    case fate::given_up: late_commands.push_back({it->by, it->what}); return it->answer(lost());
    case fate::never_sent:
      return it->answer(tl::unexpected{guest::failure{guest::dial_failed{it->what.where.host, it->what.where.port, "refused"}}});
  }
}

void network::deliver_late_command(std::size_t nth) {
  auto it = late_commands.at(nth);
  late_commands.erase(late_commands.begin() + static_cast<std::ptrdiff_t>(nth));
  static_cast<void>(run(it.by, it.what));
}

// -- time ---------------------------------------------------------------------------

void network::expire() {
  for (std::size_t i = 0; i < requests.size();)
    if (requests[i]->until.passed(time))
      decide(i, fate::given_up);
    else
      ++i;
  for (std::size_t i = 0; i < commands.size();)
    if (commands[i]->until.passed(time))
      decide_command(i, fate::given_up);
    else
      ++i;
}

std::optional<time_source::clock::time_point> network::next() const {
  auto got = std::optional<time_source::clock::time_point>{};
  const auto weigh = [&got](deadline x) {
    if (!got || x.at() < *got)
      got = x.at();
  };
  for (const auto& x : requests)
    weigh(x->until);
  for (const auto& x : commands)
    weigh(x->until);
  return got;
}

// -- the API server as a host sees it --------------------------------------------------

asio::awaitable<k8s::result<k8s::answer>> host_api::exchange(k8s::call what, deadline until) {
  auto lane = co_await asio::this_coro::executor;
  auto& net = at_.net;
  auto me = std::make_shared<request>(lane, at_.name(), at_.verb, what, until.no_later_than(net.time.now() + request_bound));
  if (me->by && what.method != "GET")
    ++me->by->writes;
  net.requests.push_back(me);
  [[maybe_unused]] auto [ec] = co_await me->bell.async_wait(asio::as_tuple(asio::use_awaitable));
  if (me->got)
    co_return std::move(*me->got);
  // Withdrawn, or the host is dead: it may arrive all the same.
  std::erase(net.requests, me);
  net.late.push_back({me->by, at_.name(), what});
  auto got = k8s::result<k8s::answer>{tl::unexpected{k8s::failure{k8s::cancelled{what.method, what.path, true}}}};
  if (me->by)
    net.eye.heard(*me->by, what, got);
  co_return got;
}

asio::awaitable<k8s::result<k8s::answer>> host_api::send(k8s::call what, deadline until) {
  if (at_.dead)
    co_return test::unreachable(what, false);
  const auto* bug = at_.net.bug;
  const auto by = at_.verb;
  if (bug != nullptr && bug->sends && by)
    bug->sends(*by, what);
  auto got = co_await exchange(what, until);
  if (bug != nullptr && bug->sends_again && !got && !at_.dead && bug->sends_again(what, got.error())) {
    auto again = co_await exchange(what, until);
    got = std::move(again);
  }
  if (bug != nullptr && bug->hears && by)
    bug->hears(*by, what, got);
  co_return got;
}

// -- the guests as a host sees them ----------------------------------------------------

asio::awaitable<guest::result<guest::execution>> host_guests::exchange(dialled what, deadline until) {
  auto lane = co_await asio::this_coro::executor;
  auto& net = at_.net;
  auto me = std::make_shared<command>(lane, at_.name(), at_.verb, what, until);
  net.commands.push_back(me);
  [[maybe_unused]] auto [ec] = co_await me->bell.async_wait(asio::as_tuple(asio::use_awaitable));
  if (me->got)
    co_return std::move(*me->got);
  std::erase(net.commands, me);
  net.late_commands.push_back({me->by, what});
  co_return tl::unexpected{guest::failure{guest::cancellation_unknown{"the call was withdrawn", std::nullopt, std::nullopt}}};
}

asio::awaitable<guest::result<guest::execution>> host_guests::execute(guest::endpoint where, guest::command what,
                                                                      guest::output_sink& output, guest::input_source*, deadline until) {
  const auto is_probe = what.program == guest::probe_program;
  auto to = dialled{std::move(where), is_probe ? std::string{} : what.program};
  if (at_.dead)
    co_return tl::unexpected{guest::failure{guest::dial_failed{to.where.host, to.where.port, "the host is gone"}}};
  if (auto asked = at_.net.eye.commands.find(to.command); asked != at_.net.eye.commands.end() && asked->second.boot.empty()) {
    if (at_.found.contains(to.where.token.reveal()))
      asked->second.pod = to.where.token.reveal();
    else if (asked->second.pod.empty())
      asked->second.pod = at_.held.pod ? at_.held.pod->text() : "none";
  }
  const auto* bug = at_.net.bug;
  if (bug != nullptr && bug->dials)
    bug->dials(to.where);
  auto got = co_await exchange(to, until);
  if (bug != nullptr && bug->runs_again && !got && !at_.dead && std::holds_alternative<guest::lost>(got.error())) {
    auto again = co_await exchange(to, until);
    got = std::move(again);
  }
  if (bug != nullptr && bug->reports && !is_probe)
    bug->reports(to.where, got);
  if (got && is_probe)
    co_await output.take(guest::stream::out, test::scripted_guest::unprivileged_status());
  co_return got;
}

asio::awaitable<guest::result<guest::health>> host_guests::look(guest::endpoint where, deadline) {
  const auto* there = at_.net.on.guest_at(where.host);
  if (there == nullptr || at_.dead)
    co_return tl::unexpected{guest::failure{guest::dial_failed{where.host, where.port, "refused"}}};
  auto seen = guest::health{};
  seen.ok = true;
  seen.protocol_version = 1;
  seen.features = {std::string{guest::feature::pinned_guest}};
  co_return seen;
}

asio::awaitable<guest::result<guest::file_content>> host_guests::read_file(guest::endpoint, std::string, std::size_t, deadline) {
  co_return tl::unexpected{guest::failure{guest::refused{"ENOENT", "no files here"}}};
}

asio::awaitable<guest::result<guest::file_written>> host_guests::write_file(guest::endpoint, std::string, std::string, deadline) {
  co_return tl::unexpected{guest::failure{guest::refused{"EROFS", "no files here"}}};
}

} // namespace paddock::sim
