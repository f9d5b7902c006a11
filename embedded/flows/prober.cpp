#include "embedded/flows/prober.hpp"

#include "base/flows/dial.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <signal.h>

namespace paddock::embedded {

namespace {

using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
using boost::asio::awaitable;

constexpr auto answer_limit = std::size_t{64} * 1024; // of the header, and of the body of a redirection

} // namespace

awaitable<bool> ask_http(http_exchange& exchange, http_probe what, std::string address, deadline until) {
  auto where = http_server_address{};
  where.tls = what.tls;
  where.insecure = true; // as kubelets do: a probe asks whether it answers, not who it is
  where.host = what.host.empty() ? address : what.host;
  where.port = what.port;
  auto message = http_request{"GET", what.path, what.headers, {}};
  // The status says it all: of a good answer's body no more is read than that it goes on, and only so long.
  auto bound = http_limits{answer_limit, answer_limit};
  auto read = std::make_shared<std::size_t>(0);
  auto enough =
    std::function<bool(std::string_view)>{[read](std::string_view bytes) { return (*read += bytes.size()) < probe_body_limit; }};
  auto got = co_await exchange.stream(std::move(where), std::move(message), bound, std::move(enough), 24h, until);
  co_return got && got->status >= 200 && got->status < 400;
}

namespace {

awaitable<bool> ask_tcp(tcp_probe what, std::string address, deadline until) {
  auto got = co_await dial(what.host.empty() ? address : what.host, what.port, until);
  co_return got.has_value();
}

/// Reads what a command writes, so that it never waits for a reader.
awaitable<void> drain(process& from) {
  auto buffer = std::array<char, 4096>{};
  for (;;) {
    auto [failed, n] =
      co_await from.output().async_read_some(boost::asio::buffer(buffer), boost::asio::as_tuple(boost::asio::use_awaitable));
    if (failed)
      co_return;
  }
}

awaitable<process_end> drained_end(process& of) {
  auto both = drain(of) && of.ended();
  co_return co_await std::move(both);
}

} // namespace

awaitable<std::optional<process_end>> run_command(node_context& node, process_request what, std::vector<std::string> command,
                                                  deadline until) {
  what.program = command.front();
  what.arguments.assign(command.begin() + 1, command.end());
  auto started = process::start(node.lane, std::move(what));
  if (!started)
    co_return std::nullopt;
  auto running = std::move(*started);
  auto any = drained_end(*running) || node.time().sleep_until(until.at());
  auto first = co_await std::move(any);
  if (first.index() == 0)
    co_return std::get<0>(first);
  running->signal(SIGKILL);
  std::ignore = co_await running->ended();
  co_return std::nullopt;
}

awaitable<bool> ask(node_context& node, probe what, probe_target where) {
  auto until = deadline{node.time(), what.timeout};
  if (auto* http = std::get_if<http_probe>(&what.how)) {
    auto good = co_await ask_http(node.exchange, *http, where.address, until);
    co_return good;
  }
  if (auto* tcp = std::get_if<tcp_probe>(&what.how)) {
    auto good = co_await ask_tcp(*tcp, where.address, until);
    co_return good;
  }
  auto command = std::get<exec_probe>(what.how).command;
  auto end = co_await run_command(node, std::move(where.exec), std::move(command), until);
  co_return end&&* end == process_end{};
}

namespace {

/// Asks in the probe's period and says what holds each time that enough answers in a row agree, until `decided` answers true.
awaitable<void> ask_in_turn(node_context& node, probe what, probe_target where, std::function<bool(bool)> decided) {
  auto count = probe_count{what.successes, what.failures};
  co_await node.time().sleep_until(node.time().now() + what.initial_delay);
  for (;;) {
    auto begun = node.time().now();
    auto good = co_await ask(node, what, where);
    if (auto now = count.saw(good); now && decided(*now))
      co_return;
    co_await node.time().sleep_until(begun + what.period);
  }
}

} // namespace

awaitable<bool> until_decided(node_context& node, probe what, probe_target where) {
  auto result = false;
  std::function<bool(bool)> decided = [&result](bool good) {
    result = good;
    return true;
  };
  co_await ask_in_turn(node, std::move(what), std::move(where), std::move(decided));
  co_return result;
}

awaitable<void> until_failed(node_context& node, probe what, probe_target where) {
  std::function<bool(bool)> decided = [](bool good) { return !good; };
  co_await ask_in_turn(node, std::move(what), std::move(where), std::move(decided));
}

awaitable<void> follow(node_context& node, probe what, probe_target where, bool now, std::function<void(bool)> changed) {
  std::function<bool(bool)> decided = [now, changed = std::move(changed)](bool good) mutable {
    if (good != now)
      changed(now = good);
    return false;
  };
  co_await ask_in_turn(node, std::move(what), std::move(where), std::move(decided));
}

awaitable<bool> until_guest_answers(node_context& node, guest::endpoint where, deadline until) {
  auto wait = back_off{20ms, 200ms};
  while (!until.passed(node.time())) {
    auto got = co_await node.guests.look(where, until.no_later_than(node.time().now() + 2s));
    if (got && got->ok)
      co_return true;
    auto next = until.no_later_than(node.time().now() + wait.next());
    co_await node.time().sleep_until(next.at());
  }
  co_return false;
}

} // namespace paddock::embedded
