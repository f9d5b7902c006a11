// Paths and links from bytes of anyone's choosing. The lines of the input are what links say, and the last one is the path
// of a request. Besides not crashing: the kernel's way of resolving and our own agree, both stay inside the root, and what
// they find is what the kernel finds when it follows the path by itself.
#include "guest/agent/confine.hpp"
#include "guest/paths.hpp"
#include "tests/fuzz/require.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace paddock::guest;
using paddock::require;
namespace fs = std::filesystem;

namespace {

// A root with directories and files; beside it what must never be reached.
struct world {
  fs::path top;
  fs::path root;

  world() {
    auto name = std::string{fs::exists("/dev/shm") ? "/dev/shm" : "/tmp"} + "/paddock-path-fuzz-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr);
    top = fs::canonical(name);
    root = top / "r";
    fs::create_directories(root / "a/b/c");
    fs::create_directories(top / "o");
    for (auto file : {root / "f", root / "a/f", root / "a/b/f", top / "o/f"})
      ::close(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
  ~world() {
    auto ec = std::error_code{};
    fs::remove_all(top, ec);
  }
};

constexpr std::array names{"l0", "l1", "a/l2", "a/b/l3"};

// What tells two answers apart.
struct answer {
  std::string error;
  dev_t device = 0;
  ino_t directory = 0;
  std::string name;
  bool seen = false;
  friend bool operator==(const answer&, const answer&) = default;
};

answer resolved(const world& in, const std::string& path, const open_beneath& beneath) {
  auto got = resolve(path, in.root.string(), {in.root.string()}, parents::as_they_are, beneath);
  if (!got)
    return {got.error().text, 0, 0, {}, false};
  struct stat is;
  require(::fstat(got->parent.get(), &is) == 0);
  require(within(in.root.string(), fs::read_symlink("/proc/self/fd/" + std::to_string(got->parent.get())).string()));
  require(got->name.find('/') == std::string::npos && got->name != ".." && !got->name.empty());
  return {{}, is.st_dev, is.st_ino, got->name, got->seen.has_value()};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto in = world{};
  auto text = std::string_view{reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 2000)};
  auto made = std::size_t{0};
  for (; made < names.size(); ++made) {
    auto line = text.find('\n');
    if (line == std::string_view::npos)
      break;
    auto to = std::string{text.substr(0, line)};
    text.remove_prefix(line + 1);
    // `@` is the root by its real path, which no input can know.
    if (to.starts_with('@'))
      to = in.root.string() + to.substr(1);
    if (to.find('\0') != std::string::npos || ::symlink(to.c_str(), (in.root / names[made]).c_str()) != 0)
      break;
  }
  auto path = std::string{text};
  auto by_kernel = resolved(in, path, open_beneath_by_kernel);
  auto by_walk = resolved(in, path, [](int, const char*) { return errno = ENOSYS, -1; });
  require(by_kernel == by_walk || by_walk.error.starts_with("ELOOP")); // the walk bounds its steps, not its links alone
  // What a path names outside before it comes back is compared by its text alone, so that the kernel may miss something there;
  // what it finds is what we found.
  if (by_kernel.error.empty() && by_kernel.seen)
    if (auto confined = confine(path, in.root.string(), {in.root.string()})) {
      auto ec = std::error_code{};
      auto real = fs::canonical(confined->path, ec);
      if (!ec) {
        require(within(in.root.string(), real.string()));
        require(by_kernel.name == "." || real.filename() == by_kernel.name);
      }
    }
  for (auto i = std::size_t{0}; i < made; ++i)
    ::unlink((in.root / names[i]).c_str());
  return 0;
}
