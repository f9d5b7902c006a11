#define CAF_SUITE agent_parts

#include "tests/guest/file_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cerrno>

using namespace paddock;
using namespace paddock::test;

namespace {

const auto temp = std::string{".namzu-write-0-f.part"};

} // namespace

// [G 126] three parts
SCENARIO("parts in order become the target with the last of them") {
  auto world = agent_world{};
  auto first = put_part(world, "d/" + temp, "one ", {{"offset", 0}, {"final", false}});
  CHECK(first["ok"] == true);
  CHECK_EQ(first["guestBootId"].get<std::string>().size(), 36u);
  CHECK(first["bytesWritten"] == 4);
  CHECK(first["sizeBytes"] == 4);
  auto second = put_part(world, "d/" + temp, "two ", {{"offset", 4}});
  CHECK(second["sizeBytes"] == 8);
  CHECK(!fs::exists(world.workspace() / "d/f"));
  auto third = put_part(world, "d/" + temp, "three", {{"offset", 8}, {"final", true}, {"renameTo", "d/f"}});
  CHECK(third["ok"] == true);
  CHECK(third["bytesWritten"] == 5);
  CHECK(third["sizeBytes"] == 13);
  CHECK_EQ(content_of(world.workspace() / "d/f"), "one two three");
  CHECK_EQ(entries(world.workspace() / "d"), 1u);
}

// [G 127] the wrong offset
SCENARIO("a part at the wrong offset is refused and changes nothing") {
  auto world = agent_world{};
  put_part(world, temp, "abc", {{"offset", 0}});
  CHECK_EQ(error_of(put_part(world, temp, "xyz", {{"offset", 5}})),
           "write_part_offset_mismatch: temp file is 3 bytes, part starts at offset 5");
  CHECK_EQ(error_of(put_part(world, temp, "xyz", {{"offset", 2}})),
           "write_part_offset_mismatch: temp file is 3 bytes, part starts at offset 2");
  CHECK_EQ(content_of(world.workspace() / temp), "abc");
  CHECK_EQ(error_of(put_part(world, temp + "x", "xyz", {{"offset", 5}})),
           "write_part_offset_mismatch: temp file is absent, part starts at offset 5");
  CHECK(!fs::exists(world.workspace() / (temp + "x")));
}

// [G 128] twice
SCENARIO("a part that comes again is refused") {
  auto world = agent_world{};
  put_part(world, temp, "abc", {{"offset", 0}});
  CHECK(put_part(world, temp, "def", {{"offset", 3}})["ok"] == true);
  CHECK_EQ(error_of(put_part(world, temp, "def", {{"offset", 3}})),
           "write_part_offset_mismatch: temp file is 6 bytes, part starts at offset 3");
  CHECK_EQ(content_of(world.workspace() / temp), "abcdef");
}

SCENARIO("the first part begins the temporary anew") {
  auto world = agent_world{};
  put_part(world, temp, "a longer one", {{"offset", 0}});
  CHECK(put_part(world, temp, "abc", json::object())["sizeBytes"] == 3);
  CHECK_EQ(content_of(world.workspace() / temp), "abc");
}

// [G 129] no target
SCENARIO("a final part names its target") {
  auto world = agent_world{};
  put_part(world, temp, "abc", {{"offset", 0}});
  CHECK_EQ(error_of(put_part(world, temp, "def", {{"offset", 3}, {"final", true}})), "write_part_missing_rename_target");
  CHECK_EQ(content_of(world.workspace() / temp), "abc");
}

// [G 130] a target outside
SCENARIO("a final part whose target is outside appends no byte") {
  auto outside = temp_directory{};
  auto world = agent_world{};
  fs::create_symlink(outside.path(), world.workspace() / "link");
  put_part(world, temp, "abc", {{"offset", 0}});
  auto last = [&](const std::string& to) {
    return error_of(put_part(world, temp, "def", {{"offset", 3}, {"final", true}, {"renameTo", to}}));
  };
  CHECK_EQ(last("../f"), "path escapes the workspace");
  CHECK_EQ(last("/etc/f"), "path escapes the workspace");
  CHECK_EQ(last("link/f"), "symlink escapes the workspace");
  CHECK_EQ(last("link/d/f"), "symlink escapes the workspace");
  CHECK(last(".").starts_with("EISDIR"));
  CHECK_EQ(content_of(world.workspace() / temp), "abc");
  CHECK(fs::is_empty(outside.path()));
}

// [G 131] no object
SCENARIO("a part that is no object is refused") {
  auto world = agent_world{};
  for (const auto& bad : {json::array(), json("x"), json(true)})
    CHECK_EQ(error_of(put_part(world, temp, "abc", bad)), "write_part_invalid_shape");
  CHECK(fs::is_empty(world.workspace()));
  CHECK(put_part(world, "f", "whole", nullptr)["ok"] == true);
  CHECK_EQ(content_of(world.workspace() / "f"), "whole");
}

// [G 132] two at once
SCENARIO("of two parts of one temporary at once, one is refused, whatever path it takes") {
  auto calls = guest::file_calls{};
  auto entered = std::promise<void>{};
  auto go_on = std::promise<void>{};
  auto held = std::atomic{true};
  calls.write = [&, real = calls.write, wait = go_on.get_future().share()](int fd, const char* bytes, std::size_t size, off_t at) {
    if (held.exchange(false)) {
      entered.set_value();
      wait.wait();
    }
    return real(fd, bytes, size, at);
  };
  auto world = agent_world{{}, calls};
  fs::create_symlink(".", world.workspace() / "here");
  auto first = world.open("write-file", part_body(temp, "abc", {{"offset", 0}}));
  entered.get_future().wait();
  CHECK_EQ(error_of(put_part(world, "here/" + temp, "xyz", {{"offset", 0}})), "write_part_in_flight");
  CHECK(put_part(world, temp + ".part", "xyz", {{"offset", 0}})["ok"] == true);
  go_on.set_value();
  CHECK(first.event()["ok"] == true);
  CHECK_EQ(content_of(world.workspace() / temp), "abc");
  CHECK(put_part(world, temp, "def", {{"offset", 3}})["ok"] == true);
}

// [G 133] not a temporary
SCENARIO("a discard removes nothing but a temporary") {
  auto world = agent_world{};
  put(world.workspace() / "notes.txt", "kept");
  CHECK_EQ(error_of(discard(world, "notes.txt")), "write_part_not_a_temp_file");
  CHECK_EQ(content_of(world.workspace() / "notes.txt"), "kept");
  CHECK_EQ(error_of(discard(world, "../" + temp)), "path escapes the workspace");
  fs::create_directory(world.workspace() / ".namzu-write-d.part");
  CHECK(error_of(discard(world, ".namzu-write-d.part")).starts_with("EISDIR"));
  CHECK(fs::exists(world.workspace() / ".namzu-write-d.part"));
}

SCENARIO("a discard removes its temporary, and may come again") {
  auto world = agent_world{};
  auto odd = std::string{".namzu-write-a\nb.part"};
  put(world.workspace() / temp, "abc");
  put(world.workspace() / odd, "abc");
  for (auto again = 0; again < 2; ++again) {
    auto reply = discard(world, temp);
    CHECK_EQ(reply.dump(), R"({"discarded":true,"ok":true})");
    CHECK(discard(world, odd)["ok"] == true);
    CHECK(fs::is_empty(world.workspace()));
  }
}

// [G 134] nothing there
SCENARIO("a discard of nothing succeeds and makes nothing") {
  auto world = agent_world{};
  auto reply = discard(world, "d/e/" + temp);
  CHECK(reply["ok"] == true);
  CHECK(reply["discarded"] == true);
  CHECK(!reply.contains("guestBootId"));
  CHECK(fs::is_empty(world.workspace()));
}

// [G 135] a link with such a name
SCENARIO("a link named like a temporary is judged by what it names") {
  auto world = agent_world{};
  put(world.workspace() / "notes.txt", "kept");
  fs::create_symlink("notes.txt", world.workspace() / temp);
  CHECK_EQ(error_of(discard(world, temp)), "write_part_not_a_temp_file");
  CHECK_EQ(content_of(world.workspace() / "notes.txt"), "kept");
  CHECK(fs::is_symlink(world.workspace() / temp));
}

// [G 136] abandoned
SCENARIO("a target is untouched by parts that never end") {
  auto world = agent_world{};
  put(world.workspace() / "f", "old");
  put_part(world, temp, "new", {{"offset", 0}});
  put_part(world, temp, "er", {{"offset", 3}});
  CHECK_EQ(content(read(world, "f")), "old");
  CHECK(error_of(put_part(world, temp, "", {{"offset", 5}, {"final", true}})) == "write_part_missing_rename_target");
  CHECK_EQ(content(read(world, "f")), "old");
}

// [G 137] the mode
SCENARIO("a final part keeps the mode of its target") {
  auto world = agent_world{};
  put(world.workspace() / "f", "old");
  ::chmod((world.workspace() / "f").c_str(), 06755);
  put_part(world, temp, "new", {{"offset", 0}});
  CHECK(put_part(world, temp, "er", {{"offset", 3}, {"final", true}, {"renameTo", "f"}})["ok"] == true);
  CHECK_EQ(mode_of(world.workspace() / "f"), 06755u);
  CHECK_EQ(content_of(world.workspace() / "f"), "newer");
}

SCENARIO("a final part renames only what is synced, and nothing after a failure") {
  for (auto step : {"mode", "short", "sync", "rename", "none"}) {
    auto failing = std::string{step};
    auto steps = std::vector<std::string>{};
    auto last = std::atomic{false};
    auto calls = guest::file_calls{};
    calls.write = [&, real = calls.write](int fd, const char* bytes, std::size_t size, off_t at) {
      return real(fd, bytes, failing == "short" && last ? size - 1 : size, at);
    };
    calls.set_mode = [&, real = calls.set_mode](int fd, mode_t mode) {
      steps.push_back("mode");
      return failing == "mode" ? (errno = EPERM, -1) : real(fd, mode);
    };
    calls.sync = [&, real = calls.sync](int fd) {
      struct stat is;
      ::fstat(fd, &is);
      steps.push_back(S_ISDIR(is.st_mode) ? "sync directory" : "sync file");
      return failing == "sync" ? (errno = EIO, -1) : real(fd);
    };
    calls.rename = [&, real = calls.rename](int from, const char* a, int to, const char* b) {
      steps.push_back("rename");
      return failing == "rename" ? (errno = EXDEV, -1) : real(from, a, to, b);
    };
    auto world = agent_world{{}, calls};
    put(world.workspace() / "f", "old");
    put_part(world, temp, "new", {{"offset", 0}});
    CHECK(steps.empty());
    last = true;
    auto reply = put_part(world, temp, "er", {{"offset", 3}, {"final", true}, {"renameTo", "f"}});
    CHECK((reply["ok"] == true) == (failing == "none"));
    CHECK_EQ(content_of(world.workspace() / "f"), failing == "none" ? "newer" : "old");
    CHECK_EQ(fs::exists(world.workspace() / temp), failing != "none");
    if (failing == "short")
      CHECK_EQ(error_of(reply), "write_part_short_write: wrote 1 of 2 bytes at offset 3, temp file is 4 bytes");
    if (failing == "mode")
      CHECK(error_of(reply).starts_with("EPERM"));
    if (failing == "none")
      CHECK((steps == std::vector<std::string>{"mode", "sync file", "rename", "sync directory"}));
  }
}

SCENARIO("a part is not written through a link to nothing, nor to what is no file") {
  auto world = agent_world{};
  fs::create_symlink("nothing", world.workspace() / temp);
  CHECK(put_part(world, temp, "abc", {{"offset", 0}})["ok"] == false);
  CHECK(!fs::exists(world.workspace() / "nothing"));
  ::mkfifo((world.workspace() / "fifo").c_str(), 0600);
  CHECK(error_of(put_part(world, "fifo", "abc", {{"offset", 0}})).starts_with("EINVAL"));
}

SCENARIO("a part without content, or with a bad offset, writes nothing") {
  auto world = agent_world{};
  CHECK_EQ(error_of(world.ask("write-file", json{{"path", temp}, {"part", {{"offset", 0}}}})), "missing_path_or_content");
  CHECK_EQ(error_of(put_part(world, temp, "abc", {{"offset", "0"}})), "write_part_invalid_offset: \"0\"");
  CHECK(fs::is_empty(world.workspace()));
}
