// Terminals, sessions and ports: streams that live as long as both sides do.

#include "guest/flows/family.hpp"
#include "workspace/flows/guest_jobs.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstring>
#include <string_view>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

using shared_terminal = std::shared_ptr<guest::terminal_stream>;
using shared_tcp = std::shared_ptr<guest::tcp_stream>;

constexpr std::string_view end_of_transmission = "\x04"; // what a terminal takes for the end of its input

/// The bound of what lives as long as both sides do.
deadline forever() {
  return deadline{time_source::clock::time_point::max()};
}

template <class Stream>
asio::awaitable<bool> output_of(shared_call call, flow_time& time, std::shared_ptr<Stream> from) {
  for (;;) {
    auto piece = co_await from->next();
    if (piece.empty())
      co_return true;
    const auto all = co_await hand_on(call, guest::stream::out, std::move(piece), time, forever());
    if (!all)
      co_return false;
  }
}

asio::awaitable<bool> end_input(shared_terminal to) {
  auto mark = std::string{end_of_transmission};
  co_return co_await to->write(std::move(mark));
}
asio::awaitable<bool> end_input(shared_tcp to) {
  co_return co_await to->finish();
}

template <class Stream>
asio::awaitable<bool> input_of(shared_call call, flow_time& time, std::shared_ptr<Stream> to) {
  for (;;) {
    const auto there = co_await has_input(call, time, forever());
    if (!there)
      co_return false;
    auto piece = call->take_input();
    if (piece.empty())
      co_return co_await end_input(to);
    const auto taken = co_await to->write(std::move(piece));
    if (!taken)
      co_return false;
  }
}

asio::awaitable<bool> steering_of(shared_call call, shared_terminal to) {
  for (;;) {
    while (!call->steers.empty()) {
      auto next = std::move(call->steers.front());
      call->steers.pop_front();
      if (const auto* size = std::get_if<resize_terminal>(&next))
        co_await to->resize(size->size);
      else if (auto* signal = std::get_if<signal_terminal>(&next))
        co_await to->kill(std::move(signal->name));
    }
    if (call->leaving) {
      to->detach();
      co_return true;
    }
    [[maybe_unused]] auto rung = co_await call->steer_bell.async_wait(asio::as_tuple(asio::use_awaitable));
    const auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state))
      co_return false;
  }
}

std::string name_of_signal(int number) {
  const auto* known = ::sigabbrev_np(number);
  return known != nullptr ? std::string{"SIG"} + known : "SIG" + std::to_string(number);
}

/// What is started beside the output and the input of a stream.
void start_steering(guest::family& kin, shared_call call, shared_terminal stream) {
  kin.start(steering_of(std::move(call), std::move(stream)));
}
void start_steering(guest::family&, const shared_call&, const shared_tcp&) {
}

void leave(const shared_terminal& stream) {
  stream->detach();
}
void leave(const shared_tcp& stream) {
  stream->destroy();
}

/// Carries the bytes of a stream until it ends or the call is withdrawn; it is left then.
template <class Stream>
asio::awaitable<void> carry_bytes(job_place at, std::shared_ptr<Stream> stream) {
  at.call->open_window(input_window);
  const auto throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  auto lane = co_await asio::this_coro::executor;
  auto kin = std::make_shared<guest::family>(at.time, lane);
  auto output = kin->start(output_of<Stream>(at.call, at.time, stream));
  kin->start(input_of<Stream>(at.call, at.time, stream));
  start_steering(*kin, at.call, stream);
  co_await kin->settle(output, forever().at(), true);
  leave(stream);
  co_await kin->close();
  co_await asio::this_coro::throw_if_cancelled(throws);
}

job_flow carry_terminal(job_place at, guest::result<std::unique_ptr<guest::terminal_stream>> opened) {
  if (!opened)
    co_return fail(std::move(opened.error()));
  auto stream = shared_terminal{std::move(*opened)};
  auto note = job_note{};
  if (const auto& position = stream->position()) {
    note.what = job_note::kind::attached;
    note.state = position->state;
    note.from_offset = position->from_offset;
    note.dropped_bytes = position->dropped_bytes;
    note.next_offset = position->next_offset;
  }
  at.call->noted(std::move(note));
  co_await carry_bytes(at, stream);
  const auto throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  auto ended = co_await stream->end(); // every stream ends once it was left
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (at.call->broken)
    co_return fail(*at.call->broken);
  if (!ended)
    co_return fail(std::move(ended.error()));
  auto end = job_end{};
  end.how.exit_code = ended->exit_code;
  if (ended->signal)
    end.how.signal = name_of_signal(*ended->signal);
  end.next_offset = stream->next_offset().value_or(0);
  end.boot = stream->boot();
  co_return end;
}

} // namespace

job_flow carry_out(job_place at, terminal_job what) {
  auto opened = co_await at.in.streams.open_terminal(at.where, std::move(what.what), at.until);
  co_return co_await carry_terminal(at, std::move(opened));
}

job_flow carry_out(job_place at, rejoin_job what) {
  auto opened = co_await at.in.streams.attach_session(at.where, std::move(what.what), at.until);
  co_return co_await carry_terminal(at, std::move(opened));
}

job_flow carry_out(job_place at, tcp_job what) {
  auto opened = co_await at.in.streams.open_tcp(at.where, std::move(what.host), what.port, at.until);
  if (!opened)
    co_return fail(std::move(opened.error()));
  auto stream = shared_tcp{std::move(*opened)};
  at.call->noted(job_note{});
  co_await carry_bytes(at, stream);
  if (at.call->broken)
    co_return fail(*at.call->broken);
  auto end = job_end{};
  end.boot = stream->boot();
  co_return end;
}

} // namespace paddock::workspace
