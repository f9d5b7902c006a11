#include "guest/execution_registry.hpp"

#include <algorithm>
#include <cctype>

namespace paddock::guest {

bool is_execution_id(std::string_view text) {
  constexpr auto prefix = std::string_view{"exec_"};
  constexpr auto shape = std::string_view{"xxxxxxxx-xxxx-Vxxx-Nxxx-xxxxxxxxxxxx"};
  if (!text.starts_with(prefix) || text.size() != prefix.size() + shape.size())
    return false;
  text.remove_prefix(prefix.size());
  for (auto i = std::size_t{0}; i < shape.size(); ++i) {
    auto x = static_cast<unsigned char>(text[i]);
    auto fits = false;
    switch (shape[i]) {
      case '-': fits = x == '-'; break;
      case 'V': fits = x >= '1' && x <= '5'; break;
      case 'N': fits = x == '8' || x == '9' || std::tolower(x) == 'a' || std::tolower(x) == 'b'; break;
      default: fits = std::isxdigit(x) != 0;
    }
    if (!fits)
      return false;
  }
  return true;
}

std::string_view to_string(execution_state x) {
  switch (x) {
    case execution_state::reserved: return "reserved";
    case execution_state::starting: return "starting";
    case execution_state::running: return "running";
    case execution_state::exited: return "exited";
    case execution_state::terminal: return "terminal";
  }
  return "";
}

std::string_view to_string(execution_outcome x) {
  switch (x) {
    case execution_outcome::completed: return "completed";
    case execution_outcome::cancelled: return "cancelled";
    case execution_outcome::failed: return "failed";
  }
  return "";
}

tl::expected<execution_registry::reservation, std::string> execution_registry::reserve(const std::optional<std::string>& wanted,
                                                                                       const std::string& fresh, time_point now) {
  prune(now);
  if (wanted) {
    if (!is_execution_id(*wanted))
      return tl::unexpected{std::string{"invalid_execution_id"}};
    if (auto at = records_.find(*wanted); at != records_.end())
      return reservation{at->first, at->second.state, at->second.expires,
                         at->second.log ? std::optional{at->second.log->end_offset()} : std::nullopt};
  }
  while (records_.size() >= limits_.size) {
    auto soonest = soonest_terminal([](const record&) { return true; });
    if (soonest == records_.end())
      return tl::unexpected{std::string{"execution_capacity"}};
    records_.erase(soonest);
  }
  auto made = record{};
  made.reserved_at = now;
  made.expires = now + limits_.lease;
  auto id = wanted ? *wanted : fresh;
  auto expires = made.expires;
  records_.insert_or_assign(id, std::move(made));
  return reservation{std::move(id), execution_state::reserved, expires};
}

template <class Predicate>
execution_registry::records::iterator execution_registry::soonest_terminal(Predicate may) {
  auto soonest = records_.end();
  for (auto at = records_.begin(); at != records_.end(); ++at)
    if (at->second.state == execution_state::terminal && may(at->second)
        && (soonest == records_.end() || at->second.expires < soonest->second.expires))
      soonest = at;
  return soonest;
}

bool execution_registry::make_room_for_log() {
  auto holds = [](const record& x) { return x.log && !x.discarded; };
  auto live = static_cast<std::uint64_t>(std::count_if(records_.begin(), records_.end(), [&](const auto& x) { return holds(x.second); }));
  for (; live >= limits_.logs; --live) {
    auto soonest = soonest_terminal(holds);
    if (soonest == records_.end())
      return false;
    // A reader that is not done keeps the bytes: it was promised them.
    auto& log = soonest->second.log;
    if (log.use_count() > 1)
      log = std::make_shared<output_log>(*log);
    log->discard();
    soonest->second.discarded = true;
  }
  return true;
}

tl::expected<void, std::string> execution_registry::begin(const std::string& id, time_point now, bool retain) {
  prune(now);
  auto at = records_.find(id);
  if (at == records_.end())
    return tl::unexpected{std::string{"unknown_execution"}};
  if (at->second.state != execution_state::reserved)
    return tl::unexpected{"execution_not_reserved: " + std::string{to_string(at->second.state)}};
  if (retain && !make_room_for_log())
    return tl::unexpected{"retained_output_capacity: limit " + std::to_string(limits_.logs) + " (NAMZU_AGENT_MAX_RETAINED_OUTPUT_LOGS)"};
  if (retain)
    at->second.log = std::make_shared<output_log>(limits_.log_bytes);
  at->second.state = execution_state::starting;
  at->second.expires.reset();
  return {};
}

bool execution_registry::run(const std::string& id) {
  auto at = records_.find(id);
  if (at == records_.end() || at->second.state != execution_state::starting)
    return false;
  at->second.state = execution_state::running;
  return true;
}

void execution_registry::leader_exited(const std::string& id) {
  auto at = records_.find(id);
  if (at != records_.end() && at->second.state == execution_state::running)
    at->second.state = execution_state::exited;
}

void execution_registry::settle(const std::string& id, execution_end end, time_point now) {
  auto at = records_.find(id);
  if (at == records_.end() || at->second.state == execution_state::terminal)
    return;
  at->second.state = execution_state::terminal;
  at->second.end = std::move(end);
  at->second.expires = now + (at->second.log ? limits_.retained : limits_.terminal);
}

bool execution_registry::cancel_unstarted(const std::string& id, time_point now) {
  auto at = records_.find(id);
  if (at == records_.end())
    return false;
  auto state = at->second.state;
  if (state != execution_state::reserved && state != execution_state::starting)
    return false;
  auto end = execution_end{};
  end.outcome = execution_outcome::cancelled;
  end.result = execution_result{};
  end.result->exit_code = 1;
  end.result->duration_ms =
    std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(now - at->second.reserved_at).count());
  settle(id, std::move(end), now);
  return true;
}

const execution_registry::record* execution_registry::find(const std::string& id, time_point now) {
  prune(now);
  auto at = records_.find(id);
  return at == records_.end() ? nullptr : &at->second;
}

void execution_registry::prune(time_point now) {
  std::erase_if(records_, [now](const auto& x) { return x.second.expires && *x.second.expires <= now; });
}

} // namespace paddock::guest
