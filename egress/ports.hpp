#pragma once

#include "base/time.hpp"
#include "egress/grantee.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paddock::egress {

// What the actors of egress ask. Every question carries a ticket and a deadline; its callback comes exactly once, on any thread,
// never inside the call that asked, by the deadline at the latest plus one bounded clean-up, and also when it is withdrawn. Nothing
// is remembered between two questions.

/// Names one running question of a port. Chosen by the asker, unique among those that run.
using ticket = std::uint64_t;

/// The admission fence of this host's configuration ([E] 4).
class fence_port {
public:
  virtual ~fence_port() = default;
  /// Reads and judges the fence. A success proves that it bounds what this host writes now.
  virtual void prove(ticket name, deadline until, std::function<void(result<void>)> to) = 0;
  virtual void cancel(ticket name) = 0;
};

/// A pod whose policies are checked.
struct checked_pod {
  label_map labels;    // all of them
  std::string subject; // for people: what is checked
};

/// What an operator applies ([E] 3, 6). A check that the configuration switches off succeeds, and sends nothing.
class gate_port {
public:
  using then = std::function<void(result<void>)>;
  virtual ~gate_port() = default;
  /// The named object stands as the configuration means it.
  virtual void verify_named_object(ticket name, deadline until, then to) = 0;
  /// All policies that select the pod allow no more than the configuration.
  virtual void verify_union(ticket name, checked_pod which, deadline until, then to) = 0;
  /// Nobody but the host reaches the agent port of the pod.
  virtual void verify_ingress(ticket name, checked_pod which, deadline until, then to) = 0;
  virtual void cancel(ticket name) = 0;
};

/// What is known of a write after its call: it was not sent or was refused, it was applied, or nobody knows.
enum class landing : std::uint8_t { none, landed, unknown };

/// How a call that writes a policy ended. After `landed` a failure is one of the checks that follow the write.
struct write_end {
  landing policy = landing::none;
  result<void> answer;
};

/// The per-sandbox policy of one owner ([E] 5). Whoever asks for a write has proved the fence, and asks for one at a time.
class policy_port {
public:
  virtual ~policy_port() = default;
  /// Reads the Sandbox of this name, for what is granted to it; nothing where the answer holds none. It is not judged whether it is
  /// the one that was meant.
  virtual void read_sandbox(ticket name, std::string sandbox_name, deadline until,
                            std::function<void(result<std::optional<grantee>>)> to) = 0;
  /// Lets the sandbox reach `allowed_hosts`, instead of what it was granted before; none takes every grant away. `pod_labels` are
  /// all labels of its pod: what selects them is judged after the write.
  virtual void set(ticket name, grant_target whose, label_map pod_labels, std::vector<std::string> allowed_hosts, deadline until,
                   std::function<void(write_end)> to) = 0;
  /// The owner's policy as it stands; nothing where none does.
  virtual void read(ticket name, grant_target whose, deadline until, std::function<void(result<std::optional<nlohmann::json>>)> to) = 0;
  /// Removes what predecessors of the owner's name were granted ([E] 5.8). Answers with the names of the removed policies.
  virtual void drop_predecessors(ticket name, grant_target whose, deadline until,
                                 std::function<void(result<std::vector<std::string>>)> to) = 0;
  virtual void cancel(ticket name) = 0;
};

} // namespace paddock::egress
