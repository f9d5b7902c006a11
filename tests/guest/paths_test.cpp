#define CAF_SUITE paths

#include "guest/child_environment.hpp"
#include "guest/output_cap.hpp"
#include "guest/paths.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::guest;

namespace {

std::string confined(std::string_view path) {
  auto got = confine(path, "/ws", {"/ws", "/data/in"});
  return got ? got->path + " in " + got->root : got.error();
}

} // namespace

SCENARIO("a path is normalised by its text") {
  CHECK_EQ(normalised("/a//b/./c/../d/"), "/a/b/d");
  CHECK_EQ(normalised("/../.."), "/");
  CHECK_EQ(normalised("a/../../b"), "../b");
  CHECK_EQ(normalised(""), ".");
}

SCENARIO("a path stays within its roots") {
  CHECK_EQ(confined("a/b"), "/ws/a/b in /ws");
  CHECK_EQ(confined("a/../.."), path_escapes);
  CHECK_EQ(confined("../ws/a"), "/ws/a in /ws");
  CHECK_EQ(confined("../wsx"), path_escapes);
  CHECK_EQ(confined("/wsx"), path_escapes);
  CHECK_EQ(confined("/ws"), "/ws in /ws");
  CHECK_EQ(confined("/data/in/x"), "/data/in/x in /data/in");
  CHECK_EQ(confined("/data/in/../out"), path_escapes);
  CHECK_EQ(confined(std::string_view{"a\0b", 3}), path_escapes);
}

SCENARIO("a child does not see what configures the agent") {
  auto lines = child_environment({"HOME=/h", "NAMZU_AGENT_BIND_TOKEN=t", "NAMZU_SANDBOX_WORKSPACE=/ws", "A=1", "PADDOCK_GUEST_X=1"},
                                 {{"A", "2"}, {"NAMZU_AGENT_X", "1"}, {"B=C", "3"}, {"", "4"}});
  CHECK((lines == std::vector<std::string>{"HOME=/h", "A=2", "NAMZU_AGENT_X=1"}));
}

SCENARIO("a program is looked up along the PATH of the child") {
  CHECK((program_candidates("ls", {"PATH=/a::b"}) == std::vector<std::string>{"/a/ls", "./ls", "b/ls"}));
  CHECK((program_candidates("./ls", {"PATH=/a"}) == std::vector<std::string>{"./ls"}));
}

SCENARIO("an output cap keeps the first bytes and says when it dropped some") {
  auto cap = output_cap{5};
  CHECK_EQ(cap.admit("abc"), "abc");
  CHECK_EQ(cap.admit("de"), "de");
  CHECK(!cap.truncated());
  CHECK_EQ(cap.admit("f"), "");
  CHECK(cap.truncated());
}
