#define CAF_SUITE files

#include "client/files.hpp"
#include "messages/error.hpp"
#include "tests/client/scripted_call.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

/// A folder of its own, gone with the test.
struct folder {
  folder() {
    auto name = (std::filesystem::temp_directory_path() / "paddock-files-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr)
      path = name;
  }
  ~folder() {
    auto none = std::error_code{};
    if (!path.empty())
      std::filesystem::remove_all(path, none);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  std::filesystem::path path;
};

std::string text_of(const std::filesystem::path& at) {
  auto in = std::ifstream{at};
  return {std::istreambuf_iterator<char>{in}, {}};
}

call_event said(std::string_view text) {
  return output_piece{1, bytes_of(text)};
}

call_event ended(int code = 0) {
  auto out = call_end{};
  out.exit_code = code;
  return out;
}

std::size_t entries(const std::filesystem::path& at) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{at}, {}));
}

std::string reason_of(const stream_end& x) {
  const auto* why = std::get_if<problem>(&x.how);
  return why != nullptr ? why->reason : "";
}

} // namespace

SCENARIO("a file takes its place whole, with the mode of what stood there") {
  const auto here = folder{};
  REQUIRE(!here.path.empty());
  const auto to = here.path / "f";
  std::ofstream{to} << "old";
  std::filesystem::permissions(to, std::filesystem::perms::owner_all);
  auto at = scripted_target{};
  at.says = {said("new "), said("content"), ended()};
  auto told = 0;
  auto watch = copy_watch{};
  watch.copied = [&](std::uint64_t) { ++told; };
  CHECK_EQ(reason_of(copy_file_out(at, "a", to.string(), watch)), "");
  CHECK_EQ(text_of(to), "new content");
  CHECK(std::filesystem::status(to).permissions() == std::filesystem::perms::owner_all);
  CHECK_EQ(told, 1);
  CHECK_EQ(entries(here.path), 1u);
}

SCENARIO("a file that does not come whole changes nothing here") {
  const auto here = folder{};
  REQUIRE(!here.path.empty());
  std::ofstream{here.path / "f"} << "old";
  auto at = scripted_target{};
  at.says = {said("half"), call_event{make_problem(verdict::unreachable, "Unreachable", "gone")}};
  CHECK_EQ(reason_of(copy_file_out(at, "a", (here.path / "f").string())), "Unreachable");
  CHECK_EQ(text_of(here.path / "f"), "old");
  CHECK_EQ(entries(here.path), 1u);
}

SCENARIO("what cannot be read here is refused before the guest is asked") {
  const auto here = folder{};
  auto at = scripted_target{};
  CHECK_EQ(reason_of(copy_file_in(at, (here.path / "missing").string(), "a")), "LocalFile");
  CHECK_EQ(reason_of(copy_file_in(at, here.path.string(), "a")), "LocalFile");
  CHECK_EQ(reason_of(copy_tree_in(at, (here.path / "missing").string(), "a")), "LocalFile");
  CHECK(at.started.empty());
}

SCENARIO("a guest that lists what is not below the folder gets nothing written") {
  const auto here = folder{};
  REQUIRE(!here.path.empty());
  auto at = scripted_target{};
  at.says = {said(R"({"path":"/etc/passwd","size":3})"
                  "\n"),
             ended()};
  CHECK_EQ(reason_of(copy_tree_out(at, "/w", (here.path / "out").string())), "RemoteProtocol");
  CHECK_EQ(at.started.size(), 1u);
  CHECK_EQ(entries(here.path), 0u);
}

SCENARIO("a link that stands here leads no file of the guest out of the folder") {
  const auto here = folder{};
  REQUIRE(!here.path.empty());
  const auto out = here.path / "out";
  const auto outside = here.path / "outside";
  std::filesystem::create_directories(out / "in");
  std::filesystem::create_directories(outside);
  std::ofstream{outside / "kept"} << "old";
  std::filesystem::create_symlink(outside / "kept", out / "file");
  std::filesystem::create_directory_symlink(outside, out / "folder");
  std::filesystem::create_directory_symlink("in", out / "within");
  const auto copied = [&](const std::string& name) {
    auto at = scripted_target{};
    at.says = {said(R"({"path":"/w/)" + name + R"(","size":3})" + "\n"), ended()};
    return reason_of(copy_tree_out(at, "/w", out.string()));
  };
  CHECK_EQ(copied("file"), "LocalFile");
  CHECK_EQ(copied("folder/kept"), "LocalFile");
  CHECK_EQ(copied("folder/deep/new"), "LocalFile");
  CHECK_EQ(copied("in"), "LocalFile"); // a folder, which is no file's place
  CHECK_EQ(text_of(outside / "kept"), "old");
  CHECK_EQ(entries(outside), 1u);
  CHECK_EQ(entries(out / "in"), 0u);
  CHECK_EQ(copied("within/new"), "");
  CHECK_EQ(copied("new/deep"), "");
  CHECK_EQ(entries(out / "in"), 1u);
}

SCENARIO("a tree goes where it was told to, also below the root") {
  const auto here = folder{};
  REQUIRE(!here.path.empty());
  std::filesystem::create_directories(here.path / "d");
  std::ofstream{here.path / "d" / "f"} << "x";
  for (const auto& [to, path] :
       std::vector<std::pair<std::string, std::string>>{{"", "d/f"}, {"/", "/d/f"}, {"a//", "a/d/f"}, {"/a", "/a/d/f"}}) {
    auto at = scripted_target{};
    at.says = {ended()};
    CHECK_EQ(reason_of(copy_tree_in(at, here.path.string(), to)), "");
    REQUIRE_EQ(at.started.size(), 1u);
    CHECK_EQ(std::get<write_spec>(at.started[0].what).path, path);
  }
}

SCENARIO("a copy that is withdrawn while the list comes copies nothing, also where that comes whole") {
  const auto here = folder{};
  REQUIRE(!here.path.empty());
  auto at = scripted_target{};
  at.when_cancelled = {said(R"({"path":"/w/a","size":3})"
                            "\n"),
                       ended()};
  const auto bell = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  auto watch = copy_watch{};
  watch.stream = {bell, [&] {
                    auto count = eventfd_t{};
                    return ::eventfd_read(bell, &count) == 0;
                  }};
  const auto got = copy_tree_out(at, "/w", here.path.string(), watch);
  ::close(bell);
  CHECK(got.cancelled);
  CHECK_EQ(at.started.size(), 1u);
  CHECK_EQ(entries(here.path), 0u);
}

SCENARIO("the guest says where a path in the workspace is, and that there is none") {
  auto at = scripted_target{};
  at.says = {call_event{output_piece{2, bytes_of("no such file\n")}}, ended(1)};
  auto what = walk_spec{};
  what.root = "src";
  const auto got = list_files(at, what);
  REQUIRE(!got);
  CHECK_EQ(got.error().how, verdict::not_found);
  CHECK_EQ(got.error().message, "no such file");
  REQUIRE_EQ(at.started.size(), 1u);
  CHECK_EQ(std::get<run_spec>(at.started[0].what).program, "realpath");
}

SCENARIO("a listed path is taken only below what was asked for") {
  CHECK_EQ(below("/w/a", "/w/a/b/c")->string(), "b/c");
  CHECK_EQ(below("/w/a/", "/w/a/c")->string(), "c");
  CHECK(!below("/w/a", "/w/ab"));
  CHECK(!below("/w/a", "/w/a/../../etc/passwd"));
  CHECK(!below("/w/a", "/etc/passwd"));
  CHECK_EQ(listed_from(R"({"path":"/a","size":3})")->size, 3u);
  for (const auto* bad :
       {"", "[]", R"({"path":1,"size":3})", R"({"path":"/a"})", R"({"path":"/a","size":-1})", R"({"path":"/a","size":1.5})"})
    CHECK(!listed_from(bad));
}

SCENARIO("a local tree is its regular files, and says what it leaves out") {
  auto name = (std::filesystem::temp_directory_path() / "paddock-tree-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  const auto root = std::filesystem::path{name};
  std::filesystem::create_directories(root / "d" / "e");
  std::ofstream{root / "d" / "e" / "f"} << "12345";
  std::ofstream{root / "run"} << "x";
  std::filesystem::permissions(root / "run", std::filesystem::perms::owner_all);
  std::filesystem::create_symlink("/etc", root / "link");
  const auto got = local_tree(name);
  auto failed = std::error_code{};
  std::filesystem::remove_all(root, failed);
  REQUIRE(got);
  REQUIRE_EQ(got->files.size(), 2u);
  CHECK_EQ(got->files[0].relative, "d/e/f");
  CHECK_EQ(got->files[0].size, 5u);
  CHECK(!got->files[0].executable);
  CHECK_EQ(got->files[1].relative, "run");
  CHECK(got->files[1].executable);
  REQUIRE_EQ(got->skipped.size(), 1u);
  CHECK(!local_tree("/no/such/folder"));
}
