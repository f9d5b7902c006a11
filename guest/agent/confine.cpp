#include "guest/agent/confine.hpp"

#include "guest/agent/path_walk.hpp"
#include "guest/agent/process.hpp"
#include "guest/paths.hpp"

#include <climits>

#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paddock::guest {

namespace {

// Its parent is opened by the kernel in one step. Absent: this is for the walk, which knows links that are absolute, links
// that are the last component, and what to create.
std::optional<tl::expected<confined_file, int>> in_one_step(int root, const std::string& below, const open_beneath& beneath) {
  auto slash = below.rfind('/');
  auto above = slash == std::string::npos ? std::string{"."} : below.substr(0, slash);
  auto found = confined_file{};
  found.parent.reset(beneath(root, above.c_str()));
  if (!found.parent)
    switch (errno) {
      case EACCES:
      case ENAMETOOLONG:
      case ENOTDIR:
      case EMFILE:
      case ENFILE:
      case ENOMEM: return tl::unexpected{errno};
      default: return std::nullopt;
    }
  found.name = slash == std::string::npos ? below : below.substr(slash + 1);
  struct stat is;
  if (::fstatat(found.parent.get(), found.name.c_str(), &is, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISLNK(is.st_mode))
      return std::nullopt;
    found.seen = is;
  } else if (errno != ENOENT) {
    return tl::unexpected{errno};
  }
  return found;
}

} // namespace

int open_beneath_by_kernel(int directory, const char* path) {
  auto how = open_how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how));
}

tl::expected<confined_file, confine_failure> resolve(const std::string& path, const std::string& workspace,
                                                     const std::vector<std::string>& roots, parents how, const open_beneath& beneath) {
  auto refused = [](std::string_view text) { return tl::unexpected{confine_failure{0, std::string{text}}}; };
  auto failed = [&path](int error, const char* call) { return tl::unexpected{confine_failure{error, system_message(error, call, path)}}; };
  auto confined = confine(path, workspace, roots);
  if (!confined)
    return refused(confined.error());
  if (confined->path.size() >= PATH_MAX)
    return failed(ENAMETOOLONG, "open");
  auto root = unique_fd{::open(confined->root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root)
    return failed(errno, "open");
  auto below = confined->path.substr(confined->root.size());
  below.erase(0, below.find_first_not_of('/'));
  if (!below.empty())
    if (auto found = in_one_step(root.get(), below, beneath)) {
      if (!*found)
        return failed(found->error(), "open");
      return std::move(**found);
    }
  auto found = walk_path(root.get(), confined->root, below, how == parents::created);
  if (found)
    return std::move(*found);
  if (found.error().escapes)
    return refused(symlink_escapes);
  return failed(found.error().error, found.error().call);
}

} // namespace paddock::guest
