#define CAF_SUITE process

#include "embedded/flows/cgroup.hpp"
#include "tests/embedded/processes.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <signal.h>
#include <thread>
#include <unistd.h>

using namespace paddock;
using namespace paddock::embedded;
using namespace paddock::embedded::test;
namespace asio = boost::asio;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

SCENARIO("a program runs without capabilities, in a session of its own and with three descriptors") {
  asio::io_context on;
  // A descriptor that is not closed on exec must not reach it either.
  auto leak = ::dup(0);
  auto child = start(on, shell("cat /proc/self/status; ls -l /proc/$$/fd; umask; pwd; env; echo sid $(cut -d' ' -f6 /proc/$$/stat)"));
  auto id = child->id();
  auto text = paddock::test::run_flow(on, read_all(*child));
  auto end = paddock::test::run_flow(on, child->ended());
  ::close(leak);
  CHECK_EQ(end.code, 0);
  CHECK_EQ(end.signal, 0);
  for (const auto* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
    CHECK(contains(text, std::string{set} + ":\t0000000000000000\n"));
  CHECK(contains(text, "NoNewPrivs:\t1\n"));
  CHECK(contains(text, "0022\n"));
  CHECK(contains(text, "GIVEN=yes\n"));
  CHECK(!contains(text, "HOME="));
  CHECK(contains(text, "sid " + std::to_string(id) + "\n"));
  CHECK(contains(text, " 0 -> /dev/null"));
  CHECK(!contains(text, " 3 -> "));
  CHECK(!contains(text, " " + std::to_string(leak) + " -> "));
}

SCENARIO("a program that ends is reported with its code or signal") {
  asio::io_context on;
  auto failed = start(on, shell("exit 7"));
  CHECK(paddock::test::run_flow(on, failed->ended()) == (process_end{7, 0}));
  GIVEN("one that waits") {
    auto waits = start(on, shell("echo up; exec sleep 600"));
    REQUIRE_EQ(paddock::test::run_flow(on, read_line(*waits)), "up\n");
    WHEN("it gets TERM") {
      waits->signal(SIGTERM);
      THEN("it ended by it, and asking again gives the same answer") {
        CHECK(paddock::test::run_flow(on, waits->ended()) == (process_end{0, SIGTERM}));
        CHECK(paddock::test::run_flow(on, waits->ended()) == (process_end{0, SIGTERM}));
      }
    }
  }
  GIVEN("one that ignores TERM") {
    auto stubborn = start(on, shell("trap '' TERM; echo up; while :; do sleep 600; done"));
    REQUIRE_EQ(paddock::test::run_flow(on, read_line(*stubborn)), "up\n");
    stubborn->signal(SIGTERM);
    auto waiting = paddock::test::start_flow(on, stubborn->ended());
    paddock::test::run_ready(on);
    CHECK(!waiting.done());
    WHEN("it gets KILL") {
      stubborn->signal(SIGKILL);
      THEN("it has ended") {
        paddock::test::run_until(on, [&] { return waiting.done(); });
        CHECK(waiting.get() == (process_end{0, SIGKILL}));
      }
    }
  }
}

SCENARIO("nothing that a program left behind outlives it") {
  asio::io_context on;
  GIVEN("a program that starts another in a session and group of its own") {
    auto script = "setsid sh -c 'echo $$; exec sleep 600' & wait";
    auto child = start(on, shell(script));
    auto left = static_cast<pid_t>(std::stol(paddock::test::run_flow(on, read_line(*child))));
    REQUIRE(::kill(left, 0) == 0);
    WHEN("it is killed") {
      child->signal(SIGKILL);
      paddock::test::run_flow(on, child->ended());
      THEN("the other one is killed, too") {
        // It may still wait to be collected by whoever adopted it.
        auto dead = [left] {
          auto file = std::ifstream{"/proc/" + std::to_string(left) + "/stat"};
          std::string line;
          return !std::getline(file, line) || line.find(") Z ") != std::string::npos || line.find(") X ") != std::string::npos;
        };
        paddock::test::run_until(on, dead);
        CHECK(dead());
      }
    }
  }
}

SCENARIO("a family is ended as a whole and no other") {
  asio::io_context on;
  auto first = start(on, shell("exec sleep 600"));
  auto second = start(on, shell("exec sleep 600"));
  auto stranger = shell("exec sleep 600");
  stranger.family = family + "0";
  auto other = start(on, stranger);
  end_family(family);
  CHECK(paddock::test::run_flow(on, first->ended()) == (process_end{0, SIGKILL}));
  CHECK(paddock::test::run_flow(on, second->ended()) == (process_end{0, SIGKILL}));
  CHECK(::kill(other->id(), 0) == 0);
  auto still = paddock::test::start_flow(on, other->ended());
  paddock::test::run_ready(on);
  CHECK(!still.done());
}

SCENARIO("a program without a folder is looked for where its environment says") {
  asio::io_context on;
  auto what = shell("exit 3");
  what.program = "sh";
  CHECK(paddock::test::run_flow(on, start(on, what)->ended()) == (process_end{3, 0}));
  what.environment = {{"PATH", "/nowhere"}};
  auto missing = process::start(on.get_executor(), what);
  REQUIRE(!missing);
  CHECK(contains(missing.error(), "could not run the program sh"));
}

SCENARIO("a process enters its cgroup before it becomes the program, or does not start") {
  asio::io_context on;
  auto name = (std::filesystem::temp_directory_path() / "paddock-cgroup-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  auto folder = std::filesystem::path{name};
  std::ofstream{folder / "cgroup.procs"};
  auto what = shell("exit 0");
  what.cgroup = folder;
  CHECK(paddock::test::run_flow(on, start(on, what)->ended()) == process_end{});
  auto file = std::ifstream{folder / "cgroup.procs"};
  CHECK_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), "0");
  std::filesystem::remove_all(folder);
  auto refused = process::start(on.get_executor(), what);
  REQUIRE(!refused);
  CHECK(contains(refused.error(), "cgroup"));
}

SCENARIO("limits become the files of a cgroup, and where there is none it is said why") {
  auto name = (std::filesystem::temp_directory_path() / "paddock-cgroup-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  auto folder = std::filesystem::path{name};
  CHECK(contains(cgroup_tree::below(folder, "f").fault(), "no cpu and memory controllers"));
  std::ofstream{folder / "cgroup.controllers"} << "cpuset cpu io memory\n";
  {
    auto tree = cgroup_tree::below(folder, "f");
    CHECK_EQ(tree.fault(), "");
    auto read = [](const std::filesystem::path& from) {
      auto in = std::ifstream{from};
      return std::string{std::istreambuf_iterator<char>{in}, {}};
    };
    CHECK_EQ(read(folder / "cgroup.subtree_control"), "+cpu +memory");
    CHECK(!tree.make("none", 0, 0));
    auto made = tree.make("c", 1.5, 1024.0 * 1024);
    REQUIRE(made);
    CHECK_EQ(read(*made / "cpu.max"), "150000 100000");
    CHECK_EQ(read(*made / "memory.max"), "1048576");
    CHECK(tree.remove(*made));
    CHECK_EQ(read(*made / "cgroup.kill"), "1");
  }
  std::filesystem::remove_all(folder);
}

SCENARIO("a process that is forgotten is killed") {
  asio::io_context on;
  auto id = pid_t{0};
  {
    auto child = start(on, shell("exec sleep 600"));
    id = child->id();
    REQUIRE(::kill(id, 0) == 0);
  }
  CHECK(::kill(id, 0) != 0);
}

SCENARIO("a process ends with the thread that started it") {
  asio::io_context on;
  auto child = std::unique_ptr<process>{};
  std::thread{[&] { child = start(on, shell("exec sleep 600")); }}.join();
  CHECK(paddock::test::run_flow(on, child->ended()) == (process_end{0, SIGKILL}));
}

SCENARIO("what cannot be started is refused with the reason") {
  asio::io_context on;
  auto missing = process::start(on.get_executor(), {"/nowhere/program", {}, {}, "/", family});
  REQUIRE(!missing);
  CHECK(contains(missing.error(), "/nowhere/program"));
  CHECK(contains(missing.error(), "No such file"));
  auto plain = process::start(on.get_executor(), {PADDOCK_TEST_RECORDINGS "/sandbox_controller.json", {}, {}, "/", family});
  REQUIRE(!plain);
  CHECK(contains(plain.error(), "Permission denied"));
  auto folder = process::start(on.get_executor(), {"/bin/sh", {}, {}, "/nowhere", family});
  REQUIRE(!folder);
  CHECK(contains(folder.error(), "folder /nowhere"));
}
