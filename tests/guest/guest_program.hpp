#pragma once

// The guest as a program, as a child process, alone or under other programs that start it.

#include "tests/guest/agent_world.hpp"

#include <algorithm>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

namespace paddock::test {

class guest_program {
public:
  /// `before`: the words of the program that starts it in the end; found along PATH.
  explicit guest_program(std::vector<std::string> environment, std::vector<std::string> before = {}) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0)
      throw std::runtime_error{"pipe"};
    before.push_back(PADDOCK_GUEST_PROGRAM);
    auto words = std::vector<char*>{};
    for (auto& word : before)
      words.push_back(word.data());
    words.push_back(nullptr);
    auto lines = std::vector<char*>{};
    for (auto& line : environment)
      lines.push_back(line.data());
    lines.push_back(nullptr);
    auto actions = posix_spawn_file_actions_t{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
    auto failed = ::posix_spawnp(&pid, words.front(), &actions, nullptr, words.data(), lines.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(fds[1]);
    err_ = fds[0];
    if (failed != 0)
      throw std::runtime_error{"spawn " + before.front()};
  }

  ~guest_program() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    ::close(err_);
  }

  guest_program(const guest_program&) = delete;
  guest_program& operator=(const guest_program&) = delete;

  /// Waits for `text` on standard error, `times` times.
  bool says(const std::string& text, int times = 1) {
    for (;;) {
      auto seen = 0;
      for (auto at = said.find(text); at != std::string::npos; at = said.find(text, at + 1))
        ++seen;
      if (seen >= times)
        return true;
      if (!more())
        return false;
    }
  }

  /// The exit code; -1 for a signal.
  int wait() {
    while (more()) {
    }
    auto status = 0;
    ::waitpid(std::exchange(pid, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::uint16_t port() {
    if (!says("listening ") || said.find('\n', said.find("listening ")) == std::string::npos)
      if (!says("\n"))
        throw std::runtime_error{"does not listen: " + said};
    return static_cast<std::uint16_t>(std::stoi(said.substr(said.find(':', said.find("listening ")) + 1)));
  }

  raw_client open(std::uint16_t port, std::string op, std::optional<json> body = std::nullopt) {
    auto client = agent_world::connect_to(port);
    client.send(agent_world::request(std::move(op), std::move(body)));
    return client;
  }

  json ask(std::uint16_t port, std::string op, std::optional<json> body = std::nullopt) {
    auto client = open(port, std::move(op), std::move(body));
    return client.event();
  }

  transcript run(std::uint16_t port, const std::string& line) {
    auto client = open(port, "execute", json{{"command", "/bin/sh"}, {"args", {"-c", line}}});
    return listen_to(client);
  }

  pid_t pid = -1;
  std::string said;

private:
  bool more() {
    auto wanted = pollfd{err_, POLLIN, 0};
    if (::poll(&wanted, 1, 20'000) != 1)
      throw std::runtime_error{"the program said nothing for 20 s: " + said};
    char buffer[4096];
    auto n = ::read(err_, buffer, sizeof buffer);
    if (n > 0)
      said.append(buffer, static_cast<std::size_t>(n));
    return n > 0;
  }

  int err_ = -1;
};

/// Never the wide scope by accident: the tests may be the child of an init themselves.
inline std::vector<std::string> guest_environment(const fs::path& workspace, std::vector<std::string> extra = {}) {
  auto result = std::vector<std::string>{"NAMZU_AGENT_TCP_PORT=0", "PADDOCK_GUEST_TCP_ADDRESS=127.0.0.1",
                                         std::string{"NAMZU_AGENT_BIND_TOKEN="} + token, "NAMZU_SANDBOX_WORKSPACE=" + workspace.string(),
                                         "PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  if (std::none_of(extra.begin(), extra.end(), [](const auto& x) { return x.starts_with("NAMZU_AGENT_QUIESCE_SCOPE"); }))
    result.push_back("NAMZU_AGENT_QUIESCE_SCOPE=owned-sessions");
  result.insert(result.end(), extra.begin(), extra.end());
  return result;
}

/// A pid namespace of its own whose init is a shell: it starts the guest, hands SIGTERM on and ends with its exit code. An
/// ordinary user gets a user namespace as well. Where the machine allows neither, the guest does not listen, and the test
/// fails.
inline std::vector<std::string> in_a_pod() {
  auto words = std::vector<std::string>{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"};
  if (::getuid() != 0)
    words.insert(words.begin() + 1, "--map-current-user");
  words.insert(words.end(), {"/bin/sh", "-c",
                             "\"$0\" & child=$!; trap 'kill -TERM $child' TERM; code=0;"
                             "while kill -0 $child 2>/dev/null; do wait $child; code=$?; done; exit $code"});
  return words;
}

/// The first child of `parent`; waits for it.
inline pid_t child_of(pid_t parent) {
  auto path = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (std::chrono::steady_clock::now() < until)
    if (auto text = content_of(path); !text.empty())
      return std::stoi(text);
  throw std::runtime_error{"no child"};
}

/// Whether `pid` runs the program of that short name within 20 s: a forked shell has not called exec at once.
inline bool becomes(pid_t pid, const std::string& name) {
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (std::chrono::steady_clock::now() < until)
    if (content_of("/proc/" + std::to_string(pid) + "/comm") == name + "\n")
      return true;
  return false;
}

/// Whether `pid` is gone, or is a zombie, within 20 s.
inline bool ends(pid_t pid) {
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (std::chrono::steady_clock::now() < until) {
    auto text = content_of("/proc/" + std::to_string(pid) + "/stat");
    if (text.empty() || text.find(") Z ") != std::string::npos)
      return true;
  }
  return false;
}

} // namespace paddock::test
