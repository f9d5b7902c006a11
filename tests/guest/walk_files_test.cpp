#define CAF_SUITE walk_files

// The walk of the guest on real directories, in this process and as the program.

#include "guest/agent/walk.hpp"
#include "guest/walk_records.hpp"
#include "tests/guest/agent_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace paddock;
using namespace paddock::test;
using namespace paddock::guest;
using namespace std::chrono_literals;

namespace {

struct wanted {
  std::string pattern = "**/*";
  std::uint64_t max_entries = 1'000'000;
  std::uint64_t max_visited_entries = 1'000'000;
  std::optional<std::uint64_t> max_depth = std::nullopt;
  bool include_hidden = false;
};

struct outcome {
  int exit_code = 0;
  std::vector<std::string> paths; // below the root, sorted
  std::vector<std::uint64_t> sizes;
  std::string failure; // what the reader of the records says in the end
  std::string code;

  std::string text() const {
    auto result = std::string{};
    for (const auto& path : paths)
      result += (result.empty() ? "" : " ") + path;
    return result;
  }
};

walk_plan plan_of(const std::string& root, const wanted& x) {
  auto options = walk_options{x.pattern, x.max_entries, x.max_visited_entries, x.max_depth, x.include_hidden};
  return plan_walk(root, options).value();
}

outcome judge(const walk_plan& plan, int exit_code, const std::string& output) {
  auto reader = walk_reader{plan};
  auto result = outcome{};
  result.exit_code = exit_code;
  auto entries = reader.push(output);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  for (const auto& entry : entries) {
    auto root = plan.root == "/" ? 0 : plan.root.size();
    result.paths.push_back(entry.path.size() > root ? entry.path.substr(root + 1) : "(root)");
    result.sizes.push_back(entry.size);
  }
  if (auto good = reader.finish(exit_code, false, false); !good) {
    result.failure = good.error().text;
    result.code = good.error().code.value_or("");
  }
  return result;
}

std::string content_of_fd(int fd) {
  auto result = std::string{};
  char buffer[65536];
  for (auto n = ::pread(fd, buffer, sizeof buffer, 0); n > 0; n = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(result.size())))
    result.append(buffer, static_cast<std::size_t>(n));
  return result;
}

outcome walked(const fs::path& root, const wanted& x = {}, const walk_limits& limits = {}) {
  auto plan = plan_of(root.string(), x);
  auto fd = unique_fd{::memfd_create("records", MFD_CLOEXEC)};
  auto exit_code = walk(walk_arguments(plan)[1], fd.get(), limits);
  return judge(plan, exit_code, content_of_fd(fd.get()));
}

// Runs the program with no variable at all.
struct run {
  int exit_code = -1;
  std::string out;
};

run run_program(std::vector<std::string> words) {
  words.insert(words.begin(), PADDOCK_GUEST_PROGRAM);
  auto fd = unique_fd{::memfd_create("records", MFD_CLOEXEC)};
  auto arguments = std::vector<char*>{};
  for (auto& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char* const nothing[] = {nullptr};
  auto actions = posix_spawn_file_actions_t{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, fd.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  auto child = pid_t{};
  auto failed = ::posix_spawn(&child, PADDOCK_GUEST_PROGRAM, &actions, nullptr, arguments.data(), nothing);
  ::posix_spawn_file_actions_destroy(&actions);
  auto status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child)
    throw std::runtime_error{"the program did not run"};
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of_fd(fd.get())};
}

outcome program_walked(const fs::path& root, const wanted& x) {
  auto plan = plan_of(root.string(), x);
  auto ran = run_program(walk_arguments(plan));
  return judge(plan, ran.exit_code, ran.out);
}

// Above every descriptor of this process, inherited ones included.
rlim_t first_unused_descriptor() {
  auto result = rlim_t{0};
  for (const auto& entry : fs::directory_iterator{"/proc/self/fd"})
    result = std::max(result, static_cast<rlim_t>(std::stoul(entry.path().filename().string())) + 1);
  return result;
}

void put_all(const fs::path& root, const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    fs::create_directories((root / path).parent_path());
    put(root / path, std::string(path.size(), 'x'));
  }
}

// A project with hidden files, and three levels.
struct project {
  temp_directory directory;
  fs::path root = directory.path();

  project() {
    put_all(root, {"a.c", "b.h", ".env", "src/c.c", "src/.cache/d.c", "src/deep/e.c", ".git/config", "docs/f.md"});
    fs::create_directories(root / "empty");
  }
};

} // namespace

SCENARIO("regular files are found with their paths and sizes") {
  auto tree = project{};
  auto got = walked(tree.root);
  CHECK_EQ(got.text(), "a.c b.h docs/f.md src/c.c src/deep/e.c");
  for (auto i = std::size_t{0}; i < got.paths.size(); ++i)
    CHECK_EQ(got.sizes[i], got.paths[i].size());
  CHECK_EQ(got.exit_code, 0);
  CHECK_EQ(got.failure, "");
}

SCENARIO("patterns, branches and hidden names") {
  auto tree = project{};
  CHECK_EQ(walked(tree.root, {"*.c"}).text(), "a.c");
  CHECK_EQ(walked(tree.root, {"**/*.c"}).text(), "a.c src/c.c src/deep/e.c");
  CHECK_EQ(walked(tree.root, {"{src,docs}/*"}).text(), "docs/f.md src/c.c");
  CHECK_EQ(walked(tree.root, {"src/**/*.c"}).text(), "src/c.c src/deep/e.c");
  CHECK_EQ(walked(tree.root, {"!(*.c|docs)*/**/*.c"}).text(), "src/c.c src/deep/e.c");
  CHECK_EQ(walked(tree.root, {".env"}).text(), ".env");
  CHECK_EQ(walked(tree.root, {".git/*"}).text(), ".git/config");
  CHECK_EQ(walked(tree.root, {"**/.cache/*"}).text(), "src/.cache/d.c");
  auto all = wanted{};
  all.include_hidden = true;
  CHECK_EQ(walked(tree.root, all).text(), ".env .git/config a.c b.h docs/f.md src/.cache/d.c src/c.c src/deep/e.c");
  CHECK_EQ(walked(tree.root, {"**/*.none"}).text(), "");
  CHECK_EQ(walked(tree.root, {"**/*.none"}).failure, "");
}

// [G 270] more than maxEntries
SCENARIO("a walk ends once it has delivered what was asked for") {
  auto tree = temp_directory{};
  for (auto i = 0; i < 30; ++i)
    put_all(tree.path(), {"d" + std::to_string(i % 3) + "/" + std::to_string(i)});
  auto five = wanted{};
  five.max_entries = 5;
  for (const auto& got : {walked(tree.path(), five), program_walked(tree.path(), five)}) {
    CHECK_EQ(got.paths.size(), 5u);
    CHECK_EQ(got.exit_code, 0);
    CHECK_EQ(got.failure, "");
  }
  five.max_entries = 31;
  CHECK_EQ(program_walked(tree.path(), five).paths.size(), 30u);
}

// [G 271] more than maxVisitedEntries
SCENARIO("a walk that visits more than it may is an error with its code, and names the limit") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"1", "2", "3", "d/4", "d/5"}); // six entries
  auto six = wanted{};
  six.max_visited_entries = 6;
  CHECK_EQ(walked(tree.path(), six).failure, "");
  six.max_visited_entries = 5;
  for (const auto& got : {walked(tree.path(), six), program_walked(tree.path(), six)}) {
    CHECK_EQ(got.exit_code, 1);
    CHECK_EQ(got.code, "ERR_FILE_WALK_LIMIT");
    CHECK(got.failure.find(" 5 ") != std::string::npos);
    CHECK(got.paths.size() >= 4); // what was delivered before stands
  }
  // What does not match is visited as well.
  six.pattern = "*.none";
  six.max_visited_entries = 3;
  CHECK_EQ(walked(tree.path(), six).code, walk_limit_code);
  six.max_visited_entries = 4; // and what is in `d` is not
  CHECK_EQ(walked(tree.path(), six).failure, "");
}

// [G 272] a symlinked directory
SCENARIO("a symbolic link is neither entered nor delivered") {
  auto outside = temp_directory{};
  put_all(outside.path(), {"secret", "d/secret"});
  auto tree = temp_directory{};
  put_all(tree.path(), {"a", "d/b"});
  fs::create_directory_symlink(outside.path(), tree.path() / "link");
  fs::create_directory_symlink(tree.path(), tree.path() / "d/loop");
  fs::create_symlink(outside.path() / "secret", tree.path() / "file");
  CHECK_EQ(walked(tree.path()).text(), "a d/b");
  CHECK_EQ(program_walked(tree.path(), {}).text(), "a d/b");
  for (auto pattern : {"link/*", "link/d/*", "{link,d}/**", "l*/**/secret", "file", "@(file)"}) {
    auto got = walked(tree.path(), {pattern});
    CHECK_EQ(got.text(), std::string_view{pattern} == "{link,d}/**" ? "d/b" : "");
    CHECK_EQ(got.failure, "");
  }
}

SCENARIO("a root that follows a symbolic link is refused") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"real/d/a"});
  fs::create_directory_symlink(tree.path() / "real", tree.path() / "link");
  for (auto below : {"link", "link/d", "link/d/a"}) {
    auto got = walked(tree.path() / below);
    CHECK_EQ(got.exit_code, 1);
    CHECK(got.failure.starts_with("the root follows a symbolic link"));
    CHECK_EQ(got.code, "");
    CHECK_EQ(got.text(), "");
  }
  CHECK_EQ(walked(tree.path() / "link/../real/d").text(), "a"); // resolved by its text first
}

SCENARIO("a root that is not there has no entries") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"a"});
  fs::create_symlink("nowhere", tree.path() / "dangling");
  ::mkfifo((tree.path() / "fifo").c_str(), 0600);
  for (auto below : {"none", "none/none", "a/b", "dangling", "fifo"}) {
    auto got = walked(tree.path() / below);
    CHECK_EQ(got.text(), "");
    CHECK_EQ(got.failure, "");
    CHECK_EQ(got.exit_code, 0);
  }
}

SCENARIO("a root that is a file is offered to the pattern by its name") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"d/a.c", "d/.h"});
  auto once = wanted{};
  once.max_visited_entries = 1;
  CHECK_EQ(walked(tree.path() / "d/a.c", once).text(), "(root)");
  CHECK_EQ(walked(tree.path() / "d/a.c", once).sizes.front(), 5u);
  CHECK_EQ(walked(tree.path() / "d/a.c", {"{*.h,a.?}"}).text(), "(root)");
  CHECK_EQ(walked(tree.path() / "d/a.c", {"*.h"}).text(), "");
  CHECK_EQ(walked(tree.path() / "d/a.c", {"d/a.c"}).text(), "");
  CHECK_EQ(walked(tree.path() / "d/.h").text(), "");
}

SCENARIO("literal segments in front are one visit each, and nothing beside them is read") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"a/b/1", "a/b/2", "a/x1", "a/x2", "a/x3", "y1", "y2", "y3", "f"});
  auto few = wanted{"a/b/*"};
  few.max_visited_entries = 4;
  CHECK_EQ(walked(tree.path(), few).text(), "a/b/1 a/b/2");
  few.max_visited_entries = 3;
  CHECK_EQ(walked(tree.path(), few).code, walk_limit_code);
  few.max_visited_entries = 1; // the second segment is too many
  CHECK_EQ(walked(tree.path(), few).code, walk_limit_code);
  for (auto pattern : {"none/*", "a/none/*", "f/*", "a/b/1/*"}) {
    CHECK_EQ(walked(tree.path(), {pattern}).text(), "");
    CHECK_EQ(walked(tree.path(), {pattern}).failure, "");
  }
  auto shallow = wanted{"a/b/*"};
  shallow.max_depth = 2;
  CHECK_EQ(walked(tree.path(), shallow).text(), "");
  shallow.max_depth = 3;
  CHECK_EQ(walked(tree.path(), shallow).text(), "a/b/1 a/b/2");
}

SCENARIO("the depth is bounded by the limit and by the longest branch") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"1", "a/2", "a/b/3", "a/b/c/4"});
  auto limited = wanted{};
  for (auto [depth, files] :
       {std::pair{1u, "1"}, {2u, "1 a/2"}, {3u, "1 a/2 a/b/3"}, {4u, "1 a/2 a/b/3 a/b/c/4"}, {9u, "1 a/2 a/b/3 a/b/c/4"}}) {
    limited.max_depth = depth;
    CHECK_EQ(walked(tree.path(), limited).text(), files);
  }
  // `b` and what is in it is not listed: 1, a, and the two in it.
  auto branches = wanted{"{*,*/*}"};
  branches.max_visited_entries = 4;
  CHECK_EQ(walked(tree.path(), branches).text(), "1 a/2");
  CHECK_EQ(walked(tree.path(), branches).failure, "");
}

SCENARIO("a directory is listed only when something in it can match") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"src/a.c", "other/1", "other/2", ".hidden/1", "src/.hidden/2", "src/sub/b.c"});
  // The three of the root, then src: its three, then sub: its one.
  auto few = wanted{"@(src|nothing)/**/*.c"};
  few.max_visited_entries = 7;
  CHECK_EQ(walked(tree.path(), few).text(), "src/a.c src/sub/b.c");
  few.max_visited_entries = 6;
  CHECK_EQ(walked(tree.path(), few).code, walk_limit_code);
}

SCENARIO("a name is anything") {
  auto tree = temp_directory{};
  auto long_name = std::string(255, 'n');
  put_all(tree.path(), {"line\nbreak", "tab\t", "quote\"\\", "\xc3\xa9", long_name, "\xff\xfe", "d\x80/x"});
  auto got = walked(tree.path());
  CHECK_EQ(got.failure, "");
  auto has = [&](const std::string& path) { return std::find(got.paths.begin(), got.paths.end(), path) != got.paths.end(); };
  for (auto path : {"line\nbreak", "tab\t", "quote\"\\", "\xc3\xa9"})
    CHECK(has(path));
  CHECK(has(long_name));
  CHECK(has("\xef\xbf\xbd\xef\xbf\xbd")); // not UTF-8
  CHECK(has("d\xef\xbf\xbd/x"));
  CHECK_EQ(got.paths.size(), 7u);
  CHECK_EQ(walked(tree.path(), {"line?break"}).text(), "line\nbreak");
  CHECK_EQ(walked(tree.path(), {"?"}).text(), "\xc3\xa9");
  CHECK_EQ(walked(tree.path(), {"??"}).text(), "\xef\xbf\xbd\xef\xbf\xbd");
}

SCENARIO("a directory that cannot be read ends the walk with an error") {
  auto tree = temp_directory{};
  put_all(tree.path(), {"d/a"});
  fs::permissions(tree.path() / "d", fs::perms::none);
  // Root, who reads everything, is somebody else for as long as it takes.
  const auto lowered = ::geteuid() == 0;
  if (lowered) {
    fs::permissions(tree.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    REQUIRE_EQ(::seteuid(65534), 0);
  }
  auto got = walked(tree.path());
  if (lowered)
    REQUIRE_EQ(::seteuid(0), 0);
  fs::permissions(tree.path() / "d", fs::perms::owner_all);
  CHECK_EQ(got.exit_code, 1);
  CHECK(got.failure.find("EACCES") != std::string::npos);
}

SCENARIO("a tree deeper than any path needs few descriptors") {
  constexpr auto depth = 150;
  auto tree = temp_directory{};
  auto name = std::string(30, 'd'); // 4,650 bytes in the end; a path has 4,096 at most
  auto at = unique_fd{::open(tree.path().c_str(), O_DIRECTORY | O_CLOEXEC)};
  for (auto i = 0; i < depth; ++i) {
    for (auto file : {"a", "z", "m"})
      ::close(::openat(at.get(), file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    REQUIRE_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = unique_fd{::openat(at.get(), name.c_str(), O_DIRECTORY | O_CLOEXEC)};
  }
  auto before = rlimit{};
  REQUIRE_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  auto limits = walk_limits{};
  limits.listing_bytes = 512; // so that a directory is read in more than one go
  for (auto open : {std::size_t{2}, std::size_t{3}, std::size_t{32}}) {
    limits.open_directories = open;
    auto lowered = before;
    // One for the records, and at most two on the way from one directory to another.
    lowered.rlim_cur = first_unused_descriptor() + 1 + open + 2;
    REQUIRE_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
    auto got = walked(tree.path(), {}, limits);
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK_EQ(got.failure, "");
    CHECK_EQ(got.paths.size(), 3u * depth);
    CHECK(std::adjacent_find(got.paths.begin(), got.paths.end()) == got.paths.end());
  }
}

SCENARIO("links and moves in the way of a walk lead it nowhere else") {
  auto outside = temp_directory{};
  put_all(outside.path(), {"secret", "b/secret", "b/c/secret"});
  auto tree = temp_directory{};
  put_all(tree.path(), {"1", "a/2", "a/b/3", "a/b/c/4", "a/b/c/5", "x/6", "x/b/7"});
  fs::create_directory_symlink(outside.path(), tree.path() / "link");
  auto swap = [](const fs::path& one, const fs::path& other) {
    ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  };
  auto over = std::atomic<bool>{false};
  auto mover = std::thread{[&] {
    while (!over) {
      swap(tree.path() / "x", tree.path() / "link"); // a directory and a link take turns
      ::rename((tree.path() / "a/b/c").c_str(), (outside.path() / "b/moved").c_str());
      ::rename((outside.path() / "b/moved").c_str(), (tree.path() / "a/b/c").c_str());
    }
  }};
  auto limits = walk_limits{};
  limits.open_directories = 2;
  auto bad = std::string{};
  for (auto i = 0; i < 1500 && bad.empty(); ++i) {
    auto got = walked(tree.path(), {i % 2 == 0 ? "**/*" : "x/**"}, limits);
    if (!got.failure.empty() || got.exit_code != 0)
      bad = got.failure;
    else if (got.text().find("secret") != std::string::npos)
      bad = got.text();
  }
  over = true;
  mover.join();
  CHECK_EQ(bad, "");
}

SCENARIO("what vanishes while the walk goes on is skipped") {
  auto tree = temp_directory{};
  for (auto i = 0; i < 10; ++i)
    put_all(tree.path(), {"f" + std::to_string(i), "d" + std::to_string(i) + "/f"});
  // A pipe that is full: the walk has listed the root when it stands still before its first record.
  int fds[2];
  REQUIRE_EQ(::pipe2(fds, O_CLOEXEC), 0);
  auto in = unique_fd{fds[0]};
  auto filled = std::string(static_cast<std::size_t>(::fcntl(fds[1], F_SETPIPE_SZ, 4096)), '.');
  REQUIRE_EQ(::write(fds[1], filled.data(), filled.size()), static_cast<ssize_t>(filled.size()));
  auto plan = plan_of(tree.path().string(), {});
  auto exit_code = -1;
  auto task = std::promise<pid_t>{};
  auto walker = std::thread{[&, out = fds[1]] {
    auto limits = walk_limits{};
    limits.output_bytes = 1;
    task.set_value(::gettid());
    exit_code = walk(walk_arguments(plan)[1], out, limits);
    ::close(out);
  }};
  auto where = "/proc/self/task/" + std::to_string(task.get_future().get()) + "/syscall";
  auto writing = std::to_string(SYS_write) + " ";
  // The kernel says so of a thread that waits in its write.
  for (auto until = std::chrono::steady_clock::now() + 20s; !content_of(where).starts_with(writing);) {
    if (std::chrono::steady_clock::now() > until)
      break;
    std::this_thread::yield();
  }
  for (auto i = 0; i < 10; ++i) {
    fs::remove(tree.path() / ("f" + std::to_string(i)));
    auto directory = tree.path() / ("d" + std::to_string(i));
    fs::remove_all(directory);
    if (i % 3 == 0)
      fs::create_directory_symlink("/", directory);
    if (i % 3 == 1)
      put(directory, "a file now");
  }
  auto output = std::string{};
  char buffer[4096];
  for (auto n = ::read(in.get(), buffer, sizeof buffer); n > 0; n = ::read(in.get(), buffer, sizeof buffer))
    output.append(buffer, static_cast<std::size_t>(n));
  walker.join();
  auto got = judge(plan, exit_code, output.substr(filled.size()));
  CHECK_EQ(got.failure, "");
  CHECK_EQ(got.paths.size(), 1u);
}

SCENARIO("a walk that nobody reads ends") {
  auto tree = temp_directory{};
  for (auto i = 0; i < 100; ++i)
    put_all(tree.path(), {std::to_string(i)});
  int fds[2];
  REQUIRE_EQ(::pipe2(fds, O_CLOEXEC), 0);
  ::close(fds[0]);
  auto before = ::signal(SIGPIPE, SIG_IGN);
  auto limits = walk_limits{};
  limits.output_bytes = 1;
  CHECK_EQ(walk(walk_arguments(plan_of(tree.path().string(), {}))[1], fds[1], limits), 1);
  ::signal(SIGPIPE, before);
  ::close(fds[1]);
}

SCENARIO("the program walks without a variable, and is no agent") {
  auto tree = project{};
  CHECK_EQ(program_walked(tree.root, {"*.c"}).text(), "a.c");
  CHECK_EQ(program_walked(tree.root, {"*.c"}).failure, "");
  auto bad = run_program({"walk", "{"});
  CHECK_EQ(bad.exit_code, 1);
  CHECK_EQ(bad.out, "{\"type\":\"error\",\"message\":\"the plan is not a JSON object\"}\n");
  bad = run_program({"walk", R"({"root":"/","branches":["../x"],"maxEntries":1,"maxVisitedEntries":1})"});
  CHECK_EQ(bad.exit_code, 1);
  CHECK_EQ(bad.out, "{\"type\":\"error\",\"message\":\"the pattern holds a '..' segment\"}\n");
  CHECK_EQ(run_program({"walk"}).exit_code, 2);
  CHECK_EQ(run_program({"walk", "{}", "{}"}).exit_code, 2);
}
