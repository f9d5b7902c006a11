#define CAF_SUITE agent_files

#include "tests/guest/file_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cerrno>
#include <sys/resource.h>

using namespace paddock;
using namespace paddock::test;

// [G 100] a whole read
SCENARIO("a file is read with its size and a boot id") {
  auto world = agent_world{};
  auto bytes = std::string("\0\xff\x80 abc", 7);
  put(world.workspace() / "f", bytes);
  auto reply = read(world, "f");
  CHECK_EQ(content(reply), bytes);
  CHECK(reply["sizeBytes"] == 7);
  CHECK_EQ(reply["encoding"].get<std::string>(), "base64");
  CHECK_EQ(reply["guestBootId"].get<std::string>().size(), 36u);
  auto text = world.ask("read-file", json{{"path", "f"}, {"encoding", "BASE64"}});
  CHECK_EQ(text["encoding"].get<std::string>(), "utf8");
}

// [G 101] an absent file
SCENARIO("an absent file is named by its errno") {
  auto world = agent_world{};
  auto reply = read(world, "absent");
  CHECK(error_of(reply).find("ENOENT") != std::string::npos);
  CHECK(!reply.contains("guestBootId"));
  CHECK(error_of(read(world, ".")).find("EISDIR") != std::string::npos);
  CHECK_EQ(error_of(read(world, "")), "missing_path");
}

SCENARIO("what is not a file is neither read nor replaced, and nobody waits for it") {
  auto world = agent_world{{{"NAMZU_SANDBOX_READ_ROOTS", "/dev"}, {"NAMZU_SANDBOX_WRITE_ROOTS", "/dev"}}};
  ::mkfifo((world.workspace() / "fifo").c_str(), 0600);
  auto socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = sockaddr_un{};
  address.sun_family = AF_UNIX;
  (world.workspace() / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  for (const auto& path : {std::string{"fifo"}, std::string{"socket"}, std::string{"/dev/zero"}, std::string{"/dev/tty"}}) {
    auto refused = error_of(read(world, path));
    CHECK(refused.starts_with("EINVAL"));
    CHECK(refused.ends_with(": not a regular file"));
    CHECK_EQ(error_of(read_stream(world, path).last), "read_file_stream_not_a_regular_file");
    CHECK(error_of(write(world, path, "x")).starts_with("EINVAL"));
  }
  CHECK(fs::is_fifo(world.workspace() / "fifo"));
  CHECK(fs::is_character_file("/dev/zero"));
  ::close(socket);
}

SCENARIO("text is carried with its escapes, and bytes that are no text are replaced") {
  auto world = agent_world{};
  auto text = std::string{};
  for (auto c = 1; c < 128; ++c)
    text += static_cast<char>(c);
  text += std::string(1, '\0') + "caf\xc3\xa9 \xf0\x9f\x98\x80";
  put(world.workspace() / "f", text);
  put(world.workspace() / "bad", "a\xff\xe2\x82z");
  CHECK_EQ(world.ask("read-file", json{{"path", "f"}})["content"].get<std::string>(), text);
  auto bad = world.ask("read-file", json{{"path", "bad"}});
  CHECK_EQ(bad["content"].get<std::string>(), "a\xef\xbf\xbd\xef\xbf\xbdz");
  CHECK(bad["sizeBytes"] == 5);
}

SCENARIO("a whole read of any length is what was written") {
  auto world = agent_world{};
  for (auto size :
       {std::size_t{1}, std::size_t{192 * 1024 - 1}, std::size_t{192 * 1024}, std::size_t{192 * 1024 + 1}, std::size_t{3'000'001}}) {
    auto bytes = std::string(size, '\0');
    for (auto i = std::size_t{0}; i < size; ++i)
      bytes[i] = static_cast<char>(i * 2654435761u >> 13);
    auto body = json{{"path", "f"}, {"content", to_base64(bytes)}, {"encoding", "base64"}};
    CHECK(world.ask("write-file", body)["bytesWritten"] == size);
    CHECK(content_of(world.workspace() / "f") == bytes);
    CHECK(content(read(world, "f")) == bytes);
  }
}

SCENARIO("large text is text, and large text that claims to be base64 is refused") {
  auto world = agent_world{};
  auto text = std::string(100'000, 'A') + " caf\xc3\xa9";
  CHECK(write(world, "f", text)["ok"] == true);
  CHECK(content_of(world.workspace() / "f") == text);
  auto plain = std::string(100'000, 'A');
  CHECK(write(world, "g", plain)["ok"] == true);
  CHECK(content_of(world.workspace() / "g") == plain);
  CHECK_EQ(error_of(world.ask("write-file", json{{"path", "f"}, {"content", text}, {"encoding", "base64"}})), "write_invalid_base64");
  CHECK(content_of(world.workspace() / "f") == text);
}

// [G 102] outside by its text
SCENARIO("a path that leaves the workspace is refused") {
  auto world = agent_world{};
  CHECK_EQ(error_of(read(world, "../etc/passwd")), "path escapes the workspace");
}

// [G 103] an extra root
SCENARIO("an extra read root is read and not written") {
  auto extra = temp_directory{};
  put(extra.path() / "f", "x");
  auto world = agent_world{{{"NAMZU_SANDBOX_READ_ROOTS", extra.path().string()}}};
  CHECK_EQ(content(read(world, (extra.path() / "f").string())), "x");
  CHECK_EQ(error_of(write(world, (extra.path() / "f").string(), "y")), "path escapes the workspace");
  CHECK_EQ(content_of(extra.path() / "f"), "x");
}

// [G 104] outside by a symlink
SCENARIO("a symlink that leaves the workspace is refused") {
  auto outside = temp_directory{};
  put(outside.path() / "f", "secret");
  auto world = agent_world{};
  fs::create_symlink(outside.path() / "f", world.workspace() / "link");
  CHECK_EQ(error_of(read(world, "link")), "symlink escapes the workspace");
}

SCENARIO("nothing is written, nor any directory made, through a symlink that leaves the workspace") {
  auto outside = temp_directory{};
  auto world = agent_world{};
  fs::create_symlink(outside.path(), world.workspace() / "link");
  CHECK_EQ(error_of(write(world, "link/f", "x")), "symlink escapes the workspace");
  CHECK_EQ(error_of(write(world, "link/d/f", "x")), "symlink escapes the workspace");
  CHECK(fs::is_empty(outside.path()));
}

// [G 105] a range
SCENARIO("a range is served with the size of the whole file") {
  auto world = agent_world{};
  put(world.workspace() / "f", "abcdef");
  auto reply = read(world, "f", {{"offset", 2}, {"length", 3}});
  CHECK_EQ(content(reply), "cde");
  CHECK(reply["bytesRead"] == 3);
  CHECK(reply["sizeBytes"] == 6);
  CHECK(reply["offset"] == 2);
}

// [G 106] past the end
SCENARIO("a range past the end is empty") {
  auto world = agent_world{};
  put(world.workspace() / "f", "abcdef");
  auto reply = read(world, "f", {{"offset", 100}});
  CHECK_EQ(content(reply), "");
  CHECK(reply["bytesRead"] == 0);
  CHECK(reply["sizeBytes"] == 6);
}

// [G 107] a range of text
SCENARIO("a range is bytes") {
  auto world = agent_world{};
  put(world.workspace() / "f", "abcdef");
  CHECK(error_of(read(world, "f", {{"encoding", "utf8"}, {"offset", 1}})).starts_with("read_file_range_requires_base64: "));
}

// [G 108] a length over the limit
SCENARIO("a range over the limit is refused, not shortened") {
  auto world = agent_world{};
  put(world.workspace() / "f", "abcdef");
  CHECK(error_of(read(world, "f", {{"length", 1'048'577}}))
          .starts_with("read_file_range_too_large: 1048577 bytes requested, limit 1048576 (NAMZU_AGENT_READ_FILE_RANGE_BYTES)"));
  CHECK_EQ(content(read(world, "f", {{"length", 1'048'576}})), "abcdef");
}

// [G 109] a derived length over the limit
SCENARIO("the rest of a large file is over the limit as well") {
  auto world = agent_world{};
  put(world.workspace() / "f", std::string(2 << 20, 'x'));
  CHECK(error_of(read(world, "f", {{"offset", 0}})).starts_with("read_file_range_too_large: 2097152 bytes requested"));
}

// [G 110] a negative length
SCENARIO("a bad range is named") {
  auto world = agent_world{};
  put(world.workspace() / "f", "abcdef");
  CHECK(error_of(read(world, "f", {{"length", -1}})).starts_with("read_file_invalid_length: "));
  CHECK(error_of(read(world, "f", {{"offset", 1.5}})).starts_with("read_file_invalid_offset: "));
  auto stream = read_stream(world, "f", {{"length", -1}});
  CHECK(error_of(stream.last).starts_with("read_file_invalid_length: "));
  CHECK_EQ(stream.order, "xT");
  CHECK(error_of(read_stream(world, "f", {{"offset", 1.5}}).last).starts_with("read_file_invalid_offset: "));
}

// [G 111] a pseudo-file
SCENARIO("a pseudo-file has the size of its content") {
  auto world = agent_world{{{"NAMZU_SANDBOX_READ_ROOTS", "/proc"}}};
  auto whole = content_of("/proc/version");
  auto reply = read(world, "/proc/version");
  CHECK_EQ(content(reply), whole);
  CHECK(reply["sizeBytes"] == whole.size());
  auto ranged = read(world, "/proc/version", {{"offset", 3}, {"length", 4}});
  CHECK_EQ(content(ranged), whole.substr(3, 4));
  CHECK(ranged["sizeBytes"] == whole.size());
  auto stream = read_stream(world, "/proc/version");
  CHECK_EQ(stream.bytes, whole);
  CHECK(stream.meta["sizeBytes"] == whole.size());
  CHECK(stream.meta["length"] == whole.size());
  CHECK(stream.last["bytesSent"] == whole.size());
  auto part = read_stream(world, "/proc/version", {{"offset", 3}, {"length", 4}});
  CHECK_EQ(part.bytes, whole.substr(3, 4));
}

// [G 119] directories that are not there
SCENARIO("a write creates the directories above it") {
  auto world = agent_world{};
  auto reply = write(world, "d/e/f.txt", "caf\xc3\xa9");
  CHECK(reply["ok"] == true);
  CHECK(reply["bytesWritten"] == 5);
  CHECK_EQ(content_of(world.workspace() / "d/e/f.txt"), "caf\xc3\xa9");
  CHECK_EQ(entries(world.workspace() / "d/e"), 1u);
}

// [G 120] permissions
SCENARIO("an overwrite keeps the permissions") {
  auto world = agent_world{};
  put(world.workspace() / "f", "old");
  ::chmod((world.workspace() / "f").c_str(), 0755);
  CHECK(write(world, "f", "new")["ok"] == true);
  CHECK_EQ(mode_of(world.workspace() / "f"), 0755u);
  CHECK_EQ(content_of(world.workspace() / "f"), "new");
}

SCENARIO("all twelve mode bits are kept, and a mode that is quietly not set fails the write") {
  auto calls = guest::file_calls{};
  auto dropped = std::atomic<mode_t>{0};
  calls.set_mode = [&, real = calls.set_mode](int fd, mode_t mode) { return real(fd, mode & ~dropped.load()); };
  auto world = agent_world{{}, calls};
  put(world.workspace() / "f", "old");
  for (auto mode : {07777u, 06711u, 0400u, 0u}) {
    ::chmod((world.workspace() / "f").c_str(), mode);
    CHECK(write(world, "f", "new")["ok"] == true);
    CHECK_EQ(mode_of(world.workspace() / "f"), mode);
  }
  ::chmod((world.workspace() / "f").c_str(), 02755);
  dropped = 02000; // as the kernel does for who is not in the group
  CHECK(error_of(write(world, "f", "newer")).starts_with("EPERM"));
  CHECK_EQ(entries(world.workspace()), 1u);
  ::chmod((world.workspace() / "f").c_str(), 0644);
  CHECK_EQ(content_of(world.workspace() / "f"), "new");
}

SCENARIO("a new file has the mode that the umask leaves") {
  auto world = agent_world{};
  auto mask = ::umask(027);
  write(world, "f", "new");
  ::umask(mask);
  CHECK_EQ(mode_of(world.workspace() / "f"), 0640u);
}

// [G 123] through a link
SCENARIO("a write through a symlink replaces what it points to") {
  auto world = agent_world{};
  put(world.workspace() / "target", "old");
  fs::create_symlink("target", world.workspace() / "link");
  CHECK(write(world, "link", "new")["ok"] == true);
  CHECK(fs::is_symlink(world.workspace() / "link"));
  CHECK_EQ(content_of(world.workspace() / "target"), "new");
}

// [G 124] no content
SCENARIO("absent content is refused, empty content is written") {
  auto world = agent_world{};
  CHECK_EQ(error_of(world.ask("write-file", json{{"path", "f"}})), "missing_path_or_content");
  CHECK(!fs::exists(world.workspace() / "f"));
  CHECK(write(world, "f", "")["ok"] == true);
  CHECK_EQ(fs::file_size(world.workspace() / "f"), 0u);
}

// [G 122] [G 125] the steps of a write
SCENARIO("a write is durable before it is seen, and seen before it is acknowledged") {
  auto world_path = fs::path{};
  auto steps = std::vector<std::string>{};
  auto seen = std::vector<std::string>{};
  auto calls = guest::file_calls{};
  auto look = [&] { seen.push_back(content_of(world_path / "f")); };
  calls.write = [&, real = calls.write](int fd, const char* bytes, std::size_t size, off_t at) {
    steps.push_back("write");
    look();
    auto n = real(fd, bytes, size, at);
    look();
    return n;
  };
  calls.sync = [&, real = calls.sync](int fd) {
    struct stat is;
    ::fstat(fd, &is);
    steps.push_back(S_ISDIR(is.st_mode) ? "sync directory" : "sync file");
    look();
    return real(fd);
  };
  calls.rename = [&, real = calls.rename](int from, const char* old_name, int to, const char* new_name) {
    steps.push_back("rename");
    look();
    auto done = real(from, old_name, to, new_name);
    look();
    return done;
  };
  auto world = agent_world{{}, calls};
  world_path = world.workspace();
  put(world_path / "f", "old");
  auto reply = write(world, "f", "new");
  steps.push_back("reply");
  CHECK(reply["ok"] == true);
  CHECK((steps == std::vector<std::string>{"write", "sync file", "rename", "sync directory", "reply"}));
  CHECK((seen == std::vector<std::string>{"old", "old", "old", "old", "new", "new"}));
}

SCENARIO("a write that fails at any step before the rename leaves the target and no temporary") {
  for (auto step : {"write", "mode", "short", "sync", "rename"}) {
    auto calls = guest::file_calls{};
    auto failing = std::string{step};
    if (failing == "write")
      calls.write = [](int, const char*, std::size_t, off_t) { return errno = ENOSPC, ssize_t{-1}; };
    else if (failing == "mode")
      calls.set_mode = [](int, mode_t) { return errno = EPERM, -1; };
    else if (failing == "short")
      calls.write = [real = calls.write](int fd, const char* bytes, std::size_t size, off_t at) { return real(fd, bytes, size - 1, at); };
    else if (failing == "sync")
      calls.sync = [](int) { return errno = EIO, -1; };
    else
      calls.rename = [](int, const char*, int, const char*) { return errno = EACCES, -1; };
    auto world = agent_world{{}, calls};
    put(world.workspace() / "f", "old");
    auto reply = write(world, "f", "newer");
    CHECK(reply["ok"] == false);
    CHECK(!reply.contains("guestBootId"));
    if (failing == "write")
      CHECK(error_of(reply).starts_with("ENOSPC"));
    if (failing == "short")
      CHECK_EQ(error_of(reply), "write_short_write: wrote 4 of 5 bytes, temp file is 4 bytes");
    CHECK_EQ(content_of(world.workspace() / "f"), "old");
    CHECK_EQ(entries(world.workspace()), 1u);
  }
}

// [G 121] a full disk, by a limit on the size of files: the kernel writes what fits and refuses the rest, for any user
SCENARIO("a disk that is full in the middle of a write leaves the old content and no temporary") {
  auto world = agent_world{};
  put(world.workspace() / "f", "old");
  auto before = rlimit{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  for (auto fits : {rlim_t{0}, rlim_t{65'536}}) {
    auto limit = rlimit{fits, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto reply = write(world, "f", std::string(100'000, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    CHECK(reply["ok"] == false);
    if (fits == 0)
      CHECK(error_of(reply).starts_with("EFBIG"));
    else
      CHECK_EQ(error_of(reply), "write_short_write: wrote 65536 of 100000 bytes, temp file is 65536 bytes");
    CHECK_EQ(content_of(world.workspace() / "f"), "old");
    CHECK_EQ(entries(world.workspace()), 1u);
  }
}

SCENARIO("every directory that a write made is on the device before it is acknowledged") {
  auto synced = std::vector<std::string>{};
  auto calls = guest::file_calls{};
  calls.sync = [&, real = calls.sync](int fd) {
    synced.push_back(fs::read_symlink("/proc/self/fd/" + std::to_string(fd)).filename());
    return real(fd);
  };
  auto world = agent_world{{}, calls};
  CHECK(write(world, "d/e/f", "x")["ok"] == true);
  REQUIRE_EQ(synced.size(), 4u);
  CHECK((std::vector<std::string>{synced.begin() + 1, synced.end()} == std::vector<std::string>{"e", "ws", "d"}));
}

SCENARIO("the root itself, or a directory, is no target") {
  auto world = agent_world{};
  fs::create_directory(world.workspace() / "d");
  CHECK(error_of(write(world, ".", "x")).starts_with("EISDIR"));
  CHECK(error_of(write(world, "d", "x")).starts_with("EISDIR"));
  CHECK_EQ(entries(world.workspace()), 1u);
  CHECK_EQ(entries(world.root.path()), 1u);
}
