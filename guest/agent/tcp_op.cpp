// `tcp-connect`: the bytes of one connection to a service on the guest's loopback ([G] 10).

#include "base/base64.hpp"
#include "guest/agent/ops.hpp"
#include "guest/agent/process.hpp"
#include "guest/agent/stream_heart.hpp"
#include "guest/agent/unique_fd.hpp"
#include "guest/replies.hpp"
#include "guest/session_replies.hpp"
#include "guest/tcp_request.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <deque>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t window = 256 * 1024; // of each direction
constexpr int reads_a_turn = 4;
constexpr auto connect_bound = 10s; // of a service whose queue is full: [G] names none

// Twice the base64 of the largest data, so that each of its slashes may be escaped.
constexpr std::uint64_t frame_bound = 2 * base64_size(tcp_data_bound) + 1024;

class tcp_op final : public op_handler, public std::enable_shared_from_this<tcp_op> {
public:
  tcp_op(shared_core core, shared_channel to, tcp_request wanted) :
    core_(std::move(core)), to_(std::move(to)), wanted_(std::move(wanted)), service_(core_->io), timer_(core_->io) {
  }

  void begin();

  // -- op_handler -------------

  void frame(std::string payload) override;
  void drained() override;
  void closed() override {
    leave();
  }
  [[nodiscard]] bool ends_with_host() const override {
    return true;
  }
  [[nodiscard]] bool takes_frames() const override {
    return true;
  }
  [[nodiscard]] std::uint64_t frame_ceiling() const override {
    return std::min(frame_bound, core_->config.max_frame_bytes);
  }
  [[nodiscard]] bool drops(std::uint64_t announced) const override {
    return announced <= core_->config.max_frame_bytes;
  }

private:
  void connected();
  void watch();
  void read();
  void write();
  void fail(const char* call, int error);
  void leave();

  shared_core core_;
  shared_channel to_;
  tcp_request wanted_;
  asio::posix::stream_descriptor service_;
  asio::steady_timer timer_; // of the connecting
  std::shared_ptr<stream_heart> heart_;

  std::deque<std::string> waiting_; // for the service
  std::size_t taken_ = 0;           // of the first piece
  std::size_t waiting_bytes_ = 0;
  bool connected_ = false;
  bool writing_ = false; // a wait is under way
  bool ended_ = false;   // the host has: nothing more comes
  bool shut_ = false;    // and the service was told, or takes nothing any more
  int broken_ = 0;       // why the service takes nothing
  bool resting_ = false; // the service is not read while the host does not keep up
  bool over_ = false;
};

int connect_without_waiting(const tcp_request& wanted, unique_fd& made) {
  auto six = wanted.host == "::1";
  made = unique_fd{::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!made)
    return errno;
  auto on = 1;
  ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto v4 = sockaddr_in{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(wanted.port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto v6 = sockaddr_in6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(wanted.port);
  v6.sin6_addr = in6addr_loopback;
  auto failed = six ? ::connect(made.get(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6)
                    : ::connect(made.get(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  return failed == 0 ? 0 : errno;
}

// Where nobody listens, the kernel may give a connection the very port that it asks for, and connect it with itself.
bool connected_with_itself(int fd) {
  auto ours = sockaddr_storage{};
  auto theirs = sockaddr_storage{};
  auto size = socklen_t{sizeof ours};
  auto their_size = socklen_t{sizeof theirs};
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&ours), &size) == 0
         && ::getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &their_size) == 0 && size == their_size
         && std::memcmp(&ours, &theirs, size) == 0;
}

void tcp_op::begin() {
  auto fd = unique_fd{};
  auto error = connect_without_waiting(wanted_, fd);
  if (error != 0 && error != EINPROGRESS)
    return fail("connect", error);
  service_.assign(fd.release());
  timer_.expires_after(connect_bound);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code ec) {
    if (auto self = weak.lock(); self && !ec && !self->connected_)
      self->fail("connect", ETIMEDOUT);
  });
  service_.async_wait(asio::posix::descriptor_base::wait_write, [self = shared_from_this()](boost::system::error_code ec) {
    if (!ec && !self->over_)
      self->connected();
  });
}

void tcp_op::connected() {
  auto error = 0;
  auto size = socklen_t{sizeof error};
  if (::getsockopt(service_.native_handle(), SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    error = errno;
  if (error == 0 && connected_with_itself(service_.native_handle()))
    error = ECONNREFUSED;
  if (error != 0)
    return fail("connect", error);
  connected_ = true;
  timer_.cancel();
  to_->send(terminal_ready_event(core_->boot, {wanted_.heartbeat, false}));
  heart_ = stream_heart::arm(*core_, to_, wanted_.heartbeat);
  write();
  if (!over_)
    watch();
}

// -- from the service ----------------------------------------------------------------------------------------------------

void tcp_op::watch() {
  service_.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](boost::system::error_code ec) {
    if (!ec && !self->over_)
      self->read();
  });
}

void tcp_op::read() {
  auto& scratch = core_->scratch;
  for (auto turn = 0; turn < reads_a_turn && !over_; ++turn) {
    if (to_->unsent() > window) {
      resting_ = true;
      return;
    }
    auto n = ::recv(service_.native_handle(), scratch.data(), scratch.size(), 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      break;
    if (n < 0)
      return fail("read", errno);
    if (n == 0 && broken_ != 0)
      return fail("write", broken_);
    if (n == 0) {
      leave();
      to_->send(R"({"type":"end"})");
      return to_->finish();
    }
    to_->send_frame(service_data_frame({scratch.data(), static_cast<std::size_t>(n)}));
  }
  if (!over_)
    watch();
}

void tcp_op::drained() {
  if (!over_ && std::exchange(resting_, false))
    watch();
}

// -- to the service ------------------------------------------------------------------------------------------------------

void tcp_op::frame(std::string payload) {
  if (over_)
    return;
  auto event = read_tcp_frame(std::move(payload));
  if (std::holds_alternative<tcp_destroy>(event))
    return to_->destroy();
  if (ended_)
    return;
  if (std::holds_alternative<tcp_end>(event)) {
    ended_ = true;
    return write();
  }
  auto* data = std::get_if<tcp_data>(&event);
  if (data == nullptr || shut_)
    return;
  waiting_bytes_ += data->bytes.size();
  waiting_.push_back(std::move(data->bytes));
  write();
  if (waiting_bytes_ > window)
    to_->pause_reading(); // `write` goes on
}

void tcp_op::write() {
  if (!connected_ || writing_ || shut_)
    return;
  auto error = 0;
  while (!waiting_.empty() && error == 0) {
    const auto& piece = waiting_.front();
    auto n = ::send(service_.native_handle(), piece.data() + taken_, piece.size() - taken_, MSG_NOSIGNAL);
    if (n < 0) {
      error = errno == EINTR ? 0 : errno;
      continue;
    }
    taken_ += static_cast<std::size_t>(n);
    waiting_bytes_ -= static_cast<std::size_t>(n);
    if (taken_ == piece.size()) {
      waiting_.pop_front();
      taken_ = 0;
    }
  }
  if (error == EAGAIN) {
    writing_ = true;
    service_.async_wait(asio::posix::descriptor_base::wait_write, [self = shared_from_this()](boost::system::error_code ec) {
      self->writing_ = false;
      if (!ec && !self->over_)
        self->write();
    });
  } else if (error != 0) {
    // What the service sent before it broke off is still to be read; the reading ends with this error.
    broken_ = error;
    shut_ = true;
    waiting_.clear();
    waiting_bytes_ = 0;
  } else if (ended_) {
    shut_ = true;
    ::shutdown(service_.native_handle(), SHUT_WR);
  }
  if (waiting_bytes_ <= window)
    to_->resume_reading();
}

// -- the end -------------------------------------------------------------------------------------------------------------

void tcp_op::fail(const char* call, int error) {
  leave();
  auto shown = wanted_.host == "::1" ? "[::1]" : wanted_.host;
  to_->send(error_event(std::string{call} + " " + errno_name(error) + " " + shown + ":" + std::to_string(wanted_.port)));
  to_->finish();
}

void tcp_op::leave() {
  over_ = true;
  heart_ = nullptr;
  timer_.cancel();
  auto ignored = boost::system::error_code{};
  service_.close(ignored);
  waiting_.clear();
  waiting_bytes_ = 0;
}

} // namespace

shared_handler start_tcp_connect(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto wanted = read_tcp_request(body);
  if (!wanted) {
    to->send(error_event("invalid_loopback_target"));
    to->finish();
    return nullptr;
  }
  auto made = std::make_shared<tcp_op>(std::move(core), std::move(to), std::move(*wanted));
  made->begin();
  return made;
}

} // namespace paddock::guest
