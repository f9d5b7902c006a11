#pragma once

#include "apps/paddock/client.hpp"
#include "apps/paddock/inbox.hpp"

#include <memory>
#include <string>

namespace paddock::cli {

/// A call that was started. What is said to one that has ended is ignored. Destroying it lets go: a call that still runs is
/// withdrawn.
class running_call {
public:
  virtual ~running_call() = default;
  virtual void grant(std::uint64_t bytes) = 0;
  virtual void input(bytes piece, bool last) = 0;
  virtual void cancel() = 0;
  virtual void leave() = 0;
  virtual void resize(int columns, int rows) = 0;
  virtual void signal(std::string name) = 0;
  /// After `call_gone`: asks for `call_silent` once everything that was sent has been put into the inbox.
  virtual void drain() = 0;
};

/// Where the guest verbs go: to a workspace of a node, to a pinned view of one, or straight to a guest.
class target {
public:
  virtual ~target() = default;
  /// Starts a call; what it says goes into `to`, and its end comes last. Any number may run at once.
  virtual tl::expected<std::unique_ptr<running_call>, problem> start(call_spec what, std::shared_ptr<inbox> to) = 0;
  virtual tl::expected<guest_answer, problem> ask(guest_question what) = 0;
};

/// `workspace` of the node that `by` is a client of. With `pin` every call goes to that guest and to no other; a pin that is refused is
/// the answer of each.
[[nodiscard]] std::unique_ptr<target> make_node_target(client& by, std::string workspace, std::optional<pin_spec> pin = {});

/// The task sandbox that `by` holds. It answers no questions.
[[nodiscard]] std::unique_ptr<target> make_task_target(client& by, task_actor task);

struct guest_place {
  std::string host;
  std::uint16_t port = 0;
  std::string token; // empty: none
  caf::timespan budget{std::chrono::seconds{120}};
  std::string walker; // the guest's own program, for walks; empty: where the image has it
};

/// A guest itself, over the transport that a node uses, without a node.
class guest_target : public target {
public:
  struct health {
    bool ok = false;
    bool retiring = false;
    int protocol_version = 0;
    std::vector<std::string> features;
  };
  virtual tl::expected<health, problem> look() = 0;
};
[[nodiscard]] std::unique_ptr<guest_target> make_guest_target(guest_place where);

} // namespace paddock::cli
