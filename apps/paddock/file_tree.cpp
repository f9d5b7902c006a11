#include "apps/paddock/file_tree.hpp"

#include "apps/paddock/exit_code.hpp"
#include "base/utf8.hpp"
#include "messages/error.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace paddock::cli {

namespace fs = std::filesystem;

int end_of_stream(const arguments& args, const stream_end& end) {
  if (end.output_closed)
    return 128 + SIGPIPE; // whoever closed it knows why
  if (const auto* why = std::get_if<problem>(&end.how)) {
    print_problem(std::cerr, args.how(), *why);
    return end.signal != 0 ? 128 + end.signal : exit_code(why->how);
  }
  return end.signal != 0 ? 128 + end.signal : 0;
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

std::optional<listed> listed_from(const std::string& line) {
  const auto row = nlohmann::json::parse(line, nullptr, false);
  if (!row.is_object())
    return std::nullopt;
  const auto path = row.find("path");
  const auto size = row.find("size");
  if (path == row.end() || !path->is_string() || size == row.end() || !size->is_number_unsigned())
    return std::nullopt;
  return listed{path->get<std::string>(), size->get<std::uint64_t>()};
}

std::optional<fs::path> below(const std::string& root, const std::string& path) {
  const auto relative = fs::path{path}.lexically_normal().lexically_relative(fs::path{root + "/"}.lexically_normal());
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..")
    return std::nullopt;
  return relative;
}

namespace {

/// All that a call says on stdout. The failure is an exit code; its words have been printed.
tl::expected<std::string, int> output_of(const remote& from, const arguments& args, client::job what) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return tl::unexpected{refuse(args, make_problem(verdict::failed, "LocalFile", "no pipe is left"))};
  auto text = std::string{};
  auto reading = std::thread{[&text, fd = ends[0]] {
    std::array<char, 64 * 1024> piece;
    for (auto n = ::read(fd, piece.data(), piece.size()); n > 0; n = ::read(fd, piece.data(), piece.size()))
      text.append(piece.data(), static_cast<std::size_t>(n));
  }};
  const auto end = run_interruptible(from.at, std::move(what), {-1, ends[1], STDERR_FILENO});
  ::close(ends[1]);
  reading.join();
  ::close(ends[0]);
  if (const auto code = end_of_stream(args, end); code != 0)
    return tl::unexpected{code};
  if (const auto& done = std::get<call_end>(end.how); done.exit_code != 0)
    return tl::unexpected{done.exit_code};
  return text;
}

} // namespace

tl::expected<std::string, int> absolute(const remote& from, const arguments& args) {
  if (from.path.starts_with('/'))
    return from.path;
  // A walk begins at an absolute path, and only the guest knows where its workspace is.
  auto what = run_spec{};
  what.program = "realpath";
  what.arguments = {"-e", "--", from.path.empty() ? "." : from.path};
  auto got = output_of(from, args, std::move(what));
  if (!got)
    return tl::unexpected{got.error() == 1 ? exit_code(verdict::not_found) : got.error()};
  while (got->ends_with('\n'))
    got->pop_back();
  return std::move(*got);
}

tl::expected<std::vector<listed>, int> list_of(const remote& from, const arguments& args, walk_spec what) {
  const auto said = output_of(from, args, std::move(what));
  if (!said)
    return tl::unexpected{said.error()};
  const auto& text = *said;
  auto out = std::vector<listed>{};
  for (std::size_t at = 0; at < text.size();) {
    const auto stop = std::min(text.find('\n', at), text.size());
    auto one = listed_from(text.substr(at, stop - at));
    if (!one)
      return tl::unexpected{refuse(args, make_problem(verdict::failed, "RemoteProtocol", "the list of files cannot be read"))};
    out.push_back(std::move(*one));
    at = stop + 1;
  }
  return out;
}

void print_files(std::ostream& out, format how, const std::vector<listed>& all) {
  if (how == format::json) {
    auto rows = nlohmann::json::array();
    for (const auto& x : all)
      rows.push_back({{"path", x.path}, {"size", x.size}});
    out << rows.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  for (const auto& x : all) {
    if (how == format::table)
      out << x.size << '\t';
    out << x.path << '\n';
  }
}

} // namespace paddock::cli
