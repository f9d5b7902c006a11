#include "guest/flows/requests.hpp"

#include "guest/envelope.hpp"
#include "guest/host_replies.hpp"
#include "guest/host_requests.hpp"

#include <boost/asio/error.hpp>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

tl::unexpected<failure> protocol(std::string text) {
  return tl::unexpected{failure{protocol_failure{std::move(text)}}};
}

tl::unexpected<failure> gone(std::string text) {
  return tl::unexpected{failure{lost{std::move(text)}}};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// The rows of an execute stream: which events may come, and when it is whole.
class stream_reader {
public:
  explicit stream_reader(bool bytes) : bytes_(bytes) {
  }
  /// Takes a payload; gives the output in it, if any.
  result<std::optional<delta>> take(std::string payload) {
    if (is_blank(payload))
      return std::nullopt;
    if (bytes_ && !end_)
      if (auto lifted = lift_delta(payload)) {
        if (!*lifted)
          return tl::unexpected{std::move(lifted->error())};
        return std::move(**lifted);
      }
    const auto event = parse_payload(payload);
    if (!event)
      return protocol("an event is not JSON");
    auto read = read_event(*event, bytes_);
    if (end_)
      return protocol("an event after the result");
    if (!read)
      return tl::unexpected{std::move(read.error())};
    if (auto* output = std::get_if<delta>(&*read))
      return std::move(*output);
    end_ = std::get<command_end>(std::move(*read));
    end_->lossy = !bytes_;
    return std::nullopt;
  }
  [[nodiscard]] const std::optional<command_end>& end() const noexcept {
    return end_;
  }

private:
  bool bytes_;
  std::optional<command_end> end_;
};

/// Feeds the input, as fast as the connection takes it. A connection that fails is noticed by the reader.
asio::awaitable<bool> feed(flow_time& time, std::shared_ptr<execute_stream> it, std::shared_ptr<host_connection> on) {
  while (true) {
    auto piece = co_await it->input->next();
    const auto last = piece.empty();
    auto rest = std::string_view{piece};
    do {
      const auto part = rest.substr(0, stdin_piece);
      rest.remove_prefix(part.size());
      const auto sent = co_await on->write(time, stdin_frame(part), std::nullopt);
      if (sent.ec)
        co_return false;
    } while (!rest.empty());
    if (last)
      co_return true;
  }
}

} // namespace

asio::awaitable<result<nlohmann::json>> one_reply(flow_time& time, transport_options with, endpoint where, std::string frame,
                                                  std::uint64_t ceiling, deadline until, std::shared_ptr<trace> seen) {
  auto opened = co_await host_connection::open(time, with, where, until, seen);
  if (!opened)
    co_return tl::unexpected{std::move(opened.error())};
  auto on = std::move(*opened);
  const auto sent = co_await on->write(time, std::move(frame), time.now() + with.read_idle);
  // A guest that refuses need not have read all of it, so a failed write does not mean that there is no reply.
  auto payload = std::optional<std::string>{};
  while (!payload) {
    const auto got = co_await on->read(time, time.now() + with.read_idle);
    auto step = on->frames().next(ceiling);
    if (auto* bad = std::get_if<frame_reader::malformed>(&step))
      co_return protocol(to_string(bad->why));
    if (auto* large = std::get_if<frame_reader::too_large>(&step))
      co_return tl::unexpected{failure{refused{"reply_too_large", "reply_too_large: " + std::to_string(large->announced) + " bytes"}}};
    if (auto* whole = std::get_if<frame_reader::frame>(&step))
      payload = std::move(whole->payload);
    else if (got.ec == asio::error::timed_out)
      co_return gone("idle timeout: no reply within " + std::to_string(with.read_idle.count()) + "ms");
    else if (got.ec == asio::error::eof)
      co_return gone("socket closed before reply");
    else if (got.ec)
      co_return gone((sent.ec ? sent.ec : got.ec).message() + " before the reply");
  }
  // The reply must be alone in the bytes that completed it, and after it.
  const auto more = on->frames().next(ceiling);
  if (std::holds_alternative<frame_reader::frame>(more))
    co_return protocol("multiple frames in a reply");
  if (on->frames().buffered() != 0)
    co_return protocol("trailing partial data after a reply");
  auto reply = parse_payload(*payload);
  if (!reply)
    co_return protocol("the reply is not JSON");
  if (with.observer && reply->is_object())
    with.observer->answered(where, boot_in(*reply));
  const auto open = co_await on->expect_close(time, time.now() + with.close_after);
  if (open)
    co_return protocol(*open);
  co_return std::move(*reply);
}

namespace {

asio::awaitable<result<command_end>> read_stream(flow_time& time, transport_options with, std::shared_ptr<execute_stream> it,
                                                 deadline until) {
  auto opened = co_await host_connection::open(time, with, it->where, until, it->seen);
  if (!opened)
    co_return tl::unexpected{std::move(opened.error())};
  auto on = std::move(*opened);
  const auto sent = co_await on->write(time, std::move(it->frame), std::nullopt);
  if (!sent.ec && it->input != nullptr)
    it->writer = it->kin->start(feed(time, it, on));
  auto reader = stream_reader{it->bytes};
  while (true) {
    auto step = on->frames().next(with.event_ceiling);
    if (auto* bad = std::get_if<frame_reader::malformed>(&step))
      co_return protocol(to_string(bad->why));
    if (auto* large = std::get_if<frame_reader::too_large>(&step))
      co_return protocol("an event of " + std::to_string(large->announced) + " bytes");
    if (auto* whole = std::get_if<frame_reader::frame>(&step)) {
      if (whole->payload.empty())
        break;
      auto got = reader.take(std::move(whole->payload));
      if (!got)
        co_return tl::unexpected{std::move(got.error())};
      if (*got && !(*got)->bytes.empty())
        co_await it->output->take((*got)->which, std::move((*got)->bytes));
      continue;
    }
    const auto got = co_await on->read(time, std::nullopt);
    if (got.ec == asio::error::eof)
      co_return gone("closed before exec stream terminator");
    if (got.ec)
      co_return gone((sent.ec ? sent.ec : got.ec).message() + " before exec stream terminator");
  }
  if (!reader.end())
    co_return gone("the exec stream ended without a result event");
  if (on->frames().buffered() != 0)
    co_return protocol("data after the exec stream terminator");
  const auto open = co_await on->expect_close(time, time.now() + with.close_after);
  if (open)
    co_return protocol(*open);
  co_return *reader.end();
}

} // namespace

asio::awaitable<result<command_end>> run_stream(flow_time& time, transport_options with, std::shared_ptr<execute_stream> it,
                                                deadline until) {
  auto got = co_await read_stream(time, std::move(with), it, until);
  if (it->writer)
    it->writer->stop();
  co_return got;
}

} // namespace paddock::guest
