#include "guest/agent/path_walk.hpp"

#include <climits>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <unistd.h>

namespace paddock::guest {

namespace {

constexpr auto to_pass = O_PATH | O_NOFOLLOW | O_CLOEXEC;
constexpr auto most_links = 40;
constexpr auto most_steps = 20'000;

using names = std::vector<std::string>;

names split(std::string_view path) {
  auto result = names{};
  while (!path.empty()) {
    auto slash = path.find('/');
    auto part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    if (!part.empty() && part != ".")
      result.emplace_back(part);
  }
  return result;
}

struct component {
  std::string name;
  bool from_link = false;
};

class path_walker {
public:
  path_walker(int root, const std::string& root_path, bool make_parents) : root_(root), root_path_(root_path), make_parents_(make_parents) {
  }

  tl::expected<confined_file, path_walk_failure> run(const std::string& below);

private:
  using failed = tl::unexpected<path_walk_failure>;

  static failed failure(int error, const char* call = "open") {
    return failed{path_walk_failure{false, error, call}};
  }

  // Each gives 0 or an errno value.
  int know_root();
  int stand();
  int climb();
  int leave(names to);
  int pass_outside(const std::string& name);
  int expand(int link);
  int create(const std::string& name);

  bool spend() {
    return ++steps_ <= most_steps;
  }

  // Whether what was reached outside is the root; then the walk is inside again.
  void come_back() {
    if (*outside_ == real_root_ || *outside_ == named_root_) {
      outside_.reset();
      inside_.clear();
      here_.reset();
    }
  }

  confined_file found_here(std::string name, std::optional<struct stat> seen) {
    return {std::move(here_), std::move(name), seen, std::move(grown_)};
  }

  int root_;
  const std::string& root_path_;
  bool make_parents_;
  std::deque<component> pending_;
  names inside_;                 // from the root to where the walk is; no link among them
  unique_fd here_;               // the directory that they name; none: to be opened anew
  std::optional<names> outside_; // where the walk is, by its text, while it is outside
  names real_root_;
  names named_root_;
  bool knows_root_ = false;
  int links_ = 0;
  int steps_ = 0;
  unique_fd last_link_at_; // of the request's last component, when that is a link
  std::string last_link_;
  std::vector<unique_fd> grown_;
};

// Opens the directory where the walk is.
int path_walker::stand() {
  if (here_)
    return 0;
  here_.reset(::fcntl(root_, F_DUPFD_CLOEXEC, 0));
  for (auto name = inside_.begin(); here_ && name != inside_.end(); ++name) {
    if (!spend())
      return ELOOP;
    here_.reset(::openat(here_.get(), name->c_str(), to_pass | O_DIRECTORY));
  }
  return here_ ? 0 : errno;
}

// Only what leaves the root needs its name.
int path_walker::know_root() {
  if (knows_root_)
    return 0;
  auto* real = ::realpath(root_path_.c_str(), nullptr);
  if (real == nullptr)
    return errno;
  real_root_ = split(real);
  std::free(real);
  named_root_ = split(root_path_);
  knows_root_ = true;
  return 0;
}

int path_walker::leave(names to) {
  if (auto error = know_root(); error != 0)
    return error;
  outside_ = std::move(to);
  come_back();
  return 0;
}

int path_walker::climb() {
  if (!inside_.empty()) {
    inside_.pop_back();
    here_.reset();
    return 0;
  }
  if (auto error = know_root(); error != 0)
    return error;
  auto above = real_root_;
  if (!above.empty())
    above.pop_back();
  return leave(std::move(above));
}

int path_walker::pass_outside(const std::string& name) {
  if (name != "..")
    outside_->push_back(name);
  else if (!outside_->empty())
    outside_->pop_back();
  come_back();
  return 0;
}

// What a link says comes before what is left of the path.
int path_walker::expand(int link) {
  if (++links_ > most_links)
    return ELOOP;
  char text[PATH_MAX];
  auto n = ::readlinkat(link, "", text, sizeof text);
  if (n <= 0)
    return n < 0 ? errno : ENOENT;
  auto to = std::string_view{text, static_cast<std::size_t>(n)};
  auto parts = split(to);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    pending_.push_front({std::move(*part), true});
  return to.front() == '/' ? leave({}) : 0;
}

int path_walker::create(const std::string& name) {
  if (::mkdirat(here_.get(), name.c_str(), 0777) != 0)
    return errno == EEXIST ? 0 : errno;
  auto made = unique_fd{::fcntl(here_.get(), F_DUPFD_CLOEXEC, 0)};
  if (!made)
    return errno;
  grown_.push_back(std::move(made));
  return 0;
}

tl::expected<confined_file, path_walk_failure> path_walker::run(const std::string& below) {
  for (auto& name : split(below))
    pending_.push_back({std::move(name), false});
  while (!pending_.empty()) {
    auto next = std::move(pending_.front());
    pending_.pop_front();
    if (!spend())
      return failure(ELOOP);
    if (outside_ || next.name == "..") {
      if (auto error = outside_ ? pass_outside(next.name) : climb(); error != 0)
        return failure(error);
      continue;
    }
    if (auto error = stand(); error != 0)
      return failure(error);
    auto there = unique_fd{::openat(here_.get(), next.name.c_str(), to_pass)};
    if (!there && errno != ENOENT)
      return failure(errno);
    if (!there && next.from_link) {
      if (!last_link_at_)
        return failure(ENOENT);
      here_ = std::move(last_link_at_);
      return found_here(std::move(last_link_), std::nullopt);
    }
    if (!there && pending_.empty())
      return found_here(std::move(next.name), std::nullopt);
    if (!there) {
      if (!make_parents_)
        return failure(ENOENT);
      if (auto error = create(next.name); error != 0)
        return failure(error, "mkdir");
      there.reset(::openat(here_.get(), next.name.c_str(), to_pass | O_DIRECTORY));
      if (!there)
        return failure(errno);
    }
    struct stat is;
    if (::fstat(there.get(), &is) != 0)
      return failure(errno, "stat");
    if (S_ISLNK(is.st_mode)) {
      if (pending_.empty() && !next.from_link) {
        last_link_at_.reset(::fcntl(here_.get(), F_DUPFD_CLOEXEC, 0));
        if (!last_link_at_)
          return failure(errno);
        last_link_ = next.name;
      }
      if (auto error = expand(there.get()); error != 0)
        return failure(error);
      continue;
    }
    if (pending_.empty())
      return found_here(std::move(next.name), is);
    if (!S_ISDIR(is.st_mode))
      return failure(ENOTDIR);
    inside_.push_back(std::move(next.name));
    here_ = std::move(there);
  }
  if (outside_)
    return failed{path_walk_failure{true}};
  if (auto error = stand(); error != 0)
    return failure(error);
  struct stat is;
  if (::fstat(here_.get(), &is) != 0)
    return failure(errno, "stat");
  return found_here(".", is);
}

} // namespace

tl::expected<confined_file, path_walk_failure> walk_path(int root, const std::string& root_path, const std::string& below,
                                                         bool make_parents) {
  return path_walker{root, root_path, make_parents}.run(below);
}

} // namespace paddock::guest
