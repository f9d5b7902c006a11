#pragma once

#include "guest/calls.hpp"
#include "guest/failure.hpp"
#include "guest/waiting_output.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace paddock::guest {

/// What a host has asked of a stream, so that it can judge the answers.
struct asked_stream {
  enum class kind { terminal, tcp };
  kind what = kind::terminal;
  std::optional<std::string> session{};   // a persistent terminal, or a session that is attached to
  bool bytes = false;                     // base64 was asked for; of a terminal
  std::chrono::milliseconds heartbeat{0}; // 0 or less: none
  std::size_t waiting_bytes = 1024 * 1024;
};

/// What the frames of a guest mean to a host that has opened a terminal, attached to a session or connected to a port
/// ([G] 8.2, 9.3, 9.4, 10, 17.4, 17.5). It takes them in order, from the first byte of the connection on; what comes after
/// the end means nothing.
class stream_events {
public:
  /// The first `ready`. A second one is ignored.
  struct opened {
    std::optional<guest_boot_id> boot{};
    std::optional<session_position> position{};           // of a session
    std::optional<std::uint64_t> resume_at{};             // where the output of a session begins, if `ready` says so
    std::optional<std::chrono::milliseconds> heartbeat{}; // what this side arms itself with
    bool bytes = false;                                   // input is base64 too
    waiting_output early{};                               // output that came before; the newest `waiting_bytes` of it
  };
  /// The guest said how it ended. For a connection to a port: that the service has closed its side.
  struct ended {
    terminal_end how{};
    std::optional<std::uint64_t> next_offset{};
  };
  /// It ended in any other way. Before `ready`, `why` is what the open fails with; later only `text` counts.
  struct broken {
    failure why{};
    std::string text{};
  };
  struct nothing {};
  using event = std::variant<nothing, opened, stream_output, ended, broken>;

  explicit stream_events(asked_stream asked) : asked_(std::move(asked)) {
  }

  /// One payload. Empty ones, heartbeats and unknown types are `nothing`.
  [[nodiscard]] event take(std::string_view payload);

  [[nodiscard]] bool over() const noexcept {
    return state_ == state::over;
  }

private:
  enum class state { opening, open, over };

  event read(nlohmann::json& frame);
  event ready(const nlohmann::json& frame);
  event output(nlohmann::json& frame);
  event exit(const nlohmann::json& frame);
  /// Whether `x` names a place in the log before the one named last; the next is held against this one.
  [[nodiscard]] bool goes_back(const event& x);
  [[nodiscard]] event refused(const nlohmann::json& frame) const;
  [[nodiscard]] bool decode(std::string& data) const;

  asked_stream asked_;
  state state_ = state::opening;
  bool bytes_ = false;        // the guest has agreed
  std::uint64_t reached_ = 0; // of a session: the place in the log that the guest has named last
  waiting_output early_;      // as it came, not decoded
};

/// What a refusal means, reply-shaped or an `error` event: `unauthorized`, `retiring` and the like by the whole text, else
/// `refused` with the code in front of the first `: `. Of a session, `session_refused` when the whole text is one of the codes
/// of [G] 19.4, `agent_retiring` among them.
[[nodiscard]] failure stream_refusal(const nlohmann::json& frame, const std::optional<std::string>& session);

} // namespace paddock::guest
