#define CAF_SUITE file_race

// A directory and a link that leads outside change places while requests run. Nothing outside is ever read, written or
// removed, by the kernel's way of resolving and by ours.

#include "tests/guest/file_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cerrno>
#include <fcntl.h>
#include <thread>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto temp = ".namzu-write-x.part";

// Exchanges two names, over and over, until it is destroyed.
class swapper {
public:
  swapper(fs::path a, fs::path b) : a_(std::move(a)), b_(std::move(b)), thread_([this] { run(); }) {
  }
  ~swapper() {
    over_ = true;
    thread_.join();
  }

  std::uint64_t swaps() const {
    return swaps_;
  }

private:
  void run() {
    while (!over_)
      if (::renameat2(AT_FDCWD, a_.c_str(), AT_FDCWD, b_.c_str(), RENAME_EXCHANGE) == 0)
        ++swaps_;
  }

  fs::path a_;
  fs::path b_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> swaps_{0};
  std::thread thread_;
};

struct outcome {
  std::size_t served = 0;
  std::size_t refused = 0;
  std::size_t leaked = 0;
};

void race(const guest::open_beneath& beneath, const std::string& link_to) {
  auto outside = temp_directory{};
  put(outside.path() / "f", "secret");
  put(outside.path() / temp, "secret");
  auto calls = guest::file_calls{};
  calls.beneath = beneath;
  calls.sync = [](int) { return 0; };
  auto world = agent_world{{}, calls};
  fs::create_directory(world.workspace() / "d");
  put(world.workspace() / "d/f", "inside");
  fs::create_symlink(link_to == "absolute" ? outside.path() : fs::relative(outside.path(), world.workspace()), world.workspace() / "link");
  auto seen = outcome{};
  auto count = [&](const json& reply) { ++(reply["ok"] == true ? seen.served : seen.refused); };
  auto turns = 0;
  {
    auto swapping = swapper{world.workspace() / "d", world.workspace() / "link"};
    // Enough turns that both answers came, and a bound for a machine where they do not.
    for (; turns < 100 || (turns < 2'000 && (seen.served < 50 || seen.refused < 50)); ++turns) {
      auto got = read(world, "d/f");
      count(got);
      if (got["ok"] == true && content(got) != "inside" && content(got) != "written")
        ++seen.leaked;
      auto stream = read_stream(world, "link/f");
      if (!stream.bytes.empty() && stream.bytes != "inside" && stream.bytes != "written")
        ++seen.leaked;
      count(write(world, "d/g", "written"));
      count(write(world, "d/n/g", "written"));
      count(put_part(world, std::string{"d/"} + temp, "written", {{"offset", 0}, {"final", true}, {"renameTo", "link/h"}}));
      count(discard(world, std::string{"link/"} + temp));
    }
    CHECK_GT(swapping.swaps(), 0u);
  }
  CHECK_GT(seen.served, 0u);
  CHECK_GT(seen.refused, 0u);
  CHECK_EQ(seen.leaked, 0u);
  CHECK_EQ(entries(outside.path()), 2u);
  CHECK_EQ(content_of(outside.path() / "f"), "secret");
  CHECK_EQ(content_of(outside.path() / temp), "secret");
}

} // namespace

SCENARIO("a directory that becomes a link leads nowhere outside, by the kernel's resolution") {
  race(guest::open_beneath_by_kernel, "relative");
}

SCENARIO("a directory that becomes an absolute link leads nowhere outside, by the kernel's resolution") {
  race(guest::open_beneath_by_kernel, "absolute");
}

SCENARIO("a directory that becomes a link leads nowhere outside, by the walk") {
  race([](int, const char*) { return errno = ENOSYS, -1; }, "relative");
}

SCENARIO("a directory that becomes an absolute link leads nowhere outside, by the walk") {
  race([](int, const char*) { return errno = ENOSYS, -1; }, "absolute");
}

SCENARIO("a file that becomes a link is not followed once it is resolved") {
  auto outside = temp_directory{};
  put(outside.path() / "secret", "secret");
  auto world = agent_world{};
  put(world.workspace() / "f", "inside");
  fs::create_symlink(outside.path() / "secret", world.workspace() / "link");
  auto served = 0;
  auto leaked = 0;
  {
    auto swapping = swapper{world.workspace() / "f", world.workspace() / "link"};
    for (auto turn = 0; turn < 300; ++turn) {
      auto got = read(world, "f");
      served += got["ok"] == true;
      leaked += got["ok"] == true && content(got) != "inside";
    }
  }
  CHECK_GT(served, 0);
  CHECK_EQ(leaked, 0);
  CHECK_EQ(content_of(outside.path() / "secret"), "secret");
}
