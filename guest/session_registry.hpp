#pragma once

#include "base/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

enum class session_kind { terminal, detached };
enum class session_state { starting, running, exited };

[[nodiscard]] std::string_view to_string(session_kind x);
/// A session that is being started has no name on the wire yet.
[[nodiscard]] std::string_view to_string(session_state x);

/// How the program of a terminal or a session ended.
struct session_exit {
  int exit_code = 0;         // -1 with a signal
  std::optional<int> signal; // its number
};

/// Which sessions there are, and how long ([G] 9.1). The times are arguments. Exited sessions expire, or make room for new
/// ones; what runs, or is being started, stays.
class session_registry {
public:
  using time_point = time_source::clock::time_point;

  struct limits {
    std::uint64_t size = 16;
    std::chrono::milliseconds terminal{600'000};
  };

  explicit session_registry(limits x) : limits_(x) {
  }

  /// Forgets the exited sessions that have expired, and names them.
  std::vector<std::string> prune(time_point now);

  /// Whether `id` is taken, be it by one that is only being started.
  [[nodiscard]] bool taken(const std::string& id) const;
  /// Whether one more can be made, giving up exited ones if it must.
  [[nodiscard]] bool has_room() const;
  /// Makes the entry, which is being started from here on. Names the exited sessions that were given up for it, the soonest to
  /// expire first. `id` is not taken, and there is room: the checks and the entry are one step for whoever asks in one turn.
  std::vector<std::string> create(const std::string& id);

  /// The program exists.
  void run(const std::string& id);
  /// Nothing was started: the id is free again.
  void withdraw(const std::string& id);
  /// The program has ended, if it has not before.
  void leave(const std::string& id, time_point now);

  /// In the order of creation, without those that are being started.
  [[nodiscard]] std::vector<std::string> ids() const;
  /// How many are being started or run.
  [[nodiscard]] std::size_t live() const;

private:
  struct record {
    std::string id;
    session_state state = session_state::starting;
    std::optional<time_point> expires{}; // exited only
  };

  [[nodiscard]] std::vector<record>::iterator at(const std::string& id);

  std::vector<record> records_; // in the order of creation
  limits limits_;
};

} // namespace paddock::guest
