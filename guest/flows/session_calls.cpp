#include "guest/flows/session_calls.hpp"

#include "guest/envelope.hpp"
#include "guest/flows/bounded_call.hpp"
#include "guest/flows/framed_stream.hpp"
#include "guest/host_work_replies.hpp"

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

class session_sink final : public event_sink {
public:
  session_sink(transport_options with, endpoint where, std::string session, bool bytes) :
    with_(std::move(with)), where_(std::move(where)), reader_(std::move(session), bytes) {
  }
  asio::awaitable<result<void>> take(std::string payload) override {
    const auto event = parse_payload(payload);
    if (!event)
      co_return tl::unexpected{failure{protocol_failure{"an event is not JSON"}}};
    const auto before = reader_.ready();
    auto got = reader_.take(*event);
    if (got && !before && reader_.ready() && with_.observer)
      with_.observer->answered(where_, reader_.boot());
    co_return got;
  }
  [[nodiscard]] bool complete() const override {
    return reader_.ready();
  }
  [[nodiscard]] const session_chunk& chunk() const {
    return reader_.chunk();
  }

private:
  transport_options with_;
  endpoint where_;
  session_reader reader_;
};

asio::awaitable<result<session_chunk>> read_into(flow_time& time, transport_options with, framed_stream stream,
                                                 std::shared_ptr<session_sink> sink, deadline until) {
  auto got = co_await run_framed_stream(time, with, std::move(stream), *sink, until);
  if (!got)
    co_return tl::unexpected{std::move(got.error())};
  co_return sink->chunk();
}

} // namespace

asio::awaitable<result<session_chunk>> run_session_read(flow_time& time, transport_options with, endpoint where, std::string session,
                                                        std::string frame, bool bytes, deadline until) {
  auto stream = framed_stream{};
  stream.where = where;
  stream.frame = std::move(frame);
  stream.name = "session stream";
  stream.last = "`ready`";
  auto seen = stream.seen;
  auto sink = std::make_shared<session_sink>(with, where, std::move(session), bytes);
  auto reading = read_into(time, std::move(with), std::move(stream), std::move(sink), until);
  auto got = co_await bounded_call<session_chunk>(time, std::move(where), std::move(seen), std::move(reading), until);
  co_return got;
}

} // namespace paddock::guest
