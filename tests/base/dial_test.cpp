#define CAF_SUITE dial

#include "base/flows/dial.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_server.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sys/socket.h>

using namespace paddock;
using namespace paddock::test;
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

deadline in(std::chrono::milliseconds x) {
  return deadline{std::chrono::steady_clock::now() + x};
}

/// A loopback port on which nobody listens: taken, and not listened on.
struct unlistened {
  asio::io_context on;
  tcp::acceptor holder{on};
  unlistened() {
    holder.open(tcp::v4());
    holder.bind({asio::ip::address_v4::loopback(), 0});
  }
  std::uint16_t port() const {
    return holder.local_endpoint().port();
  }
};

/// A listener that accepts nobody and whose queue is full, so that connecting never ends.
struct full {
  asio::io_context on;
  tcp::acceptor holder{on};
  std::vector<tcp::socket> waiting;
  full() {
    holder.open(tcp::v4());
    holder.bind({asio::ip::address_v4::loopback(), 0});
    holder.listen(0);
    for (auto i = 0; i < 4; ++i) {
      waiting.emplace_back(on);
      waiting.back().open(tcp::v4());
      waiting.back().native_non_blocking(true);
      const auto to = holder.local_endpoint();
      [[maybe_unused]] const auto begun = ::connect(waiting.back().native_handle(), to.data(), static_cast<socklen_t>(to.size()));
    }
  }
  std::uint16_t port() const {
    return holder.local_endpoint().port();
  }
};

} // namespace

SCENARIO("dialling an address and a name gives a connected socket") {
  scripted_server server{{{script::stall()}, {script::stall()}}};
  asio::io_context on;
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    auto got = run_flow(on, dial(host, server.port(), in(std::chrono::seconds{10})));
    REQUIRE(got);
    CHECK_EQ(got->remote_endpoint().port(), server.port());
  }
  CHECK(server.wait_for_closed(2));
}

SCENARIO("a refused connection is of stage connect and names host and port") {
  unlistened nobody;
  asio::io_context on;
  auto got = run_flow(on, dial("127.0.0.1", nobody.port(), in(std::chrono::seconds{10})));
  REQUIRE(!got);
  CHECK_EQ(to_string(got.error().at), "connect");
  CHECK(!got.error().sent);
  CHECK_NE(got.error().text.find("127.0.0.1:" + std::to_string(nobody.port())), std::string::npos);
}

SCENARIO("a connection that is never accepted ends with the deadline") {
  full silent;
  asio::io_context on;
  auto got = run_flow(on, dial("127.0.0.1", silent.port(), in(std::chrono::milliseconds{60})));
  REQUIRE(!got);
  CHECK_EQ(to_string(got.error().at), "timeout");
  CHECK(!got.error().sent);
}

SCENARIO("a deadline that has passed connects nobody") {
  scripted_server server{{{script::stall()}}};
  asio::io_context on;
  auto got = run_flow(on, dial("127.0.0.1", server.port(), in(std::chrono::milliseconds{-1})));
  REQUIRE(!got);
  CHECK_EQ(to_string(got.error().at), "timeout");
  CHECK_EQ(server.connections(), 0u);
}

SCENARIO("a withdrawn dial ends as cancelled") {
  full silent;
  asio::io_context on;
  auto it = start_flow(on, dial("127.0.0.1", silent.port(), in(std::chrono::seconds{60})));
  run_ready(on);
  REQUIRE(!it.done());
  it.cancel();
  run_until(on, [&] { return it.done(); });
  REQUIRE(!it.get());
  CHECK_EQ(to_string(it.get().error().at), "cancelled");
}
