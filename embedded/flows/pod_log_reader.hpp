#pragma once

#include "embedded/flows/descriptor.hpp"
#include "embedded/pod_log_request.hpp"

#include <tl/expected.hpp>

#include <filesystem>
#include <string>

namespace paddock::embedded {

/// Reads a container's log for a client, from its files (pod_log.hpp), while the container goes on writing.
class pod_log_reader {
public:
  /// The failure is a text for people: there is no such run.
  [[nodiscard]] static tl::expected<pod_log_reader, std::string> open(const std::filesystem::path& logs, log_request what);

  /// The next lines as the client gets them, about `bytes` of them; empty: nothing more is there now.
  [[nodiscard]] std::string next(std::size_t bytes);
  /// As many bytes as the client wanted have been read, or the container has been started again.
  [[nodiscard]] bool ended() const;

private:
  pod_log_reader(std::filesystem::path folder, int run, log_request what);
  void open_current();
  void read_what_is_there();
  [[nodiscard]] std::string take(std::string_view line);
  [[nodiscard]] std::string read_on(std::size_t bytes);
  [[nodiscard]] std::filesystem::path file() const;

  std::filesystem::path folder_;
  int run_;
  log_request what_;
  std::string ready_;  // of what was there when it was opened
  descriptor current_; // stays with its file when that is put aside
  std::uintmax_t inode_ = 0;
  std::string part_; // a line whose end is not written yet
  bool continues_ = false;
  std::size_t told_ = 0;
};

} // namespace paddock::embedded
