#include "actors/pinned_guest.hpp"

#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "messages/error.hpp"

namespace paddock {

namespace {

constexpr std::size_t most_waiting = 256;

/// The calls of a view ([G] 23): what would outlive it, or is somebody else's session, is none.
bool is_of_a_view(const call_spec& x) {
  if (const auto* run = std::get_if<run_spec>(&x.what))
    return !run->detach;
  if (const auto* shell = std::get_if<shell_spec>(&x.what))
    return shell->session.empty() && !shell->attach;
  return !std::holds_alternative<attach_spec>(x.what);
}

guest::pin_identity pinnable_in(const workspace::session& x) {
  guest::pin_identity out;
  out.running = x.at == workspace::state::running && x.guest.has_value();
  if (x.sandbox)
    out.sandbox_uid = x.sandbox->text();
  out.pod = x.pod;
  out.boot = x.boot;
  for (const auto& [name, uid] : x.claims)
    out.claims.emplace(name, uid.text());
  return out;
}

caf::error not_of_a_view() {
  return to_error(to_problem(workspace::failure{workspace::illegal_argument{
    "a pinned view runs commands, reads and writes files, lists, opens terminals without a session and ports, and "
    "quiesces; nothing was sent"}}));
}

} // namespace

pinned_guest_state::pinned_guest_state(pinned_guest_actor::pointer self, actor_world& world, workspace_actor owner, workspace::id which,
                                       guest::pin pin) :
  self_(self), world_(world), owner_(std::move(owner)), which_(std::move(which)), pin_(std::move(pin)) {
}

pinned_guest_state::~pinned_guest_state() {
  for (const auto& [ticket, one] : asking_)
    world_.guests.cancel(ticket);
}

pinned_guest_actor::behavior_type pinned_guest_state::make_behavior() {
  report_crashes(self_, world_, "PINNED GUEST of " + which_.text());
  self_->monitor(owner_);
  self_->set_down_handler([this](const caf::down_msg& x) {
    calls_.erase(x.source);
    // Without its WORKSPACE a view admits nothing, and what it admitted is withdrawn.
    if (x.source == owner_.address())
      for (const auto& [address, one] : calls_)
        mail::tell(self_, one, atom::cancel_v);
  });
  return {
    [this](atom::pin) {
      pin_spec out;
      out.sandbox_uid = pin_.sandbox_uid();
      out.pod_uid = pin_.pod().text();
      out.guest_boot_id = pin_.boot().text();
      out.volume_claim_uids = pin_.claims();
      return out;
    },
    [this](atom::call, call_spec& what, const sink_actor& sink, caf::timespan budget) { return call(std::move(what), sink, budget); },
    [this](atom::ask, guest_question& what, caf::timespan budget) { return ask(std::move(what), budget); },
    [this](atom::landed, std::uint64_t ticket, const landed& x) {
      auto found = asking_.extract(ticket);
      if (!found)
        return;
      const auto& said = *static_cast<const workspace::result<workspace::reply>*>(x.value.get());
      if (said)
        found.mapped().deliver(to_answer(*said));
      else
        found.mapped().deliver(to_error(explain(said.error())));
    },
    [](atom::heard, std::uint64_t, const std::string&, const std::string&) {
      // What a pinned call hears is what it was pinned to.
    },
    [this](atom::moved, std::uint64_t, const call_actor& who, const std::string&) {
      mail::tell(self_, who, atom::moved_v, nowhere_else());
    },
    [this](atom::failed, std::uint64_t, const call_actor& who, const std::string&, const landed& x) {
      mail::tell(self_, who, atom::failed_v, explain(*static_cast<const workspace::failure*>(x.value.get())));
    },
  };
}

template <class T, class Then>
void pinned_guest_state::when_it_is_the_guest(promise<T> waiting, Then then) {
  mail::ask(self_, owner_, std::chrono::seconds{15}, atom::identity_v)
    .then(
      [this, waiting, then](const landed& x) mutable {
        const auto& now = *static_cast<const session_identity*>(x.value.get());
        if (auto same = guest::check(pin_, pinnable_in(now.session)); !same)
          waiting.deliver(to_error(to_problem(workspace::failure{
            workspace::pin_refused{which_.text(), std::string{to_string(same.error().reason)}, same.error().field, std::nullopt}})));
        else
          then(pin_.pinned(*now.session.guest), now.generation, std::move(waiting));
      },
      [this, waiting](const caf::error& why) mutable {
        // Without its WORKSPACE nobody can say that the guest is still this one.
        if (why.category() == caf::type_id_v<verdict>)
          waiting.deliver(why);
        else
          waiting.deliver(to_error(to_problem(
            workspace::failure{workspace::pin_refused{which_.text(), "identity-changed", std::string{"podUid"}, std::nullopt}})));
      });
}

caf::result<call_actor> pinned_guest_state::call(call_spec what, sink_actor sink, caf::timespan budget) {
  if (!is_of_a_view(what))
    return not_of_a_view();
  auto waiting = self_->make_response_promise<call_actor>();
  const deadline until{world_.time, std::chrono::duration_cast<time_source::clock::duration>(budget)};
  when_it_is_the_guest(waiting, [this, what = std::move(what), sink = std::move(sink),
                                 until](guest::endpoint where, std::uint64_t generation, promise<call_actor> to) {
    auto made = self_->spawn<call_impl>(
      std::ref(world_), call_options{std::move(where), generation, caf::actor_cast<call_owner_actor>(self_), sink, what, until});
    self_->monitor(made);
    calls_.emplace(made.address(), made);
    to.deliver(std::move(made));
  });
  return waiting;
}

caf::result<guest_answer> pinned_guest_state::ask(guest_question what, caf::timespan budget) {
  if (!std::holds_alternative<quiesce_question>(what.what))
    return not_of_a_view();
  if (asking_.size() >= most_waiting)
    return to_error(make_problem(verdict::refused, "TooManyWaiting", "too many questions wait for this guest; nothing was done"));
  auto waiting = self_->make_response_promise<guest_answer>();
  const deadline until{world_.time, std::chrono::duration_cast<time_source::clock::duration>(budget)};
  when_it_is_the_guest(waiting, [this, what = std::move(what), until](guest::endpoint where, std::uint64_t, promise<guest_answer> to) {
    const auto ticket = world_.next_ticket();
    asking_.emplace(ticket, to);
    const mail::weak<pinned_guest_actor> me{caf::actor_cast<pinned_guest_actor>(self_)};
    world_.guests.ask(ticket, std::move(where), to_question(what), until, [me, ticket](workspace::result<workspace::reply> x) {
      me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const workspace::result<workspace::reply>>(std::move(x))});
    });
  });
  return waiting;
}

problem pinned_guest_state::explain(const workspace::failure& why) const {
  const auto* of_guest = std::get_if<guest::failure>(&why);
  if (of_guest == nullptr)
    return to_problem(why);
  auto meant = guest::translate(*of_guest);
  if (const auto* refused = std::get_if<guest::pin_refused>(&meant))
    return to_problem(workspace::failure{
      workspace::pin_refused{which_.text(), std::string{to_string(refused->reason)}, std::nullopt, refused->fresh_boot}});
  return kept(to_problem(why), guest::pinned_view_keeps_the_pod);
}

} // namespace paddock
