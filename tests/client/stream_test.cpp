#define CAF_SUITE stream

#include "client/stream.hpp"
#include "messages/error.hpp"
#include "tests/client/scripted_call.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <fcntl.h>
#include <unistd.h>

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

/// A file descriptor that is closed with the test.
struct opened {
  opened(const char* path, int how) : fd(::open(path, how | O_CLOEXEC)) {
  }
  ~opened() {
    ::close(fd);
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  int fd;
};

call_news withdrawn(verdict how, const char* reason) {
  return call_event{make_problem(how, reason, "withdrawn")};
}

problem problem_of(const stream_end& x) {
  const auto* why = std::get_if<problem>(&x.how);
  return why != nullptr ? *why : problem{};
}

} // namespace

SCENARIO("output that cannot be written is what went wrong, and not how the cancel ended") {
  const auto full = opened{"/dev/full", O_WRONLY};
  auto at = scripted_target{};
  at.says = {call_event{output_piece{1, bytes_of("a")}}};
  at.when_cancelled = {withdrawn(verdict::failed, "Cancelled")};
  const auto got = run_stream(at, run_spec{}, {-1, full.fd, -1});
  CHECK_EQ(problem_of(got).reason, "OutputFailed");
  CHECK(!got.output_closed);
  CHECK_EQ(at.log->said, (std::vector<std::string>{"cancel", "gone"}));
}

SCENARIO("what a call has done that nobody knows is not called a failure, whatever made it end") {
  const auto full = opened{"/dev/full", O_WRONLY};
  auto at = scripted_target{};
  at.says = {call_event{output_piece{1, bytes_of("a")}}};
  at.when_cancelled = {withdrawn(verdict::unknown, "RemoteCancellationUnknown")};
  const auto got = problem_of(run_stream(at, run_spec{}, {-1, full.fd, -1}));
  CHECK_EQ(got.how, verdict::unknown);
  CHECK_EQ(got.reason, "RemoteCancellationUnknown");
  CHECK(got.message.find("cannot write the output") != std::string::npos);
}

SCENARIO("a file whose content cannot be read to its end is withdrawn, and never ended where the reading did") {
  const auto folder = opened{"/", O_RDONLY}; // reading it fails
  auto at = scripted_target{};
  at.says = {call_event{input_wanted{100}}};
  at.when_cancelled = {withdrawn(verdict::failed, "Cancelled")};
  const auto got = problem_of(run_stream(at, write_spec{"a", {}}, {folder.fd, -1, -1}));
  CHECK_EQ(got.how, verdict::failed);
  CHECK_EQ(got.reason, "LocalFile");
  CHECK(at.log->inputs.empty());
}
