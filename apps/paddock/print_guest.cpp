#include "apps/paddock/print_guest.hpp"

#include "apps/paddock/exit_code.hpp"

#include <ctime>

namespace paddock::cli {

namespace {

using nlohmann::json;

void print_json(std::ostream& out, const json& x) {
  out << x.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

std::string instant(std::int64_t epoch_ms) {
  const auto seconds = static_cast<std::time_t>(epoch_ms / 1000);
  auto parts = std::tm{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string how_it_stands(const session_view& x) {
  if (x.state != "exited")
    return x.attached ? "attached" : x.state;
  if (x.signal)
    return "exited by signal " + std::to_string(*x.signal);
  return "exited " + std::to_string(x.exit_code.value_or(0));
}

} // namespace

json to_json(const session_view& x) {
  auto out = json{{"sessionId", x.session},
                  {"kind", x.kind},
                  {"command", x.command},
                  {"args", x.arguments},
                  {"startedAt", x.started_at},
                  {"nextOffset", x.next_offset},
                  {"droppedBytes", x.dropped_bytes},
                  {"state", x.state},
                  {"attached", x.attached}};
  if (x.last_input_at)
    out["lastInputAt"] = *x.last_input_at;
  if (x.last_output_at)
    out["lastOutputAt"] = *x.last_output_at;
  if (x.exit_code)
    out["exitCode"] = *x.exit_code;
  if (x.signal)
    out["signal"] = *x.signal;
  if (x.pid)
    out["pid"] = *x.pid;
  if (x.signalled)
    out["signalled"] = *x.signalled;
  return out;
}

json to_json(const call_end& x) {
  auto out = json{{"executionId", x.execution}, {"outcome", x.outcome}, {"nextOffset", x.next_offset}, {"droppedBytes", x.dropped_bytes}};
  if (x.outcome != "running") {
    out["exitCode"] = x.exit_code;
    out["timedOut"] = x.timed_out;
    if (x.signal)
      out["signal"] = *x.signal;
  }
  return out;
}

void print_sessions(std::ostream& out, format how, const std::vector<session_view>& all) {
  if (how == format::json) {
    auto rows = json::array();
    for (const auto& x : all)
      rows.push_back(to_json(x));
    return print_json(out, rows);
  }
  if (how == format::name) {
    for (const auto& x : all)
      out << x.session << '\n';
    return;
  }
  auto rows = std::vector<std::vector<std::string>>{{"SESSION", "KIND", "STATE", "STARTED", "BYTES", "COMMAND"}};
  for (const auto& x : all)
    rows.push_back({x.session, x.kind, how_it_stands(x), instant(x.started_at), std::to_string(x.next_offset), x.command});
  print_table(out, rows);
}

void print_session(std::ostream& out, format how, const session_view& x) {
  switch (how) {
    case format::json: print_json(out, to_json(x)); return;
    case format::name: out << x.session << '\n'; return;
    case format::table: break;
  }
  out << x.session << ": " << how_it_stands(x);
  if (x.signalled)
    out << ", " << *x.signalled << " signalled";
  if (x.pid)
    out << ", process " << *x.pid;
  out << '\n';
}

void print_quiesce(std::ostream& out, format how, const quiesce_answer& x) {
  if (how == format::json) {
    auto stopped = json::array();
    for (const auto& one : x.stopped)
      stopped.push_back({{"pid", one.pid}, {"command", one.command}, {"signal", one.signal}});
    return print_json(out, {{"scope", x.scope}, {"graceMs", x.grace_ms}, {"rounds", x.rounds}, {"stopped", stopped}});
  }
  if (how == format::name) {
    for (const auto& one : x.stopped)
      out << one.pid << '\n';
    return;
  }
  out << (x.stopped.empty() ? "nothing was running" : "stopped " + std::to_string(x.stopped.size())) << " (" << x.scope << ")\n";
  auto rows = std::vector<std::vector<std::string>>{};
  for (const auto& one : x.stopped)
    rows.push_back({std::to_string(one.pid), one.signal, one.command});
  print_table(out, rows);
}

void print_flush(std::ostream& out, format how, const flush_answer& x) {
  switch (how) {
    case format::json: print_json(out, {{"durationMs", x.duration_ms}, {"workspace", x.workspace}}); return;
    case format::name: out << x.workspace << '\n'; return;
    case format::table: out << "flushed " << x.workspace << " in " << x.duration_ms << " ms\n"; return;
  }
}

} // namespace paddock::cli
