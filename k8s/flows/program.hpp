#pragma once

#include <boost/asio/awaitable.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace paddock::k8s {

/// A program and what it is started with.
struct program {
  std::string command; // with a slash: a path; else looked for in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment; // beyond this process's own
};

/// Runs `what` and gives what it wrote to its standard output, once it has ended with 0. It gets an empty standard input,
/// no standard error, none of this process's descriptors, and a process group of its own. Past `until`, or with more than
/// `most` bytes of output, the whole group is killed; so it is when the coroutine goes first. The text of a failure names
/// how it ended and nothing of what it wrote. It is not to be cancelled.
boost::asio::awaitable<tl::expected<std::string, std::string>> run_program(program what, std::chrono::steady_clock::time_point until,
                                                                           std::size_t most);

} // namespace paddock::k8s
