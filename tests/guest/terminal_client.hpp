#pragma once

// A host of a terminal or an attachment, and what is left of processes, seen from a test.

#include "tests/guest/agent_world.hpp"

#include <charconv>

namespace paddock::test {

/// What a terminal said until its end.
struct terminal_transcript {
  json first = json(json::value_t::discarded); // ready, or what came instead
  std::string text;                            // of all data
  json last = json(json::value_t::discarded);  // exit, detached or error; discarded: severed
  bool terminated = false;
};

class terminal_client {
public:
  explicit terminal_client(raw_client client) : client_(std::move(client)) {
  }

  raw_client& raw() {
    return client_;
  }

  void close() {
    client_.close();
  }

  void send(const json& event) {
    client_.send(guest::to_frame(event.dump()));
  }

  void type(const std::string& text) {
    send({{"type", "input"}, {"data", text}});
  }

  /// Reads until the text that has come, and was not asked about before, holds `part`. Gives the text up to its end. Absent: the
  /// stream has ended.
  std::optional<std::string> until(std::string_view part) {
    for (;;) {
      if (auto at = text_.find(part); at != std::string::npos) {
        auto result = text_.substr(0, at + part.size());
        text_.erase(0, at + part.size());
        return result;
      }
      if (!take(client_.event()))
        return std::nullopt;
    }
  }

  /// Waits for `ready`.
  json ready() {
    while (first_.is_discarded())
      if (!take(client_.event()))
        break;
    return first_;
  }

  terminal_transcript to_end() {
    auto result = terminal_transcript{};
    for (auto payload = client_.frame(); payload; payload = client_.frame()) {
      if (payload->empty()) {
        result.terminated = true;
        continue;
      }
      auto event = json::parse(*payload);
      if (!take(event))
        result.last = event;
    }
    result.first = first_;
    result.text = std::exchange(text_, {});
    return result;
  }

private:
  // False: not one of what a running terminal says.
  bool take(const json& event) {
    if (event.is_discarded())
      return false;
    if (event["type"] == "ready") {
      first_ = event;
      return true;
    }
    if (event["type"] == "heartbeat")
      return true;
    if (event["type"] != "data")
      return false;
    text_ += event["data"].get<std::string>();
    return true;
  }

  raw_client client_;
  json first_ = json(json::value_t::discarded);
  std::string text_;
};

/// Asks until `f` says yes; bounded by time.
template <class F>
bool eventually(F f) {
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (std::chrono::steady_clock::now() < until) {
    if (f())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return false;
}

/// Whether `pid` runs: a zombie does not.
inline bool runs(pid_t pid) {
  auto text = content_of("/proc/" + std::to_string(pid) + "/stat");
  auto at = text.rfind(") ");
  return at != std::string::npos && text[at + 2] != 'Z' && text[at + 2] != 'X';
}

/// The children of this process, zombies included.
inline std::vector<pid_t> children() {
  auto result = std::vector<pid_t>{};
  for (const auto& task : fs::directory_iterator{"/proc/self/task"}) {
    auto in = std::ifstream{task.path() / "children"};
    for (auto pid = pid_t{}; in >> pid;)
      result.push_back(pid);
  }
  return result;
}

inline bool is_child(pid_t pid) {
  for (auto each : children())
    if (each == pid)
      return true;
  return false;
}

inline std::size_t open_descriptors() {
  auto n = std::size_t{0};
  for ([[maybe_unused]] const auto& each : fs::directory_iterator{"/proc/self/fd"})
    ++n;
  return n;
}

/// How many bytes `pid` has written so far.
inline std::uint64_t bytes_written(pid_t pid) {
  auto in = std::ifstream{"/proc/" + std::to_string(pid) + "/io"};
  auto name = std::string{};
  auto value = std::uint64_t{0};
  while (in >> name >> value)
    if (name == "wchar:")
      return value;
  return 0;
}

/// Whether what `count` tells comes to rest: the same many times over, while `meanwhile` goes on.
template <class Count, class Meanwhile>
bool comes_to_rest(Count count, Meanwhile meanwhile) {
  auto before = count();
  auto same = 0;
  return eventually([&] {
    meanwhile();
    auto now = count();
    same = now == before ? same + 1 : 0;
    before = now;
    return same > 25;
  });
}

} // namespace paddock::test
