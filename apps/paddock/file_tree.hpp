#pragma once

#include "apps/paddock/file_verbs.hpp"
#include "apps/paddock/stream.hpp"

#include <filesystem>

namespace paddock::cli {

inline constexpr std::uint64_t most_files_of_a_tree = 1'000'000;
inline constexpr std::uint64_t most_visits_of_a_tree = 4'000'000;

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

struct listed {
  std::string path;
  std::uint64_t size = 0;
};

/// One line of a walk, or nothing when it is none.
[[nodiscard]] std::optional<listed> listed_from(const std::string& line);

/// `path` below `root`, both absolute or both as given; nothing when it is not there, or names `..`.
[[nodiscard]] std::optional<std::filesystem::path> below(const std::string& root, const std::string& path);

/// The path as an absolute one: of a path in the workspace, where the guest says that it is. The failure is an exit code; its words have
/// been printed.
[[nodiscard]] tl::expected<std::string, int> absolute(const remote& from, const arguments& args);

/// What a walk finds, whole. The failure is an exit code; its words have been printed.
[[nodiscard]] tl::expected<std::vector<listed>, int> list_of(const remote& from, const arguments& args, walk_spec what);

void print_files(std::ostream& out, format how, const std::vector<listed>& all);

/// The exit code of a call that carried a file, with its words printed.
[[nodiscard]] int end_of_stream(const arguments& args, const stream_end& end);

} // namespace paddock::cli
