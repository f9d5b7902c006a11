#include "client/call_actors.hpp"

#include "messages/mail.hpp"

#include <utility>

namespace paddock::client {

namespace {

sink_actor::behavior_type make_sink(std::shared_ptr<inbox> to) {
  return {
    [to](atom::output, std::uint8_t which, bytes& content) {
      to->put(output_piece{which, std::move(content)});
    },
    [to](atom::wanted, std::uint64_t n) {
      // A drain sends this to itself: what comes after it was sent after the CALL had gone.
      if (n == 0)
        to->put(call_silent{});
      else
        to->put(input_wanted{n});
    },
    [to](atom::noted, const call_note& x) { to->put(x); },
    [to](atom::ended, const call_end& x) { to->put(x); },
    [to](atom::failed, const problem& x) { to->put(x); },
  };
}

/// Notices that the CALL, and with it maybe the whole node, is gone. A CALL that has told its end is gone too.
caf::behavior make_watcher(caf::event_based_actor* self, const call_actor& call, std::shared_ptr<inbox> to) {
  self->monitor(call);
  self->set_down_handler([self, to](const caf::down_msg&) {
    to->put(call_gone{});
    self->quit();
  });
  return {[](caf::unit_t) {}};
}

class node_call final : public running_call {
public:
  node_call(call_actor call, sink_actor sink, caf::actor watcher, std::shared_ptr<const void> alive) :
    alive_(std::move(alive)), call_(std::move(call)), sink_(std::move(sink)), watcher_(std::move(watcher)) {
  }
  ~node_call() override {
    // The CALL withdraws what nobody takes.
    caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(watcher_, caf::exit_reason::user_shutdown);
  }
  node_call(const node_call&) = delete;
  node_call& operator=(const node_call&) = delete;

  void grant(std::uint64_t n) override {
    mail::tell_anonymously(call_, atom::grant_v, n);
  }
  void input(bytes piece, bool last) override {
    mail::tell_anonymously(call_, atom::input_v, std::move(piece), last);
  }
  void cancel() override {
    mail::tell_anonymously(call_, atom::cancel_v);
  }
  void leave() override {
    mail::tell_anonymously(call_, atom::leave_v);
  }
  void resize(int columns, int rows) override {
    mail::tell_anonymously(call_, atom::resize_v, std::int32_t{columns}, std::int32_t{rows});
  }
  void signal(std::string name) override {
    mail::tell_anonymously(call_, atom::signal_v, std::move(name));
  }
  void drain() override {
    mail::tell_anonymously(sink_, atom::wanted_v, std::uint64_t{0});
  }

private:
  std::shared_ptr<const void> alive_; // goes last
  call_actor call_;
  sink_actor sink_;
  caf::actor watcher_; // kept by this handle: an actor that nobody refers to ends
};

} // namespace

sink_actor spawn_sink(caf::actor_system& in, std::shared_ptr<inbox> to) {
  return in.spawn(make_sink, std::move(to));
}

std::unique_ptr<running_call> watched_call(caf::actor_system& in, call_actor of, sink_actor sink, std::shared_ptr<inbox> to,
                                           std::shared_ptr<const void> alive) {
  auto watcher = in.spawn(make_watcher, of, std::move(to));
  return std::make_unique<node_call>(std::move(of), std::move(sink), caf::actor_cast<caf::actor>(watcher), std::move(alive));
}

} // namespace paddock::client
