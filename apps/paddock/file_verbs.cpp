#include "apps/paddock/file_verbs.hpp"

#include "apps/paddock/exit_code.hpp"
#include "apps/paddock/file_tree.hpp"
#include "apps/paddock/stream.hpp"
#include "base/random.hpp"
#include "messages/error.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

namespace paddock::cli {

namespace {

namespace fs = std::filesystem;

int copy_file_in(const remote& to, const arguments& args, const std::string& source) {
  auto fd = STDIN_FILENO;
  auto path = to.path;
  auto size = std::optional<std::uint64_t>{};
  if (source != "-") {
    fd = ::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe that nobody writes to yet is waited for below
    struct stat about {};
    if (fd < 0 || ::fstat(fd, &about) != 0)
      return refuse(args, make_problem(verdict::usage, "LocalFile", "cannot read " + source + ": " + std::strerror(errno)));
    if (S_ISDIR(about.st_mode))
      return refuse(args, make_problem(verdict::usage, "LocalFile", source + " is a folder; copy it with -r"));
    if (S_ISREG(about.st_mode))
      size = static_cast<std::uint64_t>(about.st_size);
    if (path.empty() || path.ends_with('/'))
      path += fs::path{source}.filename().string();
  }
  const auto end = run_interruptible(to.at, write_spec{path, size}, {fd, -1, -1});
  if (fd != STDIN_FILENO)
    ::close(fd);
  return end_of_stream(args, end);
}

/// Into a file beside the destination, which takes its place, with the mode of what stood there, once the whole content is on
/// the disk. What is no regular file (a device, a pipe, what a link points to) is written through.
int copy_file_out(const remote& from, const arguments& args, const std::string& destination) {
  if (destination == "-")
    return end_of_stream(args, run_interruptible(from.at, read_spec{from.path, {}, {}}, {-1, STDOUT_FILENO, STDERR_FILENO}));
  const auto cannot = [&](const fs::path& to) {
    return refuse(args, make_problem(verdict::usage, "LocalFile", "cannot write " + to.string() + ": " + std::strerror(errno)));
  };
  std::error_code none;
  fs::path to{destination};
  if (fs::is_directory(to, none))
    to /= fs::path{from.path}.filename();
  struct stat about {};
  const auto stands = ::lstat(to.c_str(), &about) == 0;
  if (stands && !S_ISREG(about.st_mode)) {
    const auto fd = ::open(to.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC | O_NONBLOCK);
    if (fd < 0)
      return cannot(to);
    const auto code = end_of_stream(args, run_interruptible(from.at, read_spec{from.path, {}, {}}, {-1, fd, -1}));
    ::close(fd);
    return code;
  }
  const auto part = (to.parent_path() / (".paddock-" + new_name_suffix(6) + ".part")).string();
  const auto fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0)
    return cannot(to);
  if (stands && ::fchmod(fd, about.st_mode & 07777) != 0) {
    const auto code = cannot(to);
    ::close(fd);
    ::unlink(part.c_str());
    return code;
  }
  const auto end = run_interruptible(from.at, read_spec{from.path, {}, {}}, {-1, fd, -1});
  const auto whole = std::holds_alternative<call_end>(end.how) && !end.output_closed && end.signal == 0;
  const auto kept = whole && ::fsync(fd) == 0;
  ::close(fd);
  if (kept && std::rename(part.c_str(), to.c_str()) == 0)
    return 0;
  const auto code = whole ? cannot(to) : end_of_stream(args, end);
  ::unlink(part.c_str());
  return code;
}

/// Says on a terminal, and nowhere else, how far a tree has come.
class tally {
public:
  explicit tally(const char* verb) : verb_(verb), shown_(::isatty(STDERR_FILENO) != 0) {
  }
  ~tally() {
    if (shown_)
      std::cerr << "\r\x1b[K" << std::flush;
  }
  tally(const tally&) = delete;
  tally& operator=(const tally&) = delete;
  void add(std::uint64_t size) {
    ++files_;
    bytes_ += size;
    if (shown_)
      std::cerr << "\r\x1b[K" << verb_ << " " << files_ << " files, " << bytes_ / (1024 * 1024) << " MiB" << std::flush;
  }

private:
  const char* verb_;
  bool shown_;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Writing makes files with the guest's usual mode: those that may be run get that back, in a few commands.
void make_executable(const remote& to, const arguments& args, const std::vector<std::string>& paths) {
  constexpr std::size_t most = 500;
  for (std::size_t from = 0; from < paths.size(); from += most) {
    auto what = run_spec{};
    what.program = "chmod";
    what.arguments = {"a+x", "--"};
    what.arguments.insert(what.arguments.end(), paths.begin() + static_cast<std::ptrdiff_t>(from),
                          paths.begin() + static_cast<std::ptrdiff_t>(std::min(from + most, paths.size())));
    const auto end = run_interruptible(to.at, std::move(what), {-1, STDOUT_FILENO, STDERR_FILENO});
    const auto* done = std::get_if<call_end>(&end.how);
    if (done == nullptr || done->exit_code != 0)
      print_problem(std::cerr, args.how(), make_problem(verdict::failed, "ModeNotKept", "some copied programs were not made executable"));
  }
}

int copy_tree_in(const remote& to, const arguments& args) {
  auto found = local_tree(args.source);
  if (!found)
    return refuse(args, make_problem(verdict::usage, "LocalFile", found.error()));
  for (const auto& x : found->skipped)
    print_problem(std::cerr, args.how(), make_problem(verdict::failed, "Skipped", x));
  auto base = to.path;
  while (base.ends_with('/'))
    base.pop_back();
  auto programs = std::vector<std::string>{};
  auto shown = tally{"copied"};
  for (const auto& x : found->files) {
    const auto path = base.empty() ? x.relative : base + "/" + x.relative;
    if (const auto code = copy_file_in({to.at, path}, args, x.path); code != 0)
      return code;
    if (x.executable)
      programs.push_back(path);
    shown.add(x.size);
  }
  make_executable(to, args, programs);
  return found->skipped.empty() ? 0 : 1; // not all of the tree
}

int copy_tree_out(const remote& asked, const arguments& args) {
  const auto root = absolute(asked, args);
  if (!root)
    return root.error();
  const auto from = remote{asked.at, *root};
  auto listed = list_of(from, args, walk_spec{from.path, "**/*", true, {}, most_files_of_a_tree, most_visits_of_a_tree});
  if (!listed)
    return listed.error();
  if (listed->size() >= most_files_of_a_tree)
    return refuse(args, make_problem(verdict::refused, "TreeTooLarge",
                                     "the tree has more than " + std::to_string(most_files_of_a_tree - 1) + " files; nothing was copied"));
  auto shown = tally{"copied"};
  for (const auto& x : *listed) {
    const auto relative = below(from.path, x.path);
    if (!relative)
      return refuse(args, make_problem(verdict::failed, "RemoteProtocol", "the guest listed a file that is not below " + from.path));
    const auto to = fs::path{args.destination} / *relative;
    auto failed = std::error_code{};
    fs::create_directories(to.parent_path(), failed);
    if (failed)
      return refuse(args,
                    make_problem(verdict::usage, "LocalFile", "cannot create " + to.parent_path().string() + ": " + failed.message()));
    if (const auto code = copy_file_out({from.at, x.path}, args, to.string()); code != 0)
      return code;
    shown.add(x.size);
  }
  return 0;
}

} // namespace

int cat(remote from, const arguments& args) {
  return end_of_stream(args,
                       run_interruptible(from.at, read_spec{from.path, args.offset, args.length}, {-1, STDOUT_FILENO, STDERR_FILENO}));
}

int ls_files(remote from, const arguments& args) {
  auto root = absolute(from, args);
  if (!root)
    return root.error();
  from.path = std::move(*root);
  auto what = walk_spec{from.path, args.pattern, args.hidden, args.depth, args.max_entries, args.max_visited};
  const auto listed = list_of(from, args, std::move(what));
  if (!listed)
    return listed.error();
  print_files(std::cout, args.how(), *listed);
  return 0;
}

int copy_in(remote to, const arguments& args) {
  auto none = std::error_code{};
  if (args.recursive && args.source != "-" && fs::is_directory(args.source, none))
    return copy_tree_in(to, args);
  return copy_file_in(to, args, args.source);
}

int copy_out(remote from, const arguments& args) {
  if (args.recursive)
    return copy_tree_out(from, args);
  return copy_file_out(from, args, args.destination);
}

} // namespace paddock::cli
