#include "guest/flows/file_read.hpp"

#include "guest/flows/bounded_call.hpp"
#include "guest/flows/family.hpp"
#include "guest/flows/framed_stream.hpp"
#include "guest/host_file_replies.hpp"
#include "guest/host_file_requests.hpp"

#include <boost/asio/this_coro.hpp>

#include <deque>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

// The guest sends 256 KiB at a time; an event with more than this is not one of them.
constexpr std::uint64_t event_ceiling = 16 * 1024 * 1024;
constexpr std::size_t piece_size = 256 * 1024;

/// What has been decoded and not been handed out, between the coroutine that reads and the one that hands out.
class queue {
public:
  queue(const asio::any_io_executor& lane, std::uint64_t most) :
    most_(most), filled_(lane, asio::steady_timer::time_point::max()), drained_(lane, asio::steady_timer::time_point::max()) {
  }
  asio::awaitable<void> put(std::string bytes) {
    size_ += bytes.size();
    chunks_.push_back(std::move(bytes));
    filled_.cancel();
    while (size_ >= most_)
      co_await ring(drained_);
  }
  /// The next chunk; empty once all have been given and none will come.
  asio::awaitable<std::string> next() {
    while (chunks_.empty() && !whole_)
      co_await ring(filled_);
    if (chunks_.empty() || dropped_)
      co_return std::string{};
    auto chunk = std::move(chunks_.front());
    chunks_.pop_front();
    size_ -= chunk.size();
    drained_.cancel();
    co_return chunk;
  }
  /// Nothing more comes, and all that is held is good.
  void finish() {
    whole_ = true;
    filled_.cancel();
  }
  /// Nothing that is held may be handed out any more.
  void drop() {
    dropped_ = true;
    chunks_.clear();
    finish();
  }

private:
  // A cancelled coroutine throws at its next await.
  static asio::awaitable<void> ring(asio::steady_timer& bell) {
    [[maybe_unused]] auto [ec] = co_await bell.async_wait(asio::as_tuple(asio::use_awaitable));
  }

  std::uint64_t most_;
  std::deque<std::string> chunks_;
  std::uint64_t size_ = 0;
  bool whole_ = false;
  bool dropped_ = false;
  asio::steady_timer filled_;
  asio::steady_timer drained_;
};

class decoder final : public event_sink {
public:
  decoder(file_part part, queue& to) : rows_(part.offset, part.length), to_(to) {
  }
  asio::awaitable<result<void>> take(std::string payload) override {
    auto bytes = rows_.take(std::move(payload));
    if (!bytes)
      co_return tl::unexpected{std::move(bytes.error())};
    if (!bytes->empty())
      co_await to_.put(std::move(*bytes));
    co_return result<void>{};
  }
  [[nodiscard]] bool complete() const override {
    return rows_.complete();
  }
  [[nodiscard]] file_read found() const {
    const auto meta = rows_.meta().value_or(file_meta{});
    return {meta.size, meta.offset, meta.length, std::nullopt};
  }

private:
  file_stream_reader rows_;
  queue& to_;
};

/// What the reading and the handing out of one read share; it lives as long as both.
struct read_state {
  read_state(const asio::any_io_executor& lane, file_part part, std::uint64_t most) : waiting(lane, most), rows(part, waiting) {
  }
  queue waiting;
  decoder rows;
};

asio::awaitable<result<void>> fill(flow_time& time, transport_options with, framed_stream what, std::shared_ptr<read_state> it,
                                   deadline until) {
  auto got = co_await run_framed_stream(time, std::move(with), std::move(what), it->rows, until);
  if (got)
    it->waiting.finish();
  else
    it->waiting.drop();
  co_return got;
}

asio::awaitable<bool> hand_out_queue(std::shared_ptr<read_state> it, byte_sink& to) {
  while (true) {
    auto chunk = co_await it->waiting.next();
    if (chunk.empty())
      co_return true;
    co_await to.take(std::move(chunk));
  }
}

} // namespace

asio::awaitable<result<file_read>> stream_file(flow_time& time, transport_options with, file_options files, endpoint where,
                                               std::string path, file_part part, byte_sink& to, deadline until) {
  auto frame = read_stream_frame(where, path, part.offset, part.length);
  if (!frame)
    co_return tl::unexpected{std::move(frame.error())};
  auto what = framed_stream{where, std::move(*frame)};
  what.name = "file stream";
  what.idle = with.read_idle;
  what.ceiling = event_ceiling;
  const auto seen = what.seen;
  auto lane = co_await asio::this_coro::executor;
  auto it = std::make_shared<read_state>(lane, part, files.queued_bytes);
  auto kin = std::make_shared<family>(time, lane);
  auto late = kin->alarm(until.at());
  auto reading = kin->start(fill(time, std::move(with), std::move(what), it, until));
  auto giving = kin->start(hand_out_queue(it, to));
  auto why = std::optional<woke>{};
  while (!why) {
    const bool withdrawn = co_await was_withdrawn();
    // Whichever ends without having done all of its work ends the other.
    if ((reading->over() && giving->over()) || (reading->over() && !(reading->value && *reading->value))
        || (giving->over() && !giving->value))
      why = woke::over;
    else if (withdrawn)
      why = woke::withdrawn;
    else if (late->over())
      why = woke::late;
    else
      co_await kin->wait();
  }
  // From here on nothing is handed out: a child that is stopped throws at its next await.
  co_await kin->close();
  if (*why != woke::over)
    co_return tl::unexpected{stopped(*why, where, *seen)};
  if (reading->value && !*reading->value)
    co_return tl::unexpected{std::move(reading->value->error())};
  if (!giving->value || !reading->value)
    co_return tl::unexpected{failure{lost{giving->thrown().value_or(reading->thrown().value_or("the read was stopped"))}}};
  co_return it->rows.found();
}

asio::awaitable<result<file_read>> hand_out(file_content all, byte_sink& to) {
  const auto size = all.bytes.size();
  if (size <= piece_size && size != 0) {
    co_await to.take(std::move(all.bytes));
  } else {
    for (auto at = std::size_t{0}; at < size; at += piece_size) {
      auto piece = all.bytes.substr(at, piece_size);
      co_await to.take(std::move(piece));
    }
  }
  co_return file_read{size, 0, size, std::move(all.boot)};
}

} // namespace paddock::guest
