#define CAF_SUITE process_group

#include "tests/embedded/processes.hpp"
#include "tests/support/skip.hpp"

#include <fstream>

using namespace paddock;
using namespace paddock::embedded;
using namespace paddock::embedded::test;
namespace asio = boost::asio;

SCENARIO("what hid from its family by another session and an empty environment is found by its group") {
  if (::geteuid() != 0)
    paddock::test::skip_suite("only root may give a group");
  asio::io_context on;
  auto child = start(on, shell("setsid env -i sleep 600 & echo $!; wait"));
  auto hidden = static_cast<pid_t>(std::stol(paddock::test::run_flow(on, read_line(*child))));
  // A process that is becoming another program has no environment for a moment, whatever it will have.
  auto clear = [hidden] {
    auto name = std::string{};
    auto comm = std::ifstream{"/proc/" + std::to_string(hidden) + "/comm"};
    auto file = std::ifstream{"/proc/" + std::to_string(hidden) + "/environ", std::ios::binary};
    return std::getline(comm, name) && name == "sleep" && file.peek() == std::ifstream::traits_type::eof();
  };
  paddock::test::run_until(on, clear);
  REQUIRE(clear());
  end_family(family);
  // Before the child's own end is taken, which would end what it left behind.
  auto dead = [hidden] {
    auto file = std::ifstream{"/proc/" + std::to_string(hidden) + "/stat"};
    std::string line;
    return !std::getline(file, line) || line.find(") Z ") != std::string::npos || line.find(") X ") != std::string::npos;
  };
  paddock::test::run_until(on, dead);
  CHECK(dead());
}
