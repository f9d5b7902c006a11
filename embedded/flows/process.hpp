#pragma once

#include "embedded/kubelet.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <tl/expected.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace paddock::embedded {

struct process_request {
  std::filesystem::path program;                                // without a slash: looked for in the PATH of `environment`
  std::vector<std::string> arguments;                           // after the program's name
  std::vector<std::pair<std::string, std::string>> environment; // all of it; nothing is inherited
  std::filesystem::path directory;                              // where it starts
  std::string family;                                           // letters and digits; names all that one owner starts
  std::filesystem::path cgroup{};                               // of version 2; empty: that of this process
};

/// One program that runs without any privilege: its own session, empty capability sets (ambient and bounding ones too),
/// no-new-privileges, no descriptor but an empty input and one pipe for both outputs, umask 022. It is killed when the
/// thread that started it ends, so start it from one that lives as long as the process may. Where this process may not
/// drop its bounding set, the program gets a user namespace of its own with its own uid and gid in it.
///
/// What the program starts and leaves behind is ended with it: `ended` answers only when nothing of it is left, found by
/// a mark in the environment and, as root, by a supplementary group.
class process {
public:
  /// Starts it, or says what refused: the program, the folder, or the kernel.
  [[nodiscard]] static tl::expected<std::unique_ptr<process>, std::string> start(boost::asio::any_io_executor lane, process_request what);
  /// Kills what still runs.
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  [[nodiscard]] pid_t id() const noexcept;
  /// Waits for the end. May be cancelled and asked again; an end once seen is answered at once.
  boost::asio::awaitable<process_end> ended();
  /// Sends a signal to the program itself; nothing after its end. Never reaches another process of that id.
  void signal(int number);
  /// What it writes to both outputs, up to the end of the last writer.
  [[nodiscard]] boost::asio::posix::stream_descriptor& output() noexcept;

private:
  struct state;
  explicit process(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

} // namespace paddock::embedded
