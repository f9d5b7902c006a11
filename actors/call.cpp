#include "actors/call.hpp"

#include "actors/translate.hpp"

#include <utility>

namespace paddock {

namespace {

struct operation {
  std::string operator()(const run_spec&) const {
    return "exec";
  }
  std::string operator()(const attach_spec&) const {
    return "attachExecution";
  }
  std::string operator()(const shell_spec&) const {
    return "openTerminal";
  }
  std::string operator()(const forward_spec&) const {
    return "openTcpConnection";
  }
  std::string operator()(const read_spec&) const {
    return "readFile";
  }
  std::string operator()(const write_spec&) const {
    return "writeFile";
  }
  std::string operator()(const walk_spec& x) const {
    return x.max_entries == 0 ? "listFiles" : "walkFiles";
  }
};

workspace::call_events events_to(const call_actor& to) {
  const mail::weak<call_actor> me{to};
  workspace::call_events out;
  out.output = [me](guest::stream which, bytes piece) { me.tell(atom::output_v, static_cast<std::uint8_t>(which), std::move(piece)); };
  out.wants_input = [me](std::size_t n) { me.tell(atom::wanted_v, std::uint64_t{n}); };
  out.refused = [me](const guest::failure&) { me.tell(atom::refused_v); };
  out.noted = [me](const workspace::job_note& x) { me.tell(atom::noted_v, to_note(x)); };
  out.end = [me](workspace::result<workspace::job_end> how) {
    me.tell(atom::landed_v, landed{std::make_shared<const workspace::result<workspace::job_end>>(std::move(how))});
  };
  return out;
}

} // namespace

std::string operation_of(const call_spec& x) {
  return std::visit(operation{}, x.what);
}

landed nowhere_else() {
  return {std::make_shared<const workspace::result<std::optional<workspace::found_pod>>>(std::nullopt)};
}

call_state::call_state(call_actor::pointer self, actor_world& world, call_options how) :
  self_(self), world_(world), how_(std::move(how)), ticket_(world.next_ticket()) {
}

call_state::~call_state() {
  // Ended from outside (the system shuts down): the guest must not go on for nobody.
  if (!over_)
    world_.guests.cancel(ticket_);
}

template <class Atom, class T>
void call_state::tell_last(Atom what, T x) {
  if (sink_gone_) {
    self_->quit();
    return;
  }
  // Quits when the sink has it: the news that a CALL is gone can overtake, on its way to another process, what it sent last. A
  // sink that goes away instead is an answer too.
  mail::ask(self_, how_.sink, caf::infinite, what, std::move(x))
    .then([this] { self_->quit(); }, [this](const caf::error&) { self_->quit(); });
}

call_actor::behavior_type call_state::make_behavior() {
  self_->monitor(how_.sink);
  self_->monitor(how_.owner);
  self_->set_down_handler([this](const caf::down_msg& x) {
    if (x.source == how_.sink.address()) {
      // Nobody takes output any more: the call is withdrawn, and ends here when the guest has said how.
      sink_gone_ = true;
      if (!over_)
        world_.guests.cancel(ticket_);
      else if (!unexplained_)
        self_->quit(); // it has been told, and a process that is gone answers nothing any more
      return;
    }
    how_.owner = nullptr;
    if (unexplained_) // it ended before it could say more
      tell_last(atom::failed_v, to_problem(*std::exchange(unexplained_, std::nullopt)));
    else if (!over_)
      world_.guests.move(ticket_, std::nullopt);
  });
  start();
  return {
    [this](atom::grant, std::uint64_t n) { world_.guests.grant(ticket_, n); },
    [this](atom::input, bytes& piece, bool last) {
      if (!over_)
        world_.guests.input(ticket_, std::move(piece), last);
    },
    [this](atom::cancel) {
      if (!over_)
        world_.guests.cancel(ticket_);
    },
    [this](atom::leave) { world_.guests.steer(ticket_, workspace::leave_running{}); },
    [this](atom::resize, std::int32_t columns, std::int32_t rows) {
      world_.guests.steer(ticket_, workspace::resize_terminal{{columns, rows}});
    },
    [this](atom::signal, std::string& which) { world_.guests.steer(ticket_, workspace::signal_terminal{std::move(which)}); },
    [this](atom::output, std::uint8_t which, bytes& piece) { mail::tell(self_, how_.sink, atom::output_v, which, std::move(piece)); },
    [this](atom::wanted, std::uint64_t n) { mail::tell(self_, how_.sink, atom::wanted_v, n); },
    [this](atom::noted, call_note& x) { mail::tell(self_, how_.sink, atom::noted_v, std::move(x)); },
    [this](atom::landed, const landed& x) {
      over_ = true;
      end(*static_cast<const workspace::result<workspace::job_end>*>(x.value.get()));
    },
    [this](atom::refused) {
      if (!how_.owner)
        return world_.guests.move(ticket_, std::nullopt);
      mail::tell(self_, how_.owner, atom::moved_v, how_.generation, caf::actor_cast<call_actor>(self_), how_.where.token.reveal());
    },
    [this](atom::moved, const landed& x) {
      move(*static_cast<const workspace::result<std::optional<workspace::found_pod>>*>(x.value.get()));
    },
    [this](atom::failed, const problem& why) {
      unexplained_.reset();
      tell_last(atom::failed_v, why);
    },
  };
}

void call_state::start() {
  const auto credit = how_.what.credit;
  world_.guests.start(ticket_, how_.where, to_job(how_.what), how_.until, events_to(caf::actor_cast<call_actor>(self_)));
  world_.guests.grant(ticket_, credit);
}

void call_state::move(const workspace::result<std::optional<workspace::found_pod>>& to) {
  auto where = std::optional<guest::endpoint>{};
  if (!to) {
    instead_ = to.error();
  } else if (*to) {
    where = (*to)->guest;
    how_.where = *where;
  }
  world_.guests.move(ticket_, std::move(where));
}

void call_state::end(const workspace::result<workspace::job_end>& how) {
  if (!how) {
    // What ends a walk says so itself ([W] 3.12).
    if (const auto* walk = std::get_if<walk_spec>(&how_.what.what); walk != nullptr && walk->max_entries != 0 && !instead_) {
      tell_last(atom::failed_v, to_problem(how.error()));
      return;
    }
    auto why = instead_.value_or(how.error());
    if (!how_.owner) {
      tell_last(atom::failed_v, to_problem(why));
      return;
    }
    unexplained_ = std::move(why);
    // The owner looks whether somebody suspended or replaced the workspace meanwhile, and answers with `failed`.
    mail::tell(self_, how_.owner, atom::failed_v, how_.generation, caf::actor_cast<call_actor>(self_), operation_of(how_.what),
               landed{std::make_shared<const workspace::failure>(*unexplained_)});
    return;
  }
  if (how->boot && how_.owner)
    mail::tell(self_, how_.owner, atom::heard_v, how_.generation, how->boot->text(), how_.where.token.reveal());
  tell_last(atom::ended_v, to_end(*how));
}

} // namespace paddock
