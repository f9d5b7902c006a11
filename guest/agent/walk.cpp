#include "guest/agent/walk.hpp"

#include "guest/agent/process.hpp"
#include "guest/agent/unique_fd.hpp"
#include "guest/agent/walk_output.hpp"
#include "guest/glob_paths.hpp"
#include "guest/paths.hpp"
#include "guest/walk_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace paddock::guest {

namespace {

constexpr auto to_pass = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr auto to_list = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// What stands under a name is gone, or is no longer what it was (a symbolic link fails as ELOOP or ENOTDIR).
bool vanished(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

// A directory that is being listed. `resume` is behind the last entry taken.
struct level {
  unique_fd fd; // none while too many deeper ones are open
  dev_t device = 0;
  ino_t inode = 0;
  std::size_t path_size = 0;
  std::shared_ptr<const glob_places> places;
  std::vector<char> listing;
  std::size_t taken = 0; // bytes of it
  std::size_t filled = 0;
  off_t resume = 0;
};

// How the walk came to its end.
struct ending {
  std::string message; // empty: well
  std::string_view code;
};

// The functions that answer a bool say whether the walk goes on; `end_` has the reason when it does not.
class walker {
public:
  walker(const walk_plan& plan, glob_paths paths, walk_output& out, const walk_limits& limits) :
    plan_(plan), paths_(std::move(paths)), out_(out), limits_(limits) {
    depth_ = std::min(plan.max_depth.value_or(no_limit), paths_.longest().value_or(no_limit));
    depth_ = std::max<std::uint64_t>(depth_, 1);
  }

  ending run() {
    auto on = begin();
    while (on && !levels_.empty())
      on = advance();
    return end_;
  }

private:
  static constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

  // -- where it begins -----------------------------------------------------------------------------------------------------

  bool begin() {
    path_ = plan_.root;
    auto* real = ::realpath(path_.c_str(), nullptr);
    if (real == nullptr)
      return errno == ENOENT || errno == ENOTDIR ? finish() : fail("realpath");
    auto resolved = std::string{real};
    std::free(real);
    if (resolved != path_)
      return refuse_link();
    // The same way once more, and this time what was checked is held.
    auto at = unique_fd{::open("/", to_pass)};
    if (!at)
      return fail("open");
    auto rest = std::string_view{path_}.substr(1);
    while (!rest.empty()) {
      auto slash = rest.find('/');
      auto name = std::string{rest.substr(0, slash)};
      rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
      auto next = unique_fd{::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
      if (!next)
        return errno == ENOENT || errno == ENOTDIR ? finish() : fail("open");
      auto is = status_of(next.get());
      if (!is)
        return fail("stat");
      if (S_ISLNK(is->st_mode))
        return refuse_link();
      if (S_ISREG(is->st_mode) && rest.empty())
        return offer_root(name, *is);
      if (!S_ISDIR(is->st_mode))
        return finish();
      at = std::move(next);
    }
    return descend_leading(std::move(at));
  }

  bool offer_root(const std::string& name, const struct stat& is) {
    if (!visit())
      return false;
    paths_.take(name);
    if (paths_.matches(paths_.start()))
      out_.entry(path_, static_cast<std::uint64_t>(is.st_size));
    return finish();
  }

  bool descend_leading(unique_fd at) {
    auto places = paths_.start();
    if (path_ == "/")
      path_.clear();
    for (const auto& name : paths_.leading()) {
      if (!visit())
        return false;
      path_ += "/" + name;
      auto next = unique_fd{::openat(at.get(), name.c_str(), to_pass)};
      if (!next)
        return vanished(errno) || errno == ENAMETOOLONG ? finish() : fail("open");
      at = std::move(next);
      paths_.take(name);
      places = paths_.below(places);
      if (++above_ == depth_)
        return finish();
    }
    auto fd = unique_fd{::openat(at.get(), ".", to_list)};
    return fd ? enter(std::move(fd), std::make_shared<const glob_places>(std::move(places))) : fail("open");
  }

  // -- one entry after the other -------------------------------------------------------------------------------------------

  bool advance() {
    auto& here = levels_.back();
    if (here.taken == here.filled) {
      if (!fill(here))
        return false;
      if (here.filled == 0)
        return leave();
    }
    const auto* found = reinterpret_cast<const dirent64*>(here.listing.data() + here.taken);
    here.taken += found->d_reclen;
    here.resume = found->d_off;
    auto name = std::string_view{found->d_name};
    return name == "." || name == ".." || look_at(name, found->d_type);
  }

  bool fill(level& here) {
    out_.breathe();
    here.listing.resize(limits_.listing_bytes);
    auto n = ::getdents64(here.fd.get(), here.listing.data(), here.listing.size());
    if (n < 0 && errno != ENOENT) { // ENOENT: it was removed meanwhile
      path_.resize(here.path_size);
      return fail("getdents");
    }
    here.taken = 0;
    here.filled = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    return true;
  }

  // `name` ends with a NUL.
  bool look_at(std::string_view name, unsigned char type) {
    if (!visit())
      return false;
    if (type != DT_REG && type != DT_DIR && type != DT_UNKNOWN)
      return true;
    const auto& here = levels_.back();
    paths_.take(name);
    auto matching = type != DT_DIR && paths_.matches(*here.places);
    auto below = glob_places{};
    if (type != DT_REG && above_ + levels_.size() < depth_)
      below = paths_.below(*here.places);
    if (!matching && below.empty())
      return true;
    path_.resize(here.path_size);
    path_ += '/';
    path_ += name;
    if (type != DT_DIR) {
      struct stat is;
      if (::fstatat(here.fd.get(), name.data(), &is, AT_SYMLINK_NOFOLLOW) != 0)
        return vanished(errno) || fail("stat");
      if (S_ISREG(is.st_mode))
        return !matching || deliver(is);
      if (!S_ISDIR(is.st_mode) || below.empty())
        return true;
    }
    auto fd = unique_fd{::openat(here.fd.get(), name.data(), to_list)};
    if (!fd)
      return vanished(errno) || fail("open");
    // In most trees the places stay the same from some depth on.
    return enter(std::move(fd), below == *here.places ? here.places : std::make_shared<const glob_places>(std::move(below)));
  }

  // -- into a directory and out of it --------------------------------------------------------------------------------------

  bool enter(unique_fd fd, std::shared_ptr<const glob_places> places) {
    auto is = status_of(fd.get());
    if (!is)
      return fail("stat");
    auto next = level{};
    next.fd = std::move(fd);
    next.device = is->st_dev;
    next.inode = is->st_ino;
    next.path_size = path_.size();
    next.places = std::move(places);
    levels_.push_back(std::move(next));
    // The first stays open: from there the others are found again.
    if (levels_.size() - first_open_ + 1 > std::max<std::size_t>(limits_.open_directories, 2)) {
      auto& far = levels_[first_open_++];
      far.fd.reset();
      far.listing = {};
      far.taken = far.filled = 0;
    }
    return true;
  }

  bool leave() {
    auto left = std::move(levels_.back());
    levels_.pop_back();
    while (levels_.size() > 1 && levels_.size() == first_open_) {
      --first_open_;
      auto& back = levels_.back();
      auto again = open_again(left);
      if (!again)
        return fail("open");
      back.fd = std::move(*again);
      if (back.fd)
        return ::lseek(back.fd.get(), back.resume, SEEK_SET) >= 0 || fail("seek");
      // It is gone, and what was not seen of it is gone too.
      left = std::move(back);
      levels_.pop_back();
    }
    return true;
  }

  // The last level, coming back from `child`. No descriptor: it is not where it was. Absent: errno says why.
  std::optional<unique_fd> open_again(const level& child) const {
    if (child.fd) {
      auto parent = unique_fd{::openat(child.fd.get(), "..", to_list)};
      if (parent && is_last(parent))
        return parent;
    }
    // The child was moved away: down from the first level by the names.
    auto at = unique_fd{};
    for (auto i = std::size_t{1}; i < levels_.size(); ++i) {
      auto begin = levels_[i - 1].path_size + 1;
      auto name = path_.substr(begin, levels_[i].path_size - begin);
      auto from = at ? at.get() : levels_.front().fd.get();
      at = unique_fd{::openat(from, name.c_str(), i + 1 == levels_.size() ? to_list : to_pass)};
      if (!at && !vanished(errno))
        return std::nullopt;
      if (!at)
        return at;
    }
    return is_last(at) ? std::move(at) : unique_fd{};
  }

  bool is_last(const unique_fd& fd) const {
    auto is = status_of(fd.get());
    return is && is->st_dev == levels_.back().device && is->st_ino == levels_.back().inode;
  }

  // -- accounts ------------------------------------------------------------------------------------------------------------

  bool visit() {
    if (out_.broken())
      return stop({"nobody reads", {}});
    if (++visited_ <= plan_.max_visited_entries)
      return true;
    return stop({"the walk visits more than " + std::to_string(plan_.max_visited_entries) + " entries", walk_limit_code});
  }

  bool deliver(const struct stat& is) {
    out_.entry(path_, static_cast<std::uint64_t>(is.st_size));
    return ++delivered_ < plan_.max_entries;
  }

  bool stop(ending why) {
    end_ = std::move(why);
    return false;
  }
  bool finish() {
    return stop({});
  }
  bool fail(const char* call) {
    return stop({system_message(errno, call, path_), {}});
  }
  bool refuse_link() {
    return stop({"the root follows a symbolic link: " + path_, {}});
  }

  static std::optional<struct stat> status_of(int fd) {
    struct stat is;
    return ::fstat(fd, &is) == 0 ? std::optional{is} : std::nullopt;
  }

  const walk_plan& plan_;
  glob_paths paths_;
  walk_output& out_;
  walk_limits limits_;
  std::uint64_t depth_ = 0; // of the deepest entries that count; direct children of the root have 1
  std::uint64_t above_ = 0; // the segments between the root and the first level
  std::uint64_t visited_ = 0;
  std::uint64_t delivered_ = 0;
  std::string path_; // what is looked at
  std::vector<level> levels_;
  std::size_t first_open_ = 1; // levels before it, but for the first, are closed
  ending end_;
};

} // namespace

int walk(std::string_view text, int out, const walk_limits& limits) {
  auto output = walk_output{out, limits.output_bytes};
  auto failed = [&](std::string_view message, std::string_view code) {
    output.error(message, code);
    return 1;
  };
  auto plan = read_walk_plan(text);
  if (!plan)
    return failed(plan.error(), {});
  auto paths = glob_paths::compile(plan->branches, plan->include_hidden);
  if (!paths)
    return failed(paths.error(), {});
  if (auto end = walker{*plan, std::move(*paths), output, limits}.run(); !end.message.empty())
    return failed(end.message, end.code);
  output.done();
  return output.broken() ? 1 : 0;
}

} // namespace paddock::guest
