#include "client/files.hpp"

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "client/run.hpp"
#include "messages/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace paddock::client {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_list = 1024 * 1024 * 1024;

stream_end ended(problem why) {
  return {std::move(why)};
}

stream_end local_problem(const std::string& text) {
  return ended(make_problem(verdict::usage, "LocalFile", text));
}

stream_end cannot_write(const fs::path& to) {
  return local_problem("cannot write " + to.string() + ": " + std::strerror(errno));
}

bool went_well(const stream_end& x) {
  return std::holds_alternative<call_end>(x.how) && !x.output_closed && !x.cancelled;
}

/// A file descriptor that is closed with its scope. -1: none.
class open_file {
public:
  explicit open_file(int fd) : fd_(fd) {
  }
  ~open_file() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  [[nodiscard]] int get() const noexcept {
    return fd_;
  }

private:
  int fd_;
};

/// The path as an absolute one: of a path in the workspace, where the guest says that it is.
result<std::string> absolute(const target& at, const std::string& path, const stream_watch& watch) {
  if (path.starts_with('/'))
    return path;
  // A walk begins at an absolute path, and only the guest knows where its workspace is.
  auto what = run_spec{};
  what.program = "realpath";
  what.arguments = {"-e", "--", path.empty() ? "." : path};
  auto got = output_of(at, std::move(what), 64 * 1024, watch);
  if (!got)
    return tl::unexpected{std::move(got.error())};
  auto& text = got->end.exit_code == 0 ? got->out : got->err;
  while (text.ends_with('\n'))
    text.pop_back();
  if (got->end.exit_code != 0)
    return tl::unexpected{make_problem(got->end.exit_code == 1 ? verdict::not_found : verdict::failed, "RemoteRefused", text)};
  return std::move(text);
}

/// Writing makes files with the guest's usual mode: those that may be run get that back, in a few commands.
void make_executable(const target& at, const std::vector<std::string>& paths, const copy_watch& watch) {
  constexpr std::size_t most = 500;
  for (std::size_t from = 0; from < paths.size(); from += most) {
    auto what = run_spec{};
    what.program = "chmod";
    what.arguments = {"a+x", "--"};
    what.arguments.insert(what.arguments.end(), paths.begin() + static_cast<std::ptrdiff_t>(from),
                          paths.begin() + static_cast<std::ptrdiff_t>(std::min(from + most, paths.size())));
    const auto got = output_of(at, std::move(what), 64 * 1024, watch.stream);
    if ((!got || got->end.exit_code != 0) && watch.not_as_there)
      watch.not_as_there(make_problem(verdict::failed, "ModeNotKept", "some copied programs were not made executable"));
  }
}

/// Reads a file of the guest into the file `to` of this machine.
stream_end place_file(const target& at, const std::string& from, const fs::path& to, const copy_watch& watch) {
  struct stat about {};
  const auto stands = ::lstat(to.c_str(), &about) == 0;
  if (stands && !S_ISREG(about.st_mode)) {
    const auto file = open_file{::open(to.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC | O_NONBLOCK)};
    if (file.get() < 0)
      return cannot_write(to);
    return run_stream(at, read_spec{from, {}, {}}, {-1, file.get(), -1}, watch.stream);
  }
  const auto part = (to.parent_path() / (".paddock-" + new_name_suffix(6) + ".part")).string();
  const auto file = open_file{::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (file.get() < 0)
    return cannot_write(to);
  if (stands && ::fchmod(file.get(), about.st_mode & 07777) != 0) {
    auto end = cannot_write(to);
    ::unlink(part.c_str());
    return end;
  }
  auto end = run_stream(at, read_spec{from, {}, {}}, {-1, file.get(), -1}, watch.stream);
  if (went_well(end) && (::fsync(file.get()) != 0 || std::rename(part.c_str(), to.c_str()) != 0))
    end = cannot_write(to);
  if (!went_well(end))
    ::unlink(part.c_str());
  else if (watch.copied)
    watch.copied(std::get<call_end>(end.how).size);
  return end;
}

/// Whether `relative` is below `top`, which has no links, also when those of it are followed.
bool stays_below(const fs::path& top, const fs::path& relative) {
  auto failed = std::error_code{};
  const auto meant = fs::weakly_canonical(top / relative, failed);
  return !failed && below(top.string(), meant.string());
}

} // namespace

result<std::vector<listed_file>> list_files(const target& at, walk_spec what, const stream_watch& watch) {
  auto root = absolute(at, what.root, watch);
  if (!root)
    return tl::unexpected{std::move(root.error())};
  what.root = std::move(*root);
  auto said = output_of(at, std::move(what), longest_list, watch);
  if (!said)
    return tl::unexpected{std::move(said.error())};
  const auto unreadable = [] {
    return tl::unexpected{make_problem(verdict::failed, "RemoteProtocol", "the list of files cannot be read")};
  };
  if (said->cut || said->end.exit_code != 0)
    return unreadable();
  const auto& text = said->out;
  auto out = std::vector<listed_file>{};
  for (std::size_t from = 0; from < text.size();) {
    const auto stop = std::min(text.find('\n', from), text.size());
    auto one = listed_from(text.substr(from, stop - from));
    if (!one)
      return unreadable();
    out.push_back(std::move(*one));
    from = stop + 1;
  }
  return out;
}

stream_end copy_file_in(const target& at, const std::string& local, std::string to, const copy_watch& watch) {
  const auto file = open_file{::open(local.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}; // a pipe that nobody writes to yet is waited for
  struct stat about {};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0)
    return local_problem("cannot read " + local + ": " + std::strerror(errno));
  if (S_ISDIR(about.st_mode))
    return local_problem(local + " is a folder; copy it with -r");
  auto size = std::optional<std::uint64_t>{};
  if (S_ISREG(about.st_mode))
    size = static_cast<std::uint64_t>(about.st_size);
  if (to.empty() || to.ends_with('/'))
    to += fs::path{local}.filename().string();
  auto end = run_stream(at, write_spec{std::move(to), size}, {file.get(), -1, -1}, watch.stream);
  if (went_well(end) && watch.copied)
    watch.copied(size.value_or(0));
  return end;
}

stream_end copy_file_out(const target& at, const std::string& from, const std::string& local, const copy_watch& watch) {
  std::error_code none;
  fs::path to{local};
  if (fs::is_directory(to, none))
    to /= fs::path{from}.filename();
  return place_file(at, from, to, watch);
}

stream_end copy_tree_in(const target& at, const std::string& local, std::string to, const copy_watch& watch) {
  const auto found = local_tree(local);
  if (!found)
    return local_problem(found.error());
  if (watch.not_as_there)
    for (const auto& x : found->skipped)
      watch.not_as_there(make_problem(verdict::failed, "Skipped", x));
  while (to.size() > 1 && to.ends_with('/'))
    to.pop_back();
  auto programs = std::vector<std::string>{};
  for (const auto& x : found->files) {
    auto path = (fs::path{to} / x.relative).string();
    if (auto end = copy_file_in(at, x.path, path, watch); !went_well(end))
      return end;
    if (x.executable)
      programs.push_back(std::move(path));
  }
  make_executable(at, programs, watch);
  return {call_end{}};
}

stream_end copy_tree_out(const target& at, const std::string& from, const std::string& local, const copy_watch& watch) {
  // A list may come whole although it was to be withdrawn.
  auto withdrawn = false;
  const auto listing = stream_watch{watch.stream.fd, [&] {
                                      const auto now = watch.stream.woken();
                                      withdrawn = withdrawn || now;
                                      return now;
                                    }};
  const auto root = absolute(at, from, listing);
  if (!root)
    return ended(root.error());
  const auto listed = list_files(at, walk_spec{*root, "**/*", true, {}, most_files_of_a_tree, most_visits_of_a_tree}, listing);
  if (!listed)
    return ended(listed.error());
  if (withdrawn)
    return {call_end{}, false, true};
  if (listed->size() >= most_files_of_a_tree)
    return ended(make_problem(verdict::refused, "TreeTooLarge",
                              "the tree has more than " + std::to_string(most_files_of_a_tree - 1) + " files; nothing was copied"));
  auto failed = std::error_code{};
  const auto here = fs::current_path(failed);
  const auto top = failed ? fs::path{} : fs::weakly_canonical(here / local, failed);
  if (failed)
    return local_problem("cannot write below " + local + ": " + failed.message());
  for (const auto& x : *listed) {
    const auto relative = below(*root, x.path);
    if (!relative)
      return ended(make_problem(verdict::failed, "RemoteProtocol", "the guest listed a file that is not below " + *root));
    const auto to = fs::path{local} / *relative;
    // The guest chooses the names, and what stands here may be links.
    if (!stays_below(top, *relative))
      return local_problem(to.string() + " leads out of " + local);
    fs::create_directories(to.parent_path(), failed);
    if (failed)
      return local_problem("cannot create " + to.parent_path().string() + ": " + failed.message());
    if (auto end = place_file(at, x.path, to, watch); !went_well(end))
      return end;
  }
  return {call_end{}};
}

tl::expected<local_files, std::string> local_tree(const std::string& root) {
  auto out = local_files{};
  auto failed = std::error_code{};
  auto at = fs::recursive_directory_iterator{root, failed};
  for (; !failed && at != fs::recursive_directory_iterator{}; at.increment(failed)) {
    struct stat about {};
    const auto path = at->path().string();
    if (::lstat(path.c_str(), &about) != 0 || S_ISDIR(about.st_mode))
      continue; // gone meanwhile, or entered next
    const auto relative = at->path().lexically_relative(root).string();
    if (!is_utf8(relative))
      out.skipped.push_back(path + ": its name is not UTF-8, and the protocol carries no other");
    else if (S_ISREG(about.st_mode))
      out.files.push_back(
        {path, at->path().lexically_relative(root).string(), static_cast<std::uint64_t>(about.st_size), (about.st_mode & S_IXUSR) != 0});
    else
      out.skipped.push_back(path + " is no regular file");
  }
  if (failed)
    return tl::unexpected{"cannot read " + root + ": " + failed.message()};
  std::ranges::sort(out.files, {}, &local_file::relative);
  return out;
}

std::optional<listed_file> listed_from(const std::string& line) {
  const auto row = nlohmann::json::parse(line, nullptr, false);
  if (!row.is_object())
    return std::nullopt;
  const auto path = row.find("path");
  const auto size = row.find("size");
  if (path == row.end() || !path->is_string() || size == row.end() || !size->is_number_unsigned())
    return std::nullopt;
  return listed_file{path->get<std::string>(), size->get<std::uint64_t>()};
}

std::optional<fs::path> below(const std::string& root, const std::string& path) {
  const auto relative = fs::path{path}.lexically_normal().lexically_relative(fs::path{root + "/"}.lexically_normal());
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..")
    return std::nullopt;
  return relative;
}

} // namespace paddock::client
