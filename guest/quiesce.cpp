#include "guest/quiesce.hpp"

#include "base/utf8.hpp"
#include "guest/envelope.hpp"
#include "guest/whole_number.hpp"

#include <algorithm>

namespace paddock::guest {

namespace {

using object = nlohmann::ordered_json;
using std::chrono::milliseconds;

// For texts, which may become a line of a log: a name may hold any byte.
std::string named(const proc_stat& x) {
  auto name = to_utf8_with_replacement(x.comm);
  for (auto& each : name)
    if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f)
      each = '?';
  return "pid " + std::to_string(x.pid) + " (" + name + ")";
}

} // namespace

std::string_view to_string(quiesce_scope x) {
  return x == quiesce_scope::pid_namespace ? "pid-namespace" : "owned-sessions";
}

quiesce_scope scope_of(pid_t agent, pid_t parent, bool owned_sessions_only) {
  return (agent == 1 || parent == 1) && !owned_sessions_only ? quiesce_scope::pid_namespace : quiesce_scope::owned_sessions;
}

tl::expected<quiesce_arguments, std::string> read_quiesce_request(const nlohmann::json& body, milliseconds default_grace,
                                                                  milliseconds cancel_confirm) {
  auto most = std::max(milliseconds{1}, cancel_confirm - milliseconds{1});
  auto result = quiesce_arguments{std::clamp(default_grace, milliseconds{1}, most), false};
  if (auto at = body.find("graceMs"); at != body.end()) {
    auto value = positive_safe_integer(*at);
    if (!value || *value > static_cast<std::uint64_t>(most.count())) {
      auto message = "graceMs must be a positive safe integer of at most " + std::to_string(most.count())
                     + " (NAMZU_AGENT_CANCEL_CONFIRM_TIMEOUT_MS - 1)";
      auto refusal = object{{"ok", false}, {"error", "quiesce_invalid_grace"}, {"message", message}};
      return tl::unexpected{to_text(refusal)};
    }
    result.grace = milliseconds{static_cast<std::int64_t>(*value)};
  }
  if (auto at = body.find("idleOnly"); at != body.end()) {
    if (!at->is_boolean())
      return tl::unexpected{to_text(object{{"ok", false}, {"error", "quiesce_invalid_idle_only"}})};
    result.idle_only = at->get<bool>();
  }
  return result;
}

bool may_be_stopped(const proc_stat& x, const quiesce_view& view) {
  return x.pid > 1 && x.pid != view.agent && !x.over() && x.session != view.session;
}

void owned_sessions_view::keep_proven(std::vector<proc_stat>& found) const {
  auto proven = std::set<pid_t>{};
  for (const auto& x : found) {
    auto at = left_.find(x.session);
    if (owned_.contains(x.session) && (at == left_.end() || x.start <= at->second))
      proven.insert(x.session);
  }
  std::erase_if(found, [&](const proc_stat& x) { return !proven.contains(x.session); });
}

quiesce_rounds::step quiesce_rounds::fail(std::string text) {
  failure_ = std::move(text);
  return step::failed;
}

quiesce_rounds::step quiesce_rounds::scanned(std::span<const proc_stat> found, time_point now) {
  if (found.empty())
    return step::done;
  if (now >= deadline_)
    return fail("the deadline has passed and " + named(found.front()) + " is running");
  if (++rounds_ > max_rounds_) {
    rounds_ = max_rounds_;
    return fail("after " + std::to_string(max_rounds_) + " rounds " + named(found.front()) + " is running");
  }
  return step::stop_them;
}

void quiesce_rounds::delivered(const proc_stat& who, std::string_view signal) {
  auto [at, first] = index_.try_emplace({who.pid, who.start}, stopped_.size());
  if (first)
    stopped_.push_back({who.pid, who.comm, signal});
  else
    stopped_[at->second].signal = signal;
}

quiesce_rounds::step quiesce_rounds::waited(std::span<const proc_stat> left) {
  if (left.empty())
    return step::done;
  return fail(named(left.front()) + " outlived SIGKILL" + (left.size() > 1 ? ", and " + std::to_string(left.size() - 1) + " more" : ""));
}

std::string quiesce_reply(quiesce_scope scope, milliseconds grace, std::uint64_t rounds,
                          std::span<const quiesce_rounds::stopped_process> stopped) {
  auto list = object::array();
  for (const auto& x : stopped)
    list.push_back(object{{"pid", x.pid}, {"command", to_utf8_with_replacement(x.command)}, {"signal", x.signal}});
  auto reply = object{{"ok", true}, {"scope", to_string(scope)}, {"graceMs", grace.count()}, {"rounds", rounds}};
  reply["stopped"] = std::move(list);
  return to_text(reply);
}

std::string quiesce_unconfirmed_refusal(std::string_view message) {
  return to_text(object{{"ok", false}, {"error", "quiesce_unconfirmed"}, {"message", message}});
}

std::string quiesce_not_idle_refusal(quiesce_scope scope, std::span<const proc_stat> running, std::uint64_t starting) {
  auto list = object::array();
  for (const auto& x : running)
    list.push_back(object{{"pid", x.pid}, {"command", to_utf8_with_replacement(x.comm)}});
  for (auto i = std::uint64_t{0}; i < starting; ++i)
    list.push_back(object{{"pid", 0}, {"command", ""}});
  auto message = running.empty() ? "a command is being started" : named(running.front()) + " is running";
  auto count = running.size() + starting;
  if (count > 1)
    message += ", and " + std::to_string(count - 1) + " more";
  auto reply = object{{"ok", false}, {"error", "quiesce_not_idle"}, {"scope", to_string(scope)}};
  reply["running"] = std::move(list);
  reply["message"] = std::move(message);
  return to_text(reply);
}

} // namespace paddock::guest
