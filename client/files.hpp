#pragma once

#include "client/stream.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paddock::client {

// Files of a guest, and files of this machine. What is read or written in memory goes by `run` with a `read_spec` or a `write_spec`.

inline constexpr std::uint64_t most_files_of_a_tree = 1'000'000;
inline constexpr std::uint64_t most_visits_of_a_tree = 4'000'000;

struct listed_file {
  std::string path;
  std::uint64_t size = 0;
};

/// What a walk finds, whole. A root that is not absolute is one in the workspace.
[[nodiscard]] result<std::vector<listed_file>> list_files(const target& at, walk_spec what, const stream_watch& watch = {});

/// Who hears of a copy; on the thread that copies. What is absent is not told.
struct copy_watch {
  stream_watch stream;                              // as of `run_stream`
  std::function<void(std::uint64_t size)> copied;   // one file is whole
  std::function<void(const problem&)> not_as_there; // `Skipped`: no regular file, or no name for the protocol. `ModeNotKept`
};

// Each ends with a `call_end`, or with the first `problem`: what has been copied before it stays. What is wrong with a file of this
// machine is `LocalFile`.

/// `to` that is empty or ends with a slash is a folder, and the file keeps its name.
[[nodiscard]] stream_end copy_file_in(const target& at, const std::string& local, std::string to, const copy_watch& watch = {});
/// Into a file beside `local`, which takes its place, with the mode of what stood there, once the whole content is on the disk. What
/// is no regular file (a device, a pipe, what a link points to) is written through; into a folder it keeps its name.
[[nodiscard]] stream_end copy_file_out(const target& at, const std::string& from, const std::string& local, const copy_watch& watch = {});
/// The regular files below `local`; links are not followed. Programs stay programs.
[[nodiscard]] stream_end copy_tree_in(const target& at, const std::string& local, std::string to, const copy_watch& watch = {});
/// The regular files below `from`, with folders as they are needed. Nothing is written outside of `local`: where a link that stands
/// below it leads out, the copy ends.
[[nodiscard]] stream_end copy_tree_out(const target& at, const std::string& from, const std::string& local, const copy_watch& watch = {});

struct local_file {
  std::string path;
  std::string relative; // below the tree's root
  std::uint64_t size = 0;
  bool executable = false;
};
struct local_files {
  std::vector<local_file> files;
  std::vector<std::string> skipped; // links, devices, sockets: no regular files
};
/// Every regular file below `root`, in the order of their paths. Links are not followed.
[[nodiscard]] tl::expected<local_files, std::string> local_tree(const std::string& root);

/// One line of a walk, or nothing when it is none.
[[nodiscard]] std::optional<listed_file> listed_from(const std::string& line);

/// `path` below `root`, both absolute or both as given; nothing when it is not there, or names `..`.
[[nodiscard]] std::optional<std::filesystem::path> below(const std::string& root, const std::string& path);

} // namespace paddock::client
