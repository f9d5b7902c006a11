#pragma once

#include "actors/world.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <optional>
#include <string>

namespace paddock {

/// The word for a call in errors: exec, attachExecution, openTerminal, openTcpConnection, readFile, writeFile, listFiles,
/// walkFiles.
[[nodiscard]] std::string operation_of(const call_spec& x);

/// What a CALL is told that asks for another place, where there is none.
[[nodiscard]] landed nowhere_else();

struct call_options {
  guest::endpoint where;
  std::uint64_t generation = 0; // of the session that admitted it
  call_owner_actor owner;
  sink_actor sink;
  call_spec what;
  deadline until;
};

/// The CALL (messages/interfaces.hpp). Keeps the ticket of one call of the guest port and passes on what it says.
class call_state {
public:
  static inline const char* name = "paddock.call";
  call_state(call_actor::pointer self, actor_world& world, call_options how);
  ~call_state();
  call_state(const call_state&) = delete;
  call_state& operator=(const call_state&) = delete;
  call_actor::behavior_type make_behavior();

private:
  void start();
  /// The owner has said where else the call might go.
  void move(const workspace::result<std::optional<workspace::found_pod>>& to);
  void end(const workspace::result<workspace::job_end>& how);
  /// The last thing that the sink is told.
  template <class Atom, class T>
  void tell_last(Atom what, T x);

  call_actor::pointer self_;
  actor_world& world_;
  call_options how_;
  workspace::ticket ticket_;
  std::optional<workspace::failure> instead_; // of what the call failed on
  bool over_ = false;                         // the port has ended the call
  bool sink_gone_ = false;                    // nobody is to be told
  std::optional<workspace::failure> unexplained_;
};

using call_impl = call_actor::stateful_impl<call_state>;

} // namespace paddock
