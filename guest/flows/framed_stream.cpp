#include "guest/flows/framed_stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

tl::unexpected<failure> protocol(std::string text) {
  return tl::unexpected{failure{protocol_failure{std::move(text)}}};
}

tl::unexpected<failure> gone(std::string text) {
  return tl::unexpected{failure{lost{std::move(text)}}};
}

/// How long the peer has been silent. One timer watches a whole stream: it is not set anew with every piece.
struct silence {
  time_source::clock::time_point since;
  bool counts = true; // false: the host itself does not read
};

asio::awaitable<void> until_idle(flow_time& time, std::chrono::milliseconds bound, std::shared_ptr<silence> heard) {
  while (true) {
    const auto from = heard->counts ? heard->since : time.now();
    if (heard->counts && time.now() >= from + bound)
      co_return;
    co_await time.sleep_until(from + bound);
  }
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// The events of a stream whose request has been sent, up to and with its terminator.
asio::awaitable<result<void>> read_events(flow_time& time, std::shared_ptr<framed_stream> it, std::shared_ptr<host_connection> on,
                                          std::shared_ptr<silence> heard, event_sink& to) {
  while (true) {
    auto step = on->frames().next(it->ceiling);
    if (auto* bad = std::get_if<frame_reader::malformed>(&step))
      co_return protocol(to_string(bad->why));
    if (auto* large = std::get_if<frame_reader::too_large>(&step))
      co_return protocol("an event of " + std::to_string(large->announced) + " bytes in the " + it->name);
    if (auto* whole = std::get_if<frame_reader::frame>(&step)) {
      if (whole->payload.empty())
        break;
      if (is_blank(whole->payload))
        continue;
      heard->counts = false;
      auto taken = co_await to.take(std::move(whole->payload));
      if (!taken)
        co_return tl::unexpected{std::move(taken.error())};
      heard->since = time.now();
      heard->counts = true;
      continue;
    }
    const auto got = co_await on->read(time, std::nullopt);
    if (got.ec == asio::error::eof)
      co_return gone("closed before the terminator of the " + it->name);
    if (got.ec)
      co_return gone(got.ec.message() + " before the terminator of the " + it->name);
    heard->since = time.now();
  }
  if (!to.complete())
    co_return gone("the " + it->name + " ended without " + it->last);
  if (on->frames().buffered() != 0)
    co_return protocol("data after the terminator of the " + it->name);
  co_return result<void>{};
}

} // namespace

asio::awaitable<result<void>> run_framed_stream(flow_time& time, transport_options with, framed_stream what, event_sink& to,
                                                deadline dial_until) {
  auto it = std::make_shared<framed_stream>(std::move(what));
  auto opened = co_await host_connection::open(time, with, it->where, dial_until, it->seen);
  if (!opened)
    co_return tl::unexpected{std::move(opened.error())};
  auto on = std::move(*opened);
  // A guest that refuses need not have read the request, so a failed write does not mean that there is no answer.
  co_await on->write(time, std::move(it->frame), time.now() + with.read_idle);
  auto heard = std::make_shared<silence>(silence{time.now(), true});
  auto got = result<void>{};
  if (it->idle) {
    auto both = read_events(time, it, on, heard, to) || until_idle(time, *it->idle, heard);
    auto first = co_await std::move(both);
    if (auto* read = std::get_if<0>(&first))
      got = std::move(*read);
    else
      got = gone("idle timeout: nothing of the " + it->name + " within " + std::to_string(it->idle->count()) + "ms");
  } else {
    got = co_await read_events(time, it, on, heard, to);
  }
  if (!got)
    co_return got;
  const auto open = co_await on->expect_close(time, time.now() + with.close_after);
  if (open)
    co_return protocol(*open);
  co_return got;
}

} // namespace paddock::guest
