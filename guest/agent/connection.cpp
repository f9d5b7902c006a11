#include "guest/agent/connection.hpp"

#include "guest/envelope.hpp"
#include "guest/lifted_payload.hpp"
#include "guest/replies.hpp"

#include <array>
#include <chrono>
#include <new>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using error_code = boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr int reads_a_turn = 4;
constexpr auto hangup_interval = 1s;
constexpr auto linger_bound = 10s; // for a peer that has had its answer, or has left without taking it

const nlohmann::json& body_of(const nlohmann::json& message) {
  static const auto none = nlohmann::json::object();
  if (!message.is_object())
    return none;
  auto at = message.find("body");
  return at != message.end() && at->is_object() ? *at : none;
}

bool has_body(const nlohmann::json& message) {
  return message.is_object() && message.contains("body") && message["body"].is_object();
}

// A file may be larger than the memory: that ends its request, not the agent.
template <class Work>
std::string unless_memory_ends(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return to_frame(refusal("ENOMEM: not enough memory"));
  }
}

} // namespace

connection::connection(std::shared_ptr<agent_core> core, socket s, std::uint64_t id) :
  core_(std::move(core)), socket_(std::move(s)), id_(id), idle_(core_->io), deadline_(core_->io), authenticated_(core_->gate.open()) {
}

connection::~connection() {
  core_->pool.leave(id_);
  core_->connections.erase(id_);
}

void connection::start() {
  if (!authenticated_)
    arm_preauth();
  wait_readable();
}

// -- before authentication ---------------------------------------------------------------------------------------------

void connection::arm_preauth() {
  if (auto evicted = core_->pool.join(id_)) {
    auto at = core_->connections.find(*evicted);
    if (auto oldest = at == core_->connections.end() ? nullptr : at->second.lock())
      oldest->refuse(evicted_refusal(core_->config.max_preauth_connections));
  }
  deadline_.expires_after(core_->config.preauth_deadline);
  deadline_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec && !self->authenticated_)
      self->destroy();
  });
  restart_idle();
}

void connection::restart_idle() {
  idle_.expires_after(core_->config.preauth_idle_timeout);
  idle_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec && !self->authenticated_)
      self->destroy();
  });
}

void connection::leave_preauth() {
  core_->pool.leave(id_);
  idle_.cancel();
  deadline_.cancel();
}

std::uint64_t connection::ceiling() const {
  if (!authenticated_)
    return core_->config.max_preauth_frame_bytes;
  return handler_ && handler_->takes_frames() ? handler_->frame_ceiling() : core_->config.max_frame_bytes;
}

void connection::refuse(std::string payload) {
  stopped_reading_ = true;
  reader_.clear();
  leave_preauth();
  authenticated_ = true; // neither of its timers acts any more
  if (closed_ || ending_)
    return destroy();
  auto frame = to_frame(payload);
  enqueue(std::move(frame));
  ending_ = true;
  leaving_ = true;
  if (!writing_)
    return after_flush();
  deadline_.expires_after(core_->config.refusal_flush_grace);
  deadline_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec)
      self->destroy();
  });
}

// -- reading -----------------------------------------------------------------------------------------------------------

void connection::wait_readable() {
  if (reading_ || paused_ || stopped_reading_ || closed_)
    return;
  reading_ = true;
  socket_.async_wait(socket::wait_read, [self = shared_from_this()](error_code ec) {
    self->reading_ = false;
    if (!ec && !self->stopped_reading_ && !self->closed_ && !self->paused_)
      self->on_readable();
  });
}

void connection::on_readable() {
  for (auto turn = 0; turn < reads_a_turn; ++turn) {
    auto n = ::recv(socket_.native_handle(), core_->scratch.data(), core_->scratch.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      break;
    if (n < 0)
      return destroy();
    if (n == 0)
      return peer_gone();
    last_byte_ = core_->time.now();
    if (!authenticated_)
      restart_idle();
    reader_.push({core_->scratch.data(), static_cast<std::size_t>(n)});
    process();
    if (closed_ || stopped_reading_)
      return;
    if (paused_)
      return;
  }
  wait_readable();
}

void connection::process() {
  while (!closed_ && !stopped_reading_) {
    auto step = reader_.next(ceiling());
    if (std::holds_alternative<frame_reader::need_more>(step))
      break;
    if (std::holds_alternative<frame_reader::malformed>(step))
      return destroy();
    if (auto* over = std::get_if<frame_reader::too_large>(&step)) {
      if (handler_ && handler_->drops(over->announced)) {
        reader_.skip_next();
        continue;
      }
      auto outer = authenticated_ ? core_->config.max_frame_bytes : ceiling();
      if (handler_ && over->announced <= outer)
        return destroy(); // beyond the bound of the op alone, which the contract does not name
      return refuse(frame_too_large_refusal(over->announced, outer, authenticated_));
    }
    if (auto* frame = std::get_if<frame_reader::frame>(&step)) {
      if (!std::exchange(first_done_, true))
        handle_first(std::move(frame->payload));
      else if (auto to = handler_; to && to->takes_frames())
        to->frame(std::move(frame->payload));
    }
  }
  if (!closed_ && !stopped_reading_ && !authenticated_ && !core_->pool.charge(id_, reader_.buffered()))
    refuse(preauth_buffer_refusal(core_->config.max_preauth_buffer_bytes));
}

void connection::peer_gone() {
  stopped_reading_ = true;
  leave_preauth();
  authenticated_ = true;
  leaving_ = true;
  ending_ = true;
  leave_handler();
  if (!writing_)
    return after_flush();
  linger();
}

// -- writing -----------------------------------------------------------------------------------------------------------

void connection::send(std::string payload) {
  enqueue(to_frame(payload));
}

void connection::send_frame(std::string frame) {
  enqueue(std::move(frame));
}

void connection::send_terminator() {
  enqueue(std::string{terminator});
}

void connection::enqueue(std::string frame) {
  if (closed_ || ending_)
    return;
  unsent_ += frame.size();
  outbox_.push_back(std::move(frame));
  write_next();
}

void connection::write_next() {
  if (writing_ || outbox_.empty() || closed_)
    return;
  // What the kernel takes at once costs no turn of the loop.
  while (!outbox_.empty()) {
    auto parts = std::array<iovec, 8>{};
    auto count = std::size_t{0};
    auto wanted = std::size_t{0};
    for (auto at = outbox_.begin(); at != outbox_.end() && count < parts.size(); ++at, ++count) {
      auto skip = count == 0 ? taken_ : 0;
      parts[count] = {at->data() + skip, at->size() - skip};
      wanted += at->size() - skip;
    }
    auto message = msghdr{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    auto n = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno != EAGAIN)
      return asio::post(core_->io, [self = shared_from_this()] { self->destroy(); });
    auto sent = n < 0 ? std::size_t{0} : static_cast<std::size_t>(n);
    unsent_ -= sent;
    taken_ += sent;
    while (!outbox_.empty() && taken_ >= outbox_.front().size()) {
      taken_ -= outbox_.front().size();
      outbox_.pop_front();
    }
    if (sent < wanted)
      return wait_writable();
  }
}

void connection::wait_writable() {
  writing_ = true;
  socket_.async_wait(socket::wait_write, [self = shared_from_this()](error_code ec) {
    self->writing_ = false;
    if (self->closed_)
      return;
    if (ec)
      return self->destroy();
    self->write_next();
    if (!self->writing_)
      self->after_flush();
  });
}

// In one piece, so that the host is woken once.
void connection::end_stream(std::string event) {
  auto last = to_frame(event);
  last += terminator;
  enqueue(std::move(last));
  finish();
}

void connection::finish() {
  if (std::exchange(ending_, true))
    return;
  handler_ = nullptr;
  reader_.skip_payloads();
  paused_ = false;
  wait_readable();
  if (!writing_)
    after_flush();
}

void connection::after_flush() {
  if (closed_ || writing_)
    return;
  if (auto to = handler_)
    to->drained();
  if (closed_ || writing_ || !ending_)
    return;
  if (!std::exchange(ended_, true)) {
    auto ignored = error_code{};
    socket_.shutdown(socket::shutdown_send, ignored);
  }
  if (leaving_)
    return destroy();
  // A peer that has had its answer leaves; one that has not authenticated is bounded already.
  if (authenticated_)
    linger();
}

void connection::linger() {
  deadline_.expires_after(linger_bound);
  deadline_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec)
      self->destroy();
  });
}

void connection::destroy() {
  if (std::exchange(closed_, true))
    return;
  stopped_reading_ = true;
  leave_preauth();
  reader_.clear();
  outbox_.clear();
  taken_ = 0;
  unsent_ = 0;
  auto ignored = error_code{};
  socket_.close(ignored);
  leave_handler();
}

void connection::leave_handler() {
  if (auto lost = std::exchange(handler_, nullptr))
    lost->closed();
}

void connection::cut_off(std::string last) {
  if (closed_ || ending_)
    return;
  while (outbox_.size() > (writing_ ? 1U : 0U)) {
    unsent_ -= outbox_.back().size();
    outbox_.pop_back();
  }
  if (outbox_.empty()) { // the frame that had begun is not finished: the kernel has refused it
    taken_ = 0;
    unsent_ = 0;
  }
  refuse(std::move(last));
}

void connection::pause_reading() {
  if (!std::exchange(paused_, true) && handler_ && handler_->ends_with_host())
    watch_hangup();
}

void connection::resume_reading() {
  if (!std::exchange(paused_, false))
    return;
  idle_.cancel();
  wait_readable();
}

// What is not read does not tell that the host has left.
void connection::watch_hangup() {
  idle_.expires_after(hangup_interval);
  idle_.async_wait([self = shared_from_this()](error_code ec) {
    if (ec || !self->paused_ || self->stopped_reading_ || self->closed_)
      return;
    auto wanted = pollfd{self->socket_.native_handle(), POLLRDHUP, 0};
    if (::poll(&wanted, 1, 0) > 0)
      return self->peer_gone();
    self->watch_hangup();
  });
}

// -- the request -------------------------------------------------------------------------------------------------------

void connection::handle_first(std::string payload) {
  auto message = lifted_payload{std::move(payload)}; // the bulk of a write is not for the parser
  auto request = read_envelope(message.text());
  if (!request)
    return destroy();
  auto which = op_of(*request);
  if (which == op::healthz)
    return reply(healthz_reply(core_->retiring, core_->features));
  if (!authenticated_) {
    if (!core_->gate.admit(request->token))
      return refuse(refusal("unauthorized"));
    authenticated_ = true;
    leave_preauth();
  }
  if (auto no = guest::refuse(*request, core_->now())) {
    send(std::move(no->payload));
    if (no->with_terminator)
      send_terminator();
    return finish();
  }
  if (which == op::read_file || which == op::write_file) {
    reader_.skip_payloads();
    // The body may be large: even parsing it is not for the wire thread.
    return core_->elsewhere(
      [core = core_, which, message = std::move(message)]() mutable {
        return unless_memory_ends([&] {
          if (which == op::write_file)
            return write_file({core->config, core->boot, core->files, core->parts}, std::move(message));
          auto parsed = parse_payload(message.whole()).value_or(nlohmann::json{});
          return read_file(core->config, core->boot, core->files, body_of(parsed));
        });
      },
      [self = shared_from_this()](std::string answer) {
        self->send_frame(std::move(answer));
        self->finish();
      });
  }
  auto parsed = parse_payload(message.whole());
  if (!parsed)
    return destroy();
  static const auto null = nlohmann::json{}; // which a terminal refuses otherwise than an empty body
  dispatch(which, which == op::terminal && !has_body(*parsed) ? null : body_of(*parsed), request->op);
  if (!handler_)
    reader_.skip_payloads(); // whoever waits for a reply has nothing more to say
}

void connection::dispatch(op which, const nlohmann::json& body, const std::string& name) {
  auto self = shared_from_this();
  switch (which) {
    case op::reserve_execution: return answer_reserve(core_, self, body);
    case op::cancel_execution: return answer_cancel(core_, self, body);
    case op::execute: return own(start_execute(core_, self, body));
    case op::attach_execution: return own(start_attach_execution(core_, self, body));
    case op::tcp_connect: return own(start_tcp_connect(core_, self, body));
    case op::terminal: return own(start_terminal(core_, self, body));
    case op::attach_session: return own(start_attach_session(core_, self, body));
    case op::start_detached: return answer_start_detached(core_, self, body);
    case op::list_sessions: return answer_list_sessions(core_, self);
    case op::kill_session: return answer_kill_session(core_, self, body);
    case op::read_file_stream: return own(start_read_file_stream(core_, self, body));
    case op::quiesce: return answer_quiesce(core_, self, body);
    case op::flush: return answer_flush(core_, self, body);
    default: return reply(refusal("unknown_op: " + name));
  }
}

void connection::own(std::shared_ptr<op_handler> op) {
  if (!op)
    return;
  if (closed_ || ending_)
    return op->closed(); // it ended while it was being started
  handler_ = std::move(op);
  if (!handler_->takes_frames())
    reader_.skip_payloads();
}

} // namespace paddock::guest
