#pragma once

#include "base/time.hpp"
#include "guest/output_log.hpp"

#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

/// `exec_` and a UUID of version 1-5 and variant 8-b, any case, nothing else ([G] 6.1).
[[nodiscard]] bool is_execution_id(std::string_view text);

enum class execution_state { reserved, starting, running, exited, terminal };
enum class execution_outcome { completed, cancelled, failed };

[[nodiscard]] std::string_view to_string(execution_state x);
[[nodiscard]] std::string_view to_string(execution_outcome x);

/// What the `result` event and a terminal payload say.
struct execution_result {
  int exit_code = 0; // -1 when a signal ended the leader
  bool timed_out = false;
  std::int64_t duration_ms = 0;
  std::optional<std::string> signal; // its name
  bool out_truncated = false;
  bool err_truncated = false;
};

/// How an execution ended.
struct execution_end {
  execution_outcome outcome = execution_outcome::completed;
  bool started = false; // a process object existed
  std::optional<execution_result> result;
  std::optional<std::string> error;
};

/// The executions that a host can name, and where each stands ([G] 6.1, 6.2, 6.5), with the logs of those whose output is
/// retained. The times are arguments. Records that are reserved or terminal expire; the others stay, for something may still
/// be running.
class execution_registry {
public:
  using time_point = time_source::clock::time_point;

  struct limits {
    std::chrono::milliseconds lease{30'000};
    std::chrono::milliseconds terminal{60'000};
    std::uint64_t size = 1'024;
    std::chrono::milliseconds retained{600'000}; // a terminal record with a log
    std::uint64_t log_bytes = 1'048'576;
    std::uint64_t logs = 32; // that hold their bytes
  };

  struct record {
    execution_state state = execution_state::reserved;
    std::optional<time_point> expires; // reserved and terminal only
    time_point reserved_at;
    execution_end end; // terminal only
    /// Of a retained execution, for as long as the record. Who reads it may keep it: what is discarded here stays there.
    std::shared_ptr<output_log> log{};
    bool discarded = false; // the log: its bytes are given up, its offsets stay
  };

  struct reservation {
    std::string id;
    execution_state state = execution_state::reserved;
    std::optional<time_point> expires;
    std::optional<std::uint64_t> output_offset{}; // the end of the log of a retained one
  };

  explicit execution_registry(limits x) : limits_(x) {
  }

  /// Answers from the record when `wanted` is known, whatever its state: asking never evicts it. Otherwise reserves
  /// `wanted`, or `fresh` when the caller names none, giving up terminal records in the order of their expiry if it
  /// must. Fails with `invalid_execution_id` or `execution_capacity`.
  [[nodiscard]] tl::expected<reservation, std::string> reserve(const std::optional<std::string>& wanted, const std::string& fresh,
                                                               time_point now);

  /// Takes the reservation: the state becomes `starting`. Fails with `unknown_execution` or
  /// `execution_not_reserved: <state>`. With `retain` it gets a log, for which the logs of terminal executions are given up
  /// in the order of their expiry if they must; when none can be, it fails with `retained_output_capacity: …`, and the
  /// reservation stays.
  [[nodiscard]] tl::expected<void, std::string> begin(const std::string& id, time_point now, bool retain = false);

  /// The process exists. False: the record has become terminal meanwhile (cancelled), and nothing must be started.
  [[nodiscard]] bool run(const std::string& id);

  void leader_exited(const std::string& id);

  /// Nothing of the execution runs any more. A terminal record stays as it is.
  void settle(const std::string& id, execution_end end, time_point now);

  /// Ends what has not been started: terminal, cancelled, with a result of its own. False: it has been started, or is
  /// terminal.
  bool cancel_unstarted(const std::string& id, time_point now);

  [[nodiscard]] const record* find(const std::string& id, time_point now);

  [[nodiscard]] std::size_t size() const noexcept {
    return records_.size();
  }

private:
  using records = std::map<std::string, record>;

  void prune(time_point now);
  [[nodiscard]] bool make_room_for_log();
  /// Of the terminal records of which `may` says yes, the one that expires first.
  template <class Predicate>
  [[nodiscard]] records::iterator soonest_terminal(Predicate may);

  records records_;
  limits limits_;
};

} // namespace paddock::guest
