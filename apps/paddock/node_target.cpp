#include "apps/paddock/target.hpp"

#include <mutex>

namespace paddock::cli {

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
  node_call(call_actor call, sink_actor sink, caf::actor watcher) :
    call_(std::move(call)), sink_(std::move(sink)), watcher_(std::move(watcher)) {
  }
  ~node_call() override {
    // The CALL withdraws what nobody takes.
    caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
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
  call_actor call_;
  sink_actor sink_;
  caf::actor watcher_; // kept by this handle: an actor that nobody refers to ends
};

effect effect_of(const call_spec& x) {
  const auto reads =
    std::holds_alternative<read_spec>(x.what) || std::holds_alternative<walk_spec>(x.what) || std::holds_alternative<attach_spec>(x.what);
  return reads ? effect::reads : effect::changes;
}

using started_call = tl::expected<std::unique_ptr<running_call>, problem>;

started_call attend(client& by, tl::expected<call_actor, problem> started, sink_actor sink, std::shared_ptr<inbox> to) {
  if (!started)
    return tl::unexpected{std::move(started.error())};
  auto watcher = by.system().spawn(make_watcher, *started, std::move(to));
  return std::make_unique<node_call>(std::move(*started), std::move(sink), caf::actor_cast<caf::actor>(watcher));
}

/// Starts a call at an actor that admits calls itself.
template <class Handle>
started_call start_at(client& by, const Handle& at, call_spec what, std::shared_ptr<inbox> to) {
  const auto kind = effect_of(what);
  auto sink = by.system().spawn(make_sink, to);
  return attend(by, by.ask_of<call_actor>(at, kind, atom::call_v, std::move(what), sink, by.budget()), sink, std::move(to));
}

class node_target final : public target {
public:
  node_target(client& by, std::string workspace, std::optional<pin_spec> pin) :
    by_(by), workspace_(std::move(workspace)), pin_(std::move(pin)) {
  }

  tl::expected<std::unique_ptr<running_call>, problem> start(call_spec what, std::shared_ptr<inbox> to) override {
    const auto kind = effect_of(what);
    if (pin_) {
      auto view = pinned();
      if (!view)
        return tl::unexpected{std::move(view.error())};
      return start_at(by_, *view, std::move(what), std::move(to));
    }
    auto sink = by_.system().spawn(make_sink, to);
    return attend(by_, by_.ask<call_actor>(kind, atom::call_v, workspace_, std::move(what), sink, by_.budget()), sink, std::move(to));
  }

  tl::expected<guest_answer, problem> ask(guest_question what) override {
    const auto kind = std::holds_alternative<sessions_question>(what.what) ? effect::reads : effect::changes;
    if (pin_) {
      auto view = pinned();
      if (!view)
        return tl::unexpected{std::move(view.error())};
      return by_.ask_of<guest_answer>(*view, kind, atom::ask_v, std::move(what), by_.budget());
    }
    return by_.ask<guest_answer>(kind, atom::ask_v, workspace_, std::move(what), by_.budget());
  }

private:
  /// The view, made once and kept. Streams are opened from several threads.
  tl::expected<pinned_guest_actor, problem> pinned() {
    const auto lock = std::scoped_lock{making_};
    if (!view_) {
      auto got = by_.ask<pinned_guest_actor>(effect::reads, atom::pin_v, workspace_, *pin_);
      if (!got)
        return tl::unexpected{std::move(got.error())};
      view_ = std::move(*got);
    }
    return *view_;
  }

  client& by_;
  std::string workspace_;
  std::optional<pin_spec> pin_;
  std::mutex making_;
  std::optional<pinned_guest_actor> view_; // guarded by `making_`
};

class task_target final : public target {
public:
  task_target(client& by, task_actor task) : by_(by), task_(std::move(task)) {
  }
  tl::expected<std::unique_ptr<running_call>, problem> start(call_spec what, std::shared_ptr<inbox> to) override {
    return start_at(by_, task_, std::move(what), std::move(to));
  }
  tl::expected<guest_answer, problem> ask(guest_question) override {
    return tl::unexpected{make_problem(verdict::usage, "IllegalArgument", "a task sandbox is asked nothing")};
  }

private:
  client& by_;
  task_actor task_;
};

} // namespace

std::unique_ptr<target> make_task_target(client& by, task_actor task) {
  return std::make_unique<task_target>(by, std::move(task));
}

std::unique_ptr<target> make_node_target(client& by, std::string workspace, std::optional<pin_spec> pin) {
  return std::make_unique<node_target>(by, std::move(workspace), std::move(pin));
}

} // namespace paddock::cli
