#include "embedded/flows/pod_log_reader.hpp"

#include "base/time.hpp"
#include "embedded/pod_log.hpp"
#include "embedded/selector.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace paddock::embedded {

namespace fs = std::filesystem;

namespace {

/// The runs of a container of which there is a log, the latest last.
std::vector<int> runs_in(const fs::path& folder) {
  std::vector<int> out;
  auto error = std::error_code{};
  for (const auto& entry : fs::directory_iterator{folder, error}) {
    const auto name = entry.path().filename().string();
    const auto digits = name.find_first_not_of("0123456789");
    if (digits != 0 && digits != std::string::npos && digits < 9 && name.substr(digits) == ".log")
      out.push_back(std::stoi(name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::uintmax_t inode_of(const fs::path& file) {
  struct stat seen {};
  return ::stat(file.c_str(), &seen) == 0 ? seen.st_ino : 0;
}

descriptor opened(const fs::path& file) {
  return descriptor{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
}

/// 0: it is not open.
std::uintmax_t inode_of(const descriptor& file) {
  struct stat seen {};
  return ::fstat(file.get(), &seen) == 0 ? seen.st_ino : 0;
}

/// The next bytes; empty: none are there now.
std::string next_bytes(const descriptor& file) {
  std::string out(64 * 1024, '\0');
  const auto count = ::read(file.get(), out.data(), out.size());
  out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return out;
}

std::string rest_of(const descriptor& file) {
  std::string out;
  for (auto piece = next_bytes(file); !piece.empty(); piece = next_bytes(file))
    out += piece;
  return out;
}

} // namespace

pod_log_reader::pod_log_reader(fs::path folder, int run, log_request what) : folder_(std::move(folder)), run_(run), what_(std::move(what)) {
}

tl::expected<pod_log_reader, std::string> pod_log_reader::open(const fs::path& logs, log_request what) {
  const auto none = [&] {
    return tl::unexpected{(what.previous ? "previous terminated container \"" : "container \"") + what.container + "\" in pod \"" + what.pod
                          + "\" " + (what.previous ? "not found" : "is waiting to start: ContainerCreating")};
  };
  // A name becomes part of a path.
  if (!is_dns_label(what.container))
    return none();
  auto folder = log_folder(logs, what.name_space, what.pod, what.uid) / what.container;
  auto runs = runs_in(folder);
  if (what.previous && !runs.empty())
    runs.pop_back();
  if (runs.empty())
    return none();
  pod_log_reader out{std::move(folder), runs.back(), std::move(what)};
  out.read_what_is_there();
  return out;
}

fs::path pod_log_reader::file() const {
  return folder_ / (std::to_string(run_) + ".log");
}

void pod_log_reader::open_current() {
  current_ = opened(file());
  inode_ = inode_of(current_);
}

/// The end of what has been written, as the client wants it.
void pod_log_reader::read_what_is_there() {
  open_current();
  // Put aside meanwhile, the file that is open already has that name.
  std::string text;
  if (const auto before = opened(file().string() + ".1"); inode_of(before) != inode_)
    text = rest_of(before);
  text += rest_of(current_);
  const auto complete = text.rfind('\n') + 1; // none: 0
  part_ = text.substr(complete);
  text.resize(complete);
  // From the end to the line that is the first of the last ones.
  std::size_t from = 0;
  if (what_.tail) {
    from = text.size();
    for (auto left = *what_.tail; left > 0 && from > 0; --left)
      from = from < 2 ? 0 : text.rfind('\n', from - 2) + 1;
  }
  for (auto rest = std::string_view{text}.substr(from); !rest.empty();) {
    const auto end = rest.find('\n');
    ready_ += take(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
}

/// One line of the file; lines that were split are put together again.
std::string pod_log_reader::take(std::string_view line) {
  const auto read = read_log_line(line);
  if (!read)
    return {};
  if (what_.since)
    if (const auto at = read_instant(read->instant); at && *at < *what_.since)
      return {};
  std::string out;
  if (what_.timestamps && !continues_)
    out = std::string{read->instant} + " ";
  out += read->text;
  continues_ = !read->complete;
  if (read->complete)
    out += '\n';
  return out;
}

std::string pod_log_reader::read_on(std::size_t bytes) {
  std::string out;
  for (bool again = true; again && out.size() < bytes;) {
    // Asked before reading: nothing is written to a file any more that is put aside.
    const auto now = inode_of(file());
    const auto piece = next_bytes(current_);
    part_ += piece;
    for (auto end = part_.find('\n'); end != std::string::npos; end = part_.find('\n')) {
      out += take(std::string_view{part_}.substr(0, end));
      part_.erase(0, end + 1);
    }
    again = !piece.empty();
    if (!again && now != inode_ && now != 0) {
      open_current();
      again = inode_ != 0;
    }
  }
  return out;
}

std::string pod_log_reader::next(std::size_t bytes) {
  auto out = ready_.empty() ? read_on(bytes) : ready_.substr(0, bytes);
  ready_.erase(0, std::min(bytes, ready_.size()));
  if (what_.bytes)
    out.resize(std::min(out.size(), *what_.bytes - std::min(told_, *what_.bytes)));
  told_ += out.size();
  return out;
}

bool pod_log_reader::ended() const {
  if (what_.bytes && told_ >= *what_.bytes)
    return true;
  const auto runs = runs_in(folder_);
  return runs.empty() || (!what_.previous && runs.back() != run_);
}

} // namespace paddock::embedded
