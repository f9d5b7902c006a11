#include "guest/flows/stream_transport.hpp"

#include "base/flows/unthrown.hpp"
#include "guest/features.hpp"
#include "guest/flows/features_of.hpp"
#include "guest/flows/pinnable.hpp"
#include "guest/flows/stream_opening.hpp"
#include "guest/host_stream_requests.hpp"

#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

asio::awaitable<bool> send_input(stream_connection::self it, std::string bytes, bool as_bytes) {
  auto rest = std::string_view{bytes};
  auto taken = !it->over().has_value();
  while (taken && !rest.empty()) {
    auto frame = input_frame(take_piece(rest, !as_bytes), as_bytes);
    taken = co_await stream_connection::send(it, std::move(frame));
  }
  co_return taken;
}

asio::awaitable<bool> send_tcp(stream_connection::self it, std::string bytes) {
  auto rest = std::string_view{bytes};
  auto taken = !it->over().has_value();
  while (taken && !rest.empty()) {
    auto frame = tcp_data_frame(take_piece(rest, false));
    taken = co_await stream_connection::send(it, std::move(frame));
  }
  co_return taken;
}

asio::awaitable<bool> refuse() {
  co_return false;
}

asio::awaitable<bool> answer(bool what) {
  co_return what;
}

asio::awaitable<result<terminal_end>> terminal_ending(stream_connection::self it) {
  auto how = co_await stream_connection::end(it);
  if (how.said)
    co_return how.said->how;
  if (it->opened().position)
    co_return tl::unexpected{failure{session_detached{it->next_offset(), std::move(how.text)}}};
  co_return terminal_end{};
}

class real_terminal final : public terminal_stream {
public:
  real_terminal(stream_holder it, std::chrono::milliseconds kill_grace) : it_(std::move(it)), kill_grace_(kill_grace) {
  }
  [[nodiscard]] const std::optional<guest_boot_id>& boot() const override {
    return it_->opened().boot;
  }
  [[nodiscard]] const std::optional<session_position>& position() const override {
    return it_->opened().position;
  }
  [[nodiscard]] std::optional<std::uint64_t> next_offset() const override {
    return it_->opened().position ? it_->next_offset() : std::nullopt;
  }
  asio::awaitable<std::string> next() override {
    return stream_connection::next(it_.get());
  }
  asio::awaitable<bool> write(std::string bytes) override {
    const auto as_bytes = it_->opened().bytes;
    if (!as_bytes) {
      bytes.insert(0, std::exchange(unfinished_, {}));
      unfinished_ = bytes.substr(bytes.size() - unfinished_tail(bytes));
      bytes.resize(bytes.size() - unfinished_.size());
    }
    return send_input(it_.get(), std::move(bytes), as_bytes);
  }
  asio::awaitable<bool> resize(window_size size) override {
    if (!is_window(size))
      return answer(!it_->over().has_value());
    return stream_connection::send(it_.get(), resize_frame(size));
  }
  asio::awaitable<bool> kill(std::string signal) override {
    // From now on, not from when the frame has gone: a guest that does not read is severed too.
    it_->sever_after(kill_grace_);
    return stream_connection::send(it_.get(), kill_frame(signal));
  }
  void detach() override {
    it_->sever("detached by the caller");
  }
  asio::awaitable<result<terminal_end>> end() override {
    return terminal_ending(it_.get());
  }

private:
  stream_holder it_;
  std::chrono::milliseconds kill_grace_;
  std::string unfinished_; // the begin of a character that the last write ended in; of text only
};

class real_tcp final : public tcp_stream {
public:
  real_tcp(stream_holder it, std::chrono::milliseconds destroy_grace) : it_(std::move(it)), destroy_grace_(destroy_grace) {
  }
  [[nodiscard]] const std::optional<guest_boot_id>& boot() const override {
    return it_->opened().boot;
  }
  asio::awaitable<std::string> next() override {
    return stream_connection::next(it_.get());
  }
  asio::awaitable<bool> write(std::string bytes) override {
    if (finished_)
      return refuse();
    return send_tcp(it_.get(), std::move(bytes));
  }
  asio::awaitable<bool> finish() override {
    if (std::exchange(finished_, true))
      return answer(!it_->over().has_value());
    return stream_connection::send(it_.get(), tcp_end_frame());
  }
  void destroy() override {
    it_->leave(tcp_destroy_frame(), destroy_grace_);
  }

private:
  stream_holder it_;
  std::chrono::milliseconds destroy_grace_;
  bool finished_ = false;
};

using terminal_opened = asio::awaitable<result<std::unique_ptr<terminal_stream>>>;
using tcp_opened = asio::awaitable<result<std::unique_ptr<tcp_stream>>>;

class tcp_stream_host final : public stream_host {
public:
  tcp_stream_host(flow_time& time, transport_options transport, stream_options streams) :
    time_(time), transport_(std::move(transport)), streams_(streams), features_(transport_.cached_endpoints) {
  }

  terminal_opened open_terminal(endpoint where, terminal_request what, deadline until) override {
    return unthrown(open(std::move(where), std::move(what), until));
  }
  terminal_opened attach_session(endpoint where, session_attach what, deadline until) override {
    return unthrown(open(std::move(where), std::move(what), until));
  }
  tcp_opened open_tcp(endpoint where, std::string host, int port, deadline until) override {
    return unthrown(connect(std::move(where), std::move(host), port, until));
  }

private:
  static result<std::string> frame_of(const endpoint& where, const terminal_request& what, const stream_form& form) {
    return terminal_frame(where, what, form);
  }
  static result<std::string> frame_of(const endpoint& where, const session_attach& what, const stream_form& form) {
    return attach_session_frame(where, what, form);
  }
  static std::optional<std::string> session_of(const terminal_request& what) {
    return what.session;
  }
  static std::optional<std::string> session_of(const session_attach& what) {
    return what.session;
  }

  template <class Request>
  terminal_opened open(endpoint where, Request what, deadline until) {
    auto form = stream_form{false, streams_.heartbeat};
    // A request that no guest would take is refused before any guest is asked.
    if (auto plain = frame_of(where, what, form); !plain)
      co_return tl::unexpected{std::move(plain.error())};
    auto known = co_await features_of(time_, transport_, features_, where, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    auto session = session_of(what);
    if (auto problem = lacks_pin(where, *known))
      co_return tl::unexpected{std::move(*problem)};
    if (session && !has_feature(*known, feature::sessions))
      co_return missing(feature::sessions);
    form.bytes = has_feature(*known, feature::stream_bytes);
    auto frame = frame_of(where, what, form);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    auto asked = asked_stream{asked_stream::kind::terminal, std::move(session), form.bytes, form.heartbeat};
    auto got = co_await open_stream(time_, transport_, streams_, std::move(where), std::move(*frame), std::move(asked), until);
    if (!got)
      co_return tl::unexpected{std::move(got.error())};
    co_return std::make_unique<real_terminal>(std::move(*got), streams_.kill_grace);
  }

  tcp_opened connect(endpoint where, std::string host, int port, deadline until) {
    auto frame = tcp_connect_frame(where, host, port, stream_form{false, streams_.heartbeat});
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    auto may = co_await pinnable(time_, transport_, features_, where, until);
    if (!may)
      co_return tl::unexpected{std::move(may.error())};
    auto asked = asked_stream{asked_stream::kind::tcp, std::nullopt, false, streams_.heartbeat};
    auto got = co_await open_stream(time_, transport_, streams_, std::move(where), std::move(*frame), std::move(asked), until);
    if (!got)
      co_return tl::unexpected{std::move(got.error())};
    co_return std::make_unique<real_tcp>(std::move(*got), transport_.close_after);
  }

  static tl::unexpected<failure> missing(std::string_view what) {
    return tl::unexpected{failure{unsupported{std::string{what}}}};
  }

  flow_time& time_;
  transport_options transport_;
  stream_options streams_;
  feature_cache features_;
};

} // namespace

std::unique_ptr<stream_host> make_stream_host(flow_time& time, transport_options transport, stream_options streams) {
  return std::make_unique<tcp_stream_host>(time, std::move(transport), streams);
}

} // namespace paddock::guest
