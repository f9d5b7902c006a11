#include "guest/agent_config.hpp"

#include "guest/paths.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string_view>

namespace paddock::guest {

namespace {

constexpr std::uint64_t max_safe = (std::uint64_t{1} << 53) - 1;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (text.empty() || text.size() > 16)
    return std::nullopt;
  auto value = std::uint64_t{0};
  for (auto x : text) {
    if (x < '0' || x > '9')
      return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(x - '0');
  }
  return value <= max_safe ? std::optional{value} : std::nullopt;
}

class variables {
public:
  explicit variables(const std::vector<std::string>& environment) {
    for (const auto& line : environment)
      if (auto equals = line.find('='); equals != std::string::npos && equals > 0)
        values_.emplace(line.substr(0, equals), line.substr(equals + 1)); // the first of a name counts, as for getenv
  }

  std::optional<std::string> text(const std::string& name) const {
    auto at = values_.find(name);
    return at == values_.end() ? std::nullopt : std::optional{at->second};
  }

  /// Absent or empty: nothing.
  std::optional<std::string> filled(const std::string& name) const {
    auto value = text(name);
    return value && !value->empty() ? value : std::nullopt;
  }

  void positive(const std::string& name, std::uint64_t& into) {
    number(name, into, 1);
  }

  void positive(const std::string& name, std::chrono::milliseconds& into) {
    duration(name, into, 1);
  }

  void not_negative(const std::string& name, std::chrono::milliseconds& into) {
    duration(name, into, 0);
  }

  const std::string& complaint() const {
    return complaint_;
  }

private:
  void number(const std::string& name, std::uint64_t& into, std::uint64_t least) {
    auto value = text(name);
    if (!value)
      return;
    auto parsed = whole_number(*value);
    if (parsed && *parsed >= least) {
      into = *parsed;
      return;
    }
    if (!complaint_.empty())
      complaint_ += '\n';
    complaint_ += name + " must be a " + (least == 0 ? "non-negative" : "positive") + " safe integer";
  }

  void duration(const std::string& name, std::chrono::milliseconds& into, std::uint64_t least) {
    auto value = static_cast<std::uint64_t>(into.count());
    number(name, value, least);
    // A year bounds what is added to a clock.
    into = std::chrono::milliseconds{std::min<std::uint64_t>(value, 31'536'000'000)};
  }

  std::map<std::string, std::string> values_;
  std::string complaint_;
};

std::vector<std::string> roots(const std::string& workspace, const std::optional<std::string>& list) {
  auto result = std::vector{workspace};
  auto rest = std::string_view{list ? *list : std::string_view{}};
  while (!rest.empty()) {
    auto colon = rest.find(':');
    auto entry = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    auto first = entry.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
      continue;
    entry = entry.substr(first, entry.find_last_not_of(" \t\r\n") - first + 1);
    auto root = absolute(entry);
    if (std::find(result.begin(), result.end(), root) == result.end())
      result.push_back(std::move(root));
  }
  return result;
}

std::optional<std::string> read_listener(const variables& from, agent_config& into) {
  if (auto path = from.filled("NAMZU_AGENT_UNIX_PATH")) {
    into.listener = agent_config::unix_listener{*path};
    return std::nullopt;
  }
  if (from.filled("NAMZU_AGENT_VSOCK_PORT")) {
    into.listener = agent_config::inherited_listener{};
    return std::nullopt;
  }
  auto port = from.text("NAMZU_AGENT_TCP_PORT");
  if (!port)
    return "one of NAMZU_AGENT_UNIX_PATH, NAMZU_AGENT_VSOCK_PORT and NAMZU_AGENT_TCP_PORT must be set";
  auto number = whole_number(*port);
  if (!number || *number > 65535)
    return "NAMZU_AGENT_TCP_PORT must be an integer in [0, 65535], not "
           + nlohmann::json(*port).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  auto tcp = agent_config::tcp_listener{};
  tcp.port = static_cast<std::uint16_t>(*number);
  if (auto address = from.filled("PADDOCK_GUEST_TCP_ADDRESS"))
    tcp.address = *address;
  into.listener = tcp;
  if (into.open())
    return "TCP mode needs NAMZU_AGENT_BIND_TOKEN or NAMZU_AGENT_REQUIRE_TOKEN";
  return std::nullopt;
}

} // namespace

tl::expected<agent_config, std::string> read_agent_config(std::vector<std::string> environment) {
  auto from = variables{environment};
  auto result = agent_config{};
  if (auto token = from.text("NAMZU_AGENT_BIND_TOKEN")) {
    if (token->empty())
      return tl::unexpected{std::string{"NAMZU_AGENT_BIND_TOKEN is set but empty"}};
    result.bind_token = secret{*token};
  }
  result.require_token = from.filled("NAMZU_AGENT_REQUIRE_TOKEN").has_value();
  if (auto complaint = read_listener(from, result))
    return tl::unexpected{*complaint};
  result.workspace = absolute(from.filled("NAMZU_SANDBOX_WORKSPACE").value_or("/workspace"));
  result.read_roots = roots(result.workspace, from.text("NAMZU_SANDBOX_READ_ROOTS"));
  result.write_roots = roots(result.workspace, from.text("NAMZU_SANDBOX_WRITE_ROOTS"));
  result.reseed_hook = from.filled("NAMZU_AGENT_RESEED_HOOK");
  result.flush_command = from.filled("NAMZU_AGENT_FLUSH_COMMAND");
  result.owned_sessions_only = from.text("NAMZU_AGENT_QUIESCE_SCOPE") == "owned-sessions";
  from.positive("NAMZU_SANDBOX_MAX_TIMEOUT_MS", result.max_timeout_ms);
  from.positive("NAMZU_AGENT_MAX_FRAME_BYTES", result.max_frame_bytes);
  from.positive("NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES", result.max_preauth_frame_bytes);
  from.positive("NAMZU_AGENT_MAX_PREAUTH_CONNECTIONS", result.max_preauth_connections);
  from.positive("NAMZU_AGENT_MAX_PREAUTH_BUFFER_BYTES", result.max_preauth_buffer_bytes);
  from.positive("NAMZU_AGENT_PREAUTH_IDLE_TIMEOUT_MS", result.preauth_idle_timeout);
  from.positive("NAMZU_AGENT_PREAUTH_DEADLINE_MS", result.preauth_deadline);
  from.positive("NAMZU_AGENT_REFUSAL_FLUSH_GRACE_MS", result.refusal_flush_grace);
  from.positive("NAMZU_AGENT_EXECUTION_LEASE_TTL_MS", result.execution_lease_ttl);
  from.positive("NAMZU_AGENT_EXECUTION_TERMINAL_TTL_MS", result.execution_terminal_ttl);
  from.positive("NAMZU_AGENT_EXECUTION_RETAINED_TTL_MS", result.execution_retained_ttl);
  from.positive("NAMZU_AGENT_EXECUTION_LOG_BYTES", result.execution_log_bytes);
  from.positive("NAMZU_AGENT_MAX_RETAINED_OUTPUT_LOGS", result.max_retained_output_logs);
  from.positive("NAMZU_AGENT_MAX_TRACKED_EXECUTIONS", result.max_tracked_executions);
  from.not_negative("NAMZU_AGENT_CANCEL_GRACE_MS", result.cancel_grace);
  from.positive("NAMZU_AGENT_CANCEL_CONFIRM_TIMEOUT_MS", result.cancel_confirm_timeout);
  from.positive("NAMZU_AGENT_QUIESCE_GRACE_MS", result.quiesce_grace);
  from.positive("NAMZU_AGENT_READ_FILE_RANGE_BYTES", result.read_file_range_bytes);
  from.positive("NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES", result.read_file_stream_chunk_bytes);
  from.positive("NAMZU_AGENT_QUIESCE_DEADLINE_MS", result.quiesce_deadline);
  from.positive("NAMZU_AGENT_QUIESCE_MAX_ROUNDS", result.quiesce_max_rounds);
  from.positive("NAMZU_AGENT_QUIESCE_SETTLE_MS", result.quiesce_settle);
  from.positive("NAMZU_AGENT_MAX_SESSIONS", result.max_sessions);
  from.positive("NAMZU_AGENT_SESSION_LOG_BYTES", result.session_log_bytes);
  from.positive("NAMZU_AGENT_SESSION_TERMINAL_TTL_MS", result.session_terminal_ttl);
  from.positive("NAMZU_AGENT_SESSION_KILL_CONFIRM_TIMEOUT_MS", result.session_kill_confirm_timeout);
  from.positive("NAMZU_AGENT_FLUSH_TIMEOUT_MS", result.flush_timeout);
  from.positive("NAMZU_AGENT_SHUTDOWN_DEADLINE_MS", result.shutdown_deadline);
  if (!from.complaint().empty())
    return tl::unexpected{from.complaint()};
  // One limit never contradicts another ([G] 2.4, 12.1).
  result.max_preauth_frame_bytes = std::min(result.max_preauth_frame_bytes, result.max_frame_bytes);
  result.max_preauth_buffer_bytes = std::max(result.max_preauth_buffer_bytes, result.max_preauth_frame_bytes);
  result.quiesce_grace = std::clamp(result.quiesce_grace, agent_config::milliseconds{1},
                                    std::max(agent_config::milliseconds{1}, result.cancel_confirm_timeout - agent_config::milliseconds{1}));
  result.environment = std::move(environment);
  return result;
}

} // namespace paddock::guest
