#define CAF_SUITE host_scripted

#include "guest/privilege.hpp"
#include "tests/support/scripted_guest.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;

namespace {

struct collected final : guest::output_sink {
  boost::asio::awaitable<void> take(guest::stream which, std::string bytes) override {
    (which == guest::stream::out ? out : err) += bytes;
    co_return;
  }
  std::string out;
  std::string err;
};

struct fixture {
  boost::asio::io_context context;
  scripted_guest guest;
  collected output;
  std::optional<guest::result<guest::execution>> got;
  boost::asio::cancellation_signal stop;

  void start(guest::command what) {
    boost::asio::co_spawn(
      context,
      guest.execute({"10.0.0.1", 1024, secret{"uid"}}, std::move(what), output, nullptr, deadline{time_source::clock::time_point{}}),
      boost::asio::bind_cancellation_slot(stop.slot(), [this](const std::exception_ptr& thrown, guest::result<guest::execution> x) {
        if (!thrown)
          got = std::move(x);
      }));
    poll();
  }
  void poll() {
    context.restart();
    context.poll();
  }
};

guest::command command(std::string program, std::vector<std::string> arguments) {
  return {std::move(program), std::move(arguments), {}, {}, {}, false};
}

} // namespace

SCENARIO("a scripted guest passes the privilege probe unless told otherwise") {
  fixture f;
  f.start(command("cat", {"/proc/self/status"}));
  REQUIRE(f.got && *f.got);
  CHECK_EQ((*f.got)->end.exit_code, 0);
  CHECK(guest::read_privileges(f.output.out).what == guest::privilege::unprivileged);
  REQUIRE_EQ(f.guest.calls.size(), 1u);
  CHECK_EQ(f.guest.calls[0].where.host, "10.0.0.1");
}

SCENARIO("a scripted guest keeps a call pending until the test answers it") {
  fixture f;
  f.guest.on_execute = [](const guest_call&) { return scripted_execution{{{guest::stream::err, "wait"}}, {}}; };
  f.start(command("sleep", {"1"}));
  CHECK(!f.got);
  CHECK(f.guest.pending(0));
  CHECK_EQ(f.output.err, "wait");
  f.guest.answer(0, f.guest.ended(7));
  f.poll();
  REQUIRE(f.got && *f.got);
  CHECK_EQ((*f.got)->end.exit_code, 7);
  CHECK(!f.guest.pending(0));
}

SCENARIO("a pending call of a scripted guest answers when it is cancelled") {
  fixture f;
  f.guest.on_execute = [](const guest_call&) { return scripted_execution{}; };
  f.start(command("sleep", {"1"}));
  f.stop.emit(boost::asio::cancellation_type::terminal);
  f.poll();
  REQUIRE(f.got && *f.got);
  CHECK_EQ((*f.got)->end.signal, "SIGTERM");
  CHECK(f.guest.calls[0].cancelled);
}
