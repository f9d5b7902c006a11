#pragma once

#include "guest/agent/ops.hpp"
#include "guest/dispatch.hpp"
#include "guest/frame.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json.hpp>

#include <deque>
#include <memory>
#include <string>

namespace paddock::guest {

/// One connection: one request, its answer, and the limits on a peer that is not known yet ([G] 1, 2). It lives as long
/// as something of it is under way.
class connection final : public channel, public std::enable_shared_from_this<connection> {
public:
  using socket = boost::asio::generic::stream_protocol::socket;

  connection(std::shared_ptr<agent_core> core, socket s, std::uint64_t id);
  ~connection() override;

  void start();

  /// Refuses at the gate ([G] 2.3): one frame, then the socket is destroyed.
  void refuse(std::string payload);

  // -- channel ----------------

  void send(std::string payload) override;
  void send_frame(std::string frame) override;
  void send_terminator() override;
  void end_stream(std::string event) override;
  void finish() override;
  void destroy() override;
  void cut_off(std::string last) override;
  [[nodiscard]] std::size_t unsent() const override {
    return unsent_;
  }
  [[nodiscard]] bool gone() const override {
    return closed_ || leaving_;
  }
  void pause_reading() override;
  void resume_reading() override;
  [[nodiscard]] bool reading_paused() const override {
    return paused_;
  }
  [[nodiscard]] time_source::clock::time_point last_byte() const override {
    return last_byte_;
  }

private:
  void arm_preauth();
  void restart_idle();
  void leave_preauth();
  [[nodiscard]] std::uint64_t ceiling() const;

  void wait_readable();
  void on_readable();
  void process();
  void peer_gone();
  void watch_hangup();

  void enqueue(std::string frame);
  void write_next();
  void wait_writable();
  void after_flush();
  void linger();
  void leave_handler();

  void handle_first(std::string payload);
  void dispatch(op which, const nlohmann::json& body, const std::string& name);
  void own(std::shared_ptr<op_handler> op);

  std::shared_ptr<agent_core> core_;
  socket socket_;
  std::uint64_t id_;
  frame_reader reader_;
  boost::asio::steady_timer idle_;     // before authentication; later looks after a host that is not read
  boost::asio::steady_timer deadline_; // before authentication; later the bound on a peer that does not leave
  bool authenticated_;
  bool first_done_ = false;
  bool reading_ = false;         // a wait is under way
  bool stopped_reading_ = false; // for good
  bool closed_ = false;

  std::deque<std::string> outbox_;
  std::size_t taken_ = 0; // of the first of them, by the kernel
  std::size_t unsent_ = 0;
  bool writing_ = false; // a wait for room is under way
  bool ending_ = false;  // nothing is queued after what is queued
  bool ended_ = false;   // the writable side was shut down
  bool leaving_ = false; // the peer has gone, or was refused: close once flushed

  std::shared_ptr<op_handler> handler_; // of an op that owns the connection, until the end of the stream
  bool paused_ = false;
  time_source::clock::time_point last_byte_;
};

} // namespace paddock::guest
