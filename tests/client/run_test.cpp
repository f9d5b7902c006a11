#define CAF_SUITE run

#include "client/run.hpp"
#include "messages/error.hpp"
#include "tests/client/scripted_call.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

call_event piece(int which, std::string_view text) {
  return output_piece{which, bytes_of(text)};
}

call_event ended(int code) {
  auto out = call_end{};
  out.exit_code = code;
  return out;
}

} // namespace

SCENARIO("what a command writes is kept by stream, and its code is no failure") {
  auto at = scripted_target{};
  at.says = {piece(1, "out"), piece(2, "err"), piece(1, "put"), ended(3)};
  const auto got = output_of(at, run_spec{});
  REQUIRE(got);
  CHECK_EQ(got->out, "output");
  CHECK_EQ(got->err, "err");
  CHECK(!got->cut);
  CHECK_EQ(got->end.exit_code, 3);
  CHECK_EQ(at.started.at(0).credit, call::window);
  CHECK_EQ(at.log->granted, (std::vector<std::uint64_t>{3, 3, 3}));
}

SCENARIO("no more is kept than was wanted, and the command goes on") {
  auto at = scripted_target{};
  at.says = {piece(1, "abc"), piece(1, "def"), ended(0)};
  const auto got = output_of(at, run_spec{}, 4);
  REQUIRE(got);
  CHECK_EQ(got->out, "abcd");
  CHECK(got->cut);
}

SCENARIO("input is given as it is wanted, and closed once") {
  auto at = scripted_target{};
  at.says = {call_event{input_wanted{4}}, call_event{input_wanted{100}}, call_event{input_wanted{5}}, ended(0)};
  auto rest = std::string{"hello"};
  auto through = streams{};
  through.input = [&](std::size_t most) {
    auto out = bytes_of(rest.substr(0, most));
    rest.erase(0, most);
    return out;
  };
  CHECK(client::run(at, run_spec{}, through));
  CHECK_EQ(at.log->inputs, (std::vector<std::pair<std::string, bool>>{{"hell", false}, {"o", false}, {"", true}}));
}

SCENARIO("a file is written whole, in pieces as they are wanted") {
  auto at = scripted_target{};
  at.says = {call_event{input_wanted{3}}, call_event{input_wanted{100}}, ended(0)};
  CHECK(write_file(at, "a", "hello"));
  CHECK_EQ(at.log->inputs, (std::vector<std::pair<std::string, bool>>{{"hel", false}, {"lo", false}, {"", true}}));
  CHECK_EQ(std::get<write_spec>(at.started.at(0).what).size, 5u);
}

SCENARIO("a call whose watch says so is cancelled, and its end is awaited") {
  const auto bell = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  auto at = scripted_target{};
  auto what = at.start(run_spec{});
  REQUIRE(what);
  auto through = streams{};
  through.watch = {bell, [&] {
                     auto count = eventfd_t{};
                     ::eventfd_read(bell, &count);
                     at.to->put(call_event{make_problem(verdict::failed, "Cancelled", "withdrawn")});
                     return true;
                   }};
  CHECK_EQ(carry(*what, through).error().reason, "Cancelled");
  CHECK_EQ(at.log->said, std::vector<std::string>{"cancel"});
  ::close(bell);
}

SCENARIO("a command that wants input and gets none finds its end") {
  auto at = scripted_target{};
  at.says = {call_event{input_wanted{4}}, call_event{input_wanted{4}}, ended(0)};
  CHECK(client::run(at, run_spec{}));
  CHECK_EQ(at.log->inputs, (std::vector<std::pair<std::string, bool>>{{"", true}}));
}

SCENARIO("a named error is the answer, from the start or from the end") {
  auto refused = scripted_target{};
  refused.refuses = make_problem(verdict::refused, "WorkspaceSuspended", "asleep");
  CHECK_EQ(client::run(refused, run_spec{}).error().reason, "WorkspaceSuspended");
  auto failed = scripted_target{};
  failed.says = {piece(1, "a"), call_event{make_problem(verdict::unknown, "RemoteLost", "lost")}};
  CHECK_EQ(output_of(failed, run_spec{}).error().reason, "RemoteLost");
  CHECK_EQ(failed.log->said, std::vector<std::string>{"gone"});
}

SCENARIO("an ended call is carried no second time") {
  auto at = scripted_target{};
  at.says = {ended(0)};
  auto what = at.start(run_spec{});
  REQUIRE(what);
  CHECK(carry(*what, {}));
  CHECK_EQ(carry(*what, {}).error().reason, "InvalidArgument");
}
