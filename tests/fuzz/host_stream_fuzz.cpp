// The events of one stream of a guest, one a line, from bytes of anyone's choosing. The first byte chooses which of the host's
// readers takes them, the second what the host had asked. Besides not crashing: nothing is accepted after the end, no place in a log
// goes back, no more comes than was asked for or announced, what is refused is a failure that says so in bounded text, and the form
// in which our agent writes bulk means what it means to the parser.
#include "base/utf8.hpp"
#include "guest/envelope.hpp"
#include "guest/flows/retained_sink.hpp"
#include "guest/heartbeat.hpp"
#include "guest/host_file_replies.hpp"
#include "guest/host_replies.hpp"
#include "guest/host_stream_events.hpp"
#include "guest/host_work_replies.hpp"
#include "tests/fuzz/require.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock::guest;
using namespace std::chrono_literals;
using nlohmann::json;
using paddock::require;

namespace {

namespace asio = boost::asio;

const auto asked_id = std::string{"exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915"};
const auto asked_session = std::string{"build"};
constexpr std::uint64_t max_safe = 9'007'199'254'740'991;
constexpr std::uint64_t longest_message = 16 * 1024;

// What of a call the second byte says.
struct asked {
  bool bytes = false;
  bool first = false;
  bool second = false;
  bool third = false;
};

using payloads = std::vector<std::string>;

template <class... Kinds>
bool is_one_of(const failure& x) {
  return (std::holds_alternative<Kinds>(x) || ...);
}

template <class... Kinds>
void require_failure(const failure& x) {
  require((is_one_of<unauthorized, retiring, guest_mismatch, refused, protocol_failure, Kinds...>(x)));
  const auto text = to_string(x);
  require(text.size() <= longest_message && paddock::is_utf8(text));
}

// -- a file ------------------------------------------------------------------------------------------------------------

void read_file(const payloads& rows, asked how) {
  const auto offset = how.first ? std::optional<std::uint64_t>{3} : std::nullopt;
  const auto length = how.second ? std::optional<std::uint64_t>{5} : std::nullopt;
  auto reader = file_stream_reader{offset, length};
  auto parsing = file_stream_reader{offset, length};
  auto received = std::uint64_t{0};
  for (const auto& row : rows) {
    const auto over = reader.complete();
    const auto got = reader.take(row);
    // With a space in front it is not the usual form, and goes through the parser.
    const auto again = parsing.take(" " + row);
    require(got.has_value() == again.has_value());
    if (!got)
      return require_failure<lost>(got.error());
    require(!over && *got == *again && reader.complete() == parsing.complete());
    received += got->size();
    const auto& meta = reader.meta();
    require(meta ? received <= meta->length : received == 0);
    if (meta)
      require(meta->offset == offset.value_or(0) && meta->length <= length.value_or(max_safe) && meta->length <= meta->size);
    require(!reader.complete() || received == meta->length);
  }
}

// -- a terminal, a session, a port ---------------------------------------------------------------------------------------

class stream_watch {
public:
  explicit stream_watch(const asked_stream& what) : asked_(what) {
  }
  void operator()(const stream_events::nothing&) {
  }
  void operator()(stream_events::opened& x) {
    require(!open_ && !over_);
    open_ = true;
    require(x.position.has_value() == asked_.session.has_value());
    require(!x.bytes || asked_.bytes);
    require(!x.heartbeat || (*x.heartbeat >= shortest_heartbeat && *x.heartbeat <= std::max(4 * asked_.heartbeat, shortest_heartbeat)));
    if (x.early.bytes() > asked_.waiting_bytes) { // the newest is kept whatever its size
      static_cast<void>(x.early.pop());
      require(x.early.empty());
    }
    reach(x.resume_at);
  }
  void operator()(const stream_output& x) {
    require(open_ && !over_);
    reach(x.next_offset);
  }
  void operator()(const stream_events::ended& x) {
    require(open_ && !over_);
    over_ = true;
    reach(x.next_offset);
  }
  void operator()(const stream_events::broken& x) {
    require(!over_ && x.text.size() <= longest_message);
    over_ = true;
    require_failure<command_failed, lost, session_refused>(x.why);
  }
  [[nodiscard]] bool over() const {
    return over_;
  }

private:
  void reach(const std::optional<std::uint64_t>& place) {
    require(!place || *place <= max_safe);
    if (!asked_.session || !place)
      return;
    require(*place >= place_);
    place_ = *place;
  }

  asked_stream asked_;
  bool open_ = false;
  bool over_ = false;
  std::uint64_t place_ = 0;
};

void read_stream(const payloads& rows, asked how) {
  auto what = asked_stream{};
  what.what = how.first ? asked_stream::kind::tcp : asked_stream::kind::terminal;
  if (how.second && !how.first)
    what.session = asked_session;
  what.bytes = how.bytes;
  what.heartbeat = how.third ? 15'000ms : 0ms;
  what.waiting_bytes = 16;
  auto events = stream_events{what};
  auto watch = stream_watch{what};
  for (const auto& row : rows) {
    auto event = events.take(row);
    std::visit(watch, event);
    require(events.over() == watch.over());
  }
}

void read_session(const payloads& rows, asked how) {
  auto reader = session_reader{asked_session, how.bytes};
  auto place = std::uint64_t{0};
  for (const auto& row : rows) {
    const auto event = parse_payload(row);
    if (!event)
      return;
    const auto before = reader.chunk().bytes;
    const auto ready = reader.ready();
    const auto got = reader.take(*event);
    const auto& chunk = reader.chunk();
    if (!got) {
      require(chunk.bytes == before);
      return require_failure<session_refused>(got.error());
    }
    require(chunk.bytes.starts_with(before) && (ready || chunk.bytes.empty()));
    require(!reader.ready() || chunk.status == "running" || chunk.status == "exited" || chunk.status == "killed");
    require(chunk.next_offset <= max_safe && chunk.dropped_bytes <= max_safe);
    if (event->at("type") == "data") {
      require(chunk.next_offset >= place);
      place = chunk.next_offset;
    }
  }
}

// -- an execution ------------------------------------------------------------------------------------------------------

void read_events(const payloads& rows, asked how) {
  for (const auto& row : rows) {
    const auto event = parse_payload(row);
    const auto got = event ? std::optional{read_event(*event, how.bytes)} : std::nullopt;
    if (got && !*got)
      require_failure<command_failed>(got->error());
    if (got && *got)
      if (const auto* end = std::get_if<command_end>(&**got))
        require(end->took >= 0ms);
    auto payload = row;
    const auto lifted = lift_delta(payload);
    if (!lifted)
      require(payload == row);
    if (!lifted || !how.bytes)
      continue;
    require(lifted->has_value() == (got && *got));
    if (!*lifted)
      continue;
    const auto* parsed = std::get_if<delta>(&**got);
    require(parsed != nullptr && parsed->which == (*lifted)->which && parsed->bytes == (*lifted)->bytes);
  }
}

class watching_log final : public log_sink {
public:
  asio::awaitable<void> take(stream, std::string bytes, std::uint64_t next_offset) override {
    require(!bytes.empty() && next_offset >= place && next_offset <= max_safe);
    place = next_offset;
    co_return;
  }
  asio::awaitable<void> gap(std::uint64_t from_offset, std::uint64_t dropped_bytes) override {
    require(dropped_bytes > 0 && from_offset <= max_safe);
    gaps = true;
    co_return;
  }
  std::uint64_t place = 0;
  bool gaps = false;
};

void read_retained(const payloads& rows, asked how) {
  auto io = asio::io_context{1};
  auto log = watching_log{};
  auto of = std::make_shared<observation>(observation{asked_id, how.bytes, &log});
  auto sink = retained_sink{of, how.first ? retained_sink::kind::attach : retained_sink::kind::execute};
  for (const auto& row : rows) {
    const auto complete = sink.complete();
    const auto attached = sink.attached();
    auto got = std::optional<result<void>>{};
    asio::co_spawn(io, sink.take(row), [&](std::exception_ptr thrown, result<void> x) {
      require(thrown == nullptr);
      got = std::move(x);
    });
    io.restart();
    io.run();
    require(got.has_value());
    if (!*got)
      return require_failure<command_failed, not_attachable>(got->error());
    require(!complete && (!how.first || sink.attached()));
    require(of->cursor.offset() >= log.place || attached != sink.attached()); // where it begins is for the guest to say
    log.place = of->cursor.offset();
  }
  if (!sink.complete())
    return;
  const auto end = sink.end();
  if (!end)
    return require_failure<command_failed>(end.error());
  require(end->next_offset == of->cursor.offset() && end->execution_id == asked_id);
  require(!log.gaps || (end->end.out_truncated && end->end.err_truncated && end->dropped_bytes > 0));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2)
    return 0;
  auto text = std::string_view{reinterpret_cast<const char*>(data), size}.substr(2);
  auto rows = payloads{};
  while (!text.empty() && rows.size() < 64) {
    const auto end = text.find('\n');
    rows.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const auto how = asked{(data[1] & 1) != 0, (data[1] & 2) != 0, (data[1] & 4) != 0, (data[1] & 8) != 0};
  switch (data[0] % 8) {
    case 0: read_file(rows, how); break;
    case 1: read_stream(rows, how); break;
    case 2: read_session(rows, how); break;
    case 3: read_events(rows, how); break;
    case 4: read_retained(rows, how); break;
    default: break;
  }
  return 0;
}
